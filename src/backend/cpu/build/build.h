#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "image/kernel_image.h"

namespace llvm {
class Module;
}

// The per-thread code generator: a prepared kir module becomes host code that runs one CUDA thread at a time, exactly
// as the kernel is written. It is the reference that every faster rung is compared with. The passes, in order:
//
//   expand_constants       globals appear only as plain operands
//   expand_narrow_floats   half and bfloat round once
//   lower_memory_scopes    device and block scopes become the host's
//   add_context_parameter  every function takes the ThreadContext; calls through pointers go through descriptors
//   lay_out_module_data    variables, literals and descriptors move into module data
//   lower_shared           shared variables become offsets, shared accesses go through the window
//   mark_shared_atomics, lower_shared_atomics   updates of shared memory need not be atomic
//   lower_intrinsics       special registers become context fields, the rest services
//   instrument_polling     loops that may wait for other threads let them run
//   run_whole_blocks       code for a warp goes through all warps of a block
//   make_kernel_entry      one entry a kernel, which unpacks the parameter block
//   clean_up, emit_object, pack_segment

namespace cupola::cpu::build {

struct BuildOptions {
  std::string target;  ///< goes into the image
  /// When set: a path without its ending; NAME.host.ll and NAME.s are written there.
  std::string keep;
};

/// Compiles `module`, which kir::prepare has been through, for the processor this process runs on. Errors name what the
/// module holds that is not supported.
Result<image::KernelImage> build(std::unique_ptr<llvm::Module> module, const BuildOptions& options);

}  // namespace cupola::cpu::build
