#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/kernel_info.h"
#include "base/result.h"
#include "kir/module_data.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace cupola::metal::build {

struct RaisedKernel {
  KernelInfo info;
  std::string entry;     ///< its name in Metal, a name in MSL too, of which there is one
  llvm::Function* code;  ///< takes nothing; its parameters come from the launch
  /// Why Metal cannot have it: then it has neither code nor entry, and of its info only the name.
  std::optional<Error> refusal = {};
  uint64_t stack_bytes = 0;  ///< behind metal.stack
  uint32_t saved_bytes = 0;  ///< of metal.saved
  bool may_fail = true;      ///< it may come to what ends a launch with a Fault
};

/// kir in the form that both of Metal's printers read: LLVM IR whose pointers have Metal's spaces (spaces.h), without
/// doubles, switches, memory intrinsics, vectors and irreducible loops, with the calls of
/// metal_intrinsics.def. Functions that are not kernels stay functions; nothing recurses.
struct Raised {
  std::unique_ptr<llvm::Module> module;
  std::vector<RaisedKernel> kernels;
  kir::ModuleData data;
};

/// Raises a prepared module (kir::prepare). `library`: lib/cupola/metal.bc, as soften_doubles has it. Kernels that
/// Metal cannot have are refused where it is known which they are; a printer refuses more. Errors: NotSupported and
/// InvalidImage, of the whole module, naming the function, what in it has no form on Metal, and the source line where
/// it is known.
Result<Raised> raise(std::unique_ptr<llvm::Module> module, std::span<const std::byte> library);

/// The first kernel's refusal, for those who want all kernels.
Result<> all_are_made(const Raised& raised);

}  // namespace cupola::metal::build
