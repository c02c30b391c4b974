#pragma once

#include <llvm/IR/Module.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/kernel_info.h"
#include "base/result.h"
#include "kir/intrinsics.h"

// kir: LLVM IR in clang's nvptx64 dialect, the waist that all kernel code passes. docs/design.md, "What kernel code
// means".

namespace cupola::kir {

inline constexpr char kTriple[] = "nvptx64-nvidia-cuda";
inline constexpr char kDataLayout[] = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64";

/// True for what begins as bitcode does; other code is text.
bool is_bitcode(std::string_view code);

/// Parses bitcode or textual IR. Errors: InvalidImage with LLVM's words. Never ends the process: the context's
/// diagnostic handler is replaced by one that collects, and what it collected is in the message.
Result<std::unique_ptr<llvm::Module>> read(llvm::LLVMContext& context, std::span<const std::byte> bitcode);

/// The module as bitcode.
std::vector<std::byte> write(const llvm::Module& module);

/// Moves all of `part` into `whole`: what one declares, the other may define; weak definitions give way. Error:
/// InvalidImage with LLVM's words, where both define a symbol.
Result<> link(llvm::Module& whole, std::unique_ptr<llvm::Module> part);

/// As link, of a library: only what `whole` uses and does not define, as functions of its own that nobody else sees.
Result<> link_needed(llvm::Module& whole, std::unique_ptr<llvm::Module> library);

/// What the cpu and metal devices report: 10 * the compute capability.
inline constexpr uint32_t kDefaultArchitecture = 89;

struct PrepareOptions {
  std::span<const std::byte> device_library;     ///< bitcode of src/device, linked as far as it is used; may be empty
  uint32_t architecture = kDefaultArchitecture;  ///< what code that asks for it (__nvvm_reflect) is told
  /// The back-end can let the processor flush denormals, of f32 and f64 alike: flushes_denormals says in which kernels.
  bool processor_flushes = false;
  /// ptx::expand_inline_ptx, which is above this folder. Without it inline PTX is refused.
  Result<> (*expand_inline_ptx)(llvm::Module& module) = nullptr;
};

/// Defines what CUDA defines and LLVM does not, expands all that is NVVM's and simplifies. Afterwards the module holds:
/// core instructions, the intrinsics of core_intrinsics.def and intrinsics.def, direct calls of functions of
/// library_calls.def (declarations), `fence`s and atomics with syncscopes "", "device", "block" and "singlethread", the
/// address spaces of address_space.h. Fast-math flags are gone but for may_approximate: a back-end must not fuse or
/// reorder. Errors:
/// NotSupported or InvalidImage, naming the function, what it holds that is not supported and the source line where the
/// module knows it.
Result<> prepare(llvm::Module& module, const PrepareOptions& options);

/// True only if nothing that the module calls or refers to is undefined, but for what prepare knows and the device
/// library has. Far cheaper than prepare, which may find more modules whole: what is never reached may be undefined.
bool is_closed(const llvm::Module& module, std::span<const std::byte> device_library);

/// The module's kernels (calling convention ptx_kernel, or marked in !nvvm.annotations), in its order.
std::vector<llvm::Function*> kernels(llvm::Module& module);
bool is_kernel(const llvm::Function& function);

/// __launch_bounds__ and its kin; zeros where nothing is said.
struct LaunchBounds {
  Dim3 max_block{0, 0, 0};       ///< maxntid; its product bounds the threads of a block
  Dim3 required_block{0, 0, 0};  ///< reqntid
  uint32_t min_blocks = 0;       ///< minctasm
};
LaunchBounds launch_bounds(const llvm::Function& kernel);

/// A function says in LLVM's words (denormal-fp-math-f32) that its f32 arithmetic flushes denormals.
void say_flushing(llvm::Function& function);
bool says_flushing(const llvm::Function& function);

/// A function says in LLVM's words (reciprocal-estimates) that its quotients or roots of f32 may be approximate;
/// prepare and to_nvptx then let them.
void say_estimates(llvm::Function& function, bool quotients, bool roots);

/// True for a kernel that wants the processor to flush denormals, in all that it calls too. Other kernels' flushes are
/// written out, and the back-end need not act.
bool flushes_denormals(const llvm::Function& kernel);

/// A quotient or a square root of f32 that may be wrong by 2 units in the last place: CUDA's approximate ones, and
/// those of programs that ask for fast mathematics. kir says so by LLVM's flag afn.
bool may_approximate(const llvm::Instruction& instruction);

/// Lets a quotient or a root of f32 be wrong so; other values stay as they are. Returns the value.
llvm::Value* let_approximate(llvm::Value* value);

/// The module as text, for `keep` folders and messages.
std::string print(const llvm::Module& module);

}  // namespace cupola::kir
