#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "image/kernel_image.h"

namespace llvm {
class Function;
class Instruction;
class Module;
}  // namespace llvm

namespace cupola::kir {

class CallReach;

/// Variables, constants, literals and function descriptors of a module, as they lie in module data.
struct ModuleData {
  /// The descriptor of the function of this name lies at `offset`; the back-end fills it in.
  struct FunctionDescriptor {
    uint64_t offset;
    std::string function;
  };
  std::vector<image::DataSymbol> symbols;
  std::vector<std::byte> bytes;
  uint64_t alignment = 64;
  uint64_t constant_bytes = 0;                     ///< __constant__ variables lie in the first so many bytes
  std::vector<image::DataRelocation> relocations;  ///< of kind DataAddress
  std::vector<FunctionDescriptor> descriptors;
};

/// How a back-end reaches module data.
struct ModuleDataAccess {
  uint64_t descriptor_bytes = 0, descriptor_alignment = 1;  ///< of what a pointer to a function points at
  /// An instruction at the function's entry, the generic pointer to module data. Asked once a function.
  std::function<llvm::Instruction*(llvm::Function&)> base;
};

/// Gives every variable in address spaces 0, 1 and 4, and the descriptor of every function whose address is taken, a
/// place in module data; replaces their uses in functions by the base plus the offset; removes the variables. Symbols
/// are the variables that a program can name: not internal, or in llvm.used or llvm.compiler.used. Errors:
/// NotSupported, with the variable's name, for one that is declared, used and nowhere defined, or has an odd initial
/// value.
Result<ModuleData> lay_out_module_data(llvm::Module& module, const CallReach& reach, const ModuleDataAccess& access);

}  // namespace cupola::kir
