#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/SimplifyCFGOptions.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

// The passes of prepare, in its order. Each is one file and its test.

namespace cupola::kir {

/// Lets quotients and roots of f32 be approximate where functions say so (say_estimates).
void allow_estimates(llvm::Module& module);

/// Turns arithmetic and conversions with directed rounding (llvm.nvvm.add.rz.f) into calls of the device library.
void call_rounding(llvm::Module& module);

/// Turns LLVM's intrinsics for elementary functions (llvm.sin), and PTX's approximations (llvm.nvvm.ex2.approx), into
/// calls of the device library.
void call_math(llvm::Module& module);

/// What marks functions of the device library that compute with denormals whatever their caller does: of a caller that
/// flushes, arguments and results are flushed. In the library a section, in modules an attribute.
inline constexpr char kElementarySection[] = "elementary", kElementary[] = "cupola-elementary";

/// Links what the module needs of the device library, which is not read where that is nothing; the module's own symbols
/// win. Error: InvalidImage, when the library is not bitcode.
Result<> link_device_library(llvm::Module& module, std::span<const std::byte> bitcode);

/// Makes everything but kernels and variables internal and removes what no kernel and no variable reaches, so that
/// nothing unused is refused later. `relocatable`: functions that other modules may call stay as they are.
void internalize(llvm::Module& module, bool relocatable = false);

/// Removes functions and internal variables that nothing reaches.
void remove_unreached(llvm::Module& module);

/// Folds __nvvm_reflect: __CUDA_FTZ, __CUDA_PREC_SQRT, __CUDA_PREC_DIV, __CUDA_ARCH (10 * architecture); 0 for other
/// names. Removes the branches that are thereby never taken.
void fold_reflect(llvm::Module& module, uint32_t architecture);

/// Gives every shift, division and float-to-integer conversion a meaning for all operands (define_guards.cpp says
/// which), and drops flags, attributes and metadata by which LLVM would take liberties that CUDA programs do not grant.
void define_guards(llvm::Module& module);

/// Reduces llvm.nvvm.*, traps and the C functions vprintf, malloc, free, __assertfail to the rows of intrinsics.def and
/// plain instructions. Error: NotSupported, with the intrinsic's name.
Result<> expand_nvvm(llvm::Module& module);

/// Replaces LLVM's own intrinsics that core_intrinsics.def leaves out and that plain instructions or nothing can stand
/// for: saturating and rounding conversions, annotations, expectations.
void reduce_core(llvm::Module& module);

/// Variables to registers and small functions into their callers; nothing that depends on float semantics.
void simplify_early(llvm::Module& module);

/// Fuses multiply and add where both allow it, then drops all fast-math flags and the fences that bound them.
void contract(llvm::Module& module);

/// Calls the device library's short forms of elementary functions, which are a GPU's approximate instructions, in place
/// of libdevice's functions; for PTX, before the device library is linked.
void take_approximations(llvm::Module& module);

/// Gives functions that flush f32 denormals their flushes. `by_processor`: kernels that reach nothing but such
/// arithmetic are marked, for flushes_denormals; the flushes of others are written out. True: functions that flush as a
/// whole are called, which can become part of their callers from now on.
bool flush_denormals(llvm::Module& module, bool by_processor);

/// Says in LLVM's words (denormal-fp-math-f32) which functions the processor flushes: what tests a denormal's bits must
/// not become a comparison that sees a zero. Behind the inlining of functions that flush as a whole, which say nothing.
void say_what_flushes(llvm::Module& module);

/// The general optimisation: a fixed list without jump threading and vectorisers, which unrolls what local arrays need.
void simplify(llvm::Module& module);
/// How its parts simplify control flow.
llvm::SimplifyCFGOptions simple_cfg();

/// LLVM's verifier, and the closed set. Errors: InvalidImage, NotSupported.
Result<> verify(const llvm::Module& module);

}  // namespace cupola::kir
