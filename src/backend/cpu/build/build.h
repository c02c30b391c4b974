#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "backend/cpu/build/kernel_unit.h"
#include "base/result.h"
#include "image/block_class.h"
#include "image/kernel_image.h"

namespace llvm {
class Module;
}

// The code generator of the cpu device: a prepared kir module becomes host code. The code that runs one CUDA thread at
// a time, exactly as the kernel is written, is the reference that every faster rung is compared with. The passes, in
// order:
//
//   expand_constants       globals appear only as plain operands
//   expand_narrow_float_atomics
//   expand_narrow_floats   half and bfloat round once
//   lower_memory_scopes    device and block scopes become the host's
//   add_context_parameter  every function takes the ThreadContext; calls through pointers go through descriptors
//   lay_out_module_data    variables, literals and descriptors move into module data
//   lower_shared           shared variables become offsets, shared accesses go through the window
//   mark_shared_atomics    updates of shared memory need not be atomic
//   write_unit             what a kernel's code is made of, where it is left for later
// and of the module or of a unit (generate_code):
//   vectorise              code for a warp
//   lower_intrinsics       special registers become context fields, the rest services
//   instrument_polling     loops that may wait for other threads let them run
//   lower_shared_atomics
//   run_whole_blocks       code for a warp goes through all warps of a block; gather_updates
//   expand_float_sums      atomic sums of f32 flush denormals, but in shared memory
//   lower_address_questions
//   make_kernel_entry      an entry each, which unpacks the parameter block
//   clean_up, emit_object, pack_segment

namespace cupola::cpu::build {

struct BuildOptions {
  std::string target;  ///< goes into the image
  /// When set: a path without its ending; NAME.host.ll and NAME.s are written there.
  std::string keep;
  /// When set: how the code runs a kernel and why, for people, is added to it; of a unit only.
  std::string* report = nullptr;
  /// The image holds each kernel's unit in place of its code; functions that are called through pointers have theirs.
  bool later = false;
  /// When set: once it is true nobody wants the answer any more, and an error will do (Deinitialized); of a unit only.
  const std::atomic<bool>* given_up = nullptr;
};

/// Compiles `module`, which kir::prepare has been through, for the processor this process runs on. Errors name what the
/// module holds that is not supported.
Result<image::KernelImage> build(std::unique_ptr<llvm::Module> module, const BuildOptions& options);

/// The image of one kernel alone, without data: its code for such blocks, made of the unit that build() left in the
/// image of its module. Errors: as build's.
Result<image::KernelImage> build_unit(KernelUnit unit, const image::BlocksOfCode& blocks, const BuildOptions& options);

}  // namespace cupola::cpu::build
