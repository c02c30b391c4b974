#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "image/kernel_image.h"

namespace llvm {
class Module;
}

namespace cupola::cpu::build {

class CallReach;

/// Variables, constants, literals and function descriptors of a module, as they lie in module data.
struct ModuleData {
  /// The word at `offset` holds the address of the function `symbol` of the object file.
  struct FunctionAddress {
    uint64_t offset;
    std::string symbol;
  };
  std::vector<image::DataSymbol> symbols;
  std::vector<std::byte> bytes;
  uint64_t alignment = 64;
  uint64_t constant_bytes = 0;                     ///< __constant__ variables lie in the first so many bytes
  std::vector<image::DataRelocation> relocations;  ///< of kind DataAddress
  std::vector<FunctionAddress> function_addresses;
};

/// Gives every variable in address spaces 0, 1 and 4, and the descriptor of every function whose address is taken, a
/// place in module data; replaces their uses in functions by the context's module_data plus the offset; removes the
/// variables. Symbols are the variables that a program can name: not internal, or in llvm.used or llvm.compiler.used.
/// Errors: NotSupported, with the variable's name, for one that is declared, used and nowhere defined, or has an odd
/// initial value.
Result<ModuleData> lay_out_module_data(llvm::Module& module, const CallReach& reach);

}  // namespace cupola::cpu::build
