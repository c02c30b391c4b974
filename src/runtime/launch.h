#pragma once

#include <memory>

#include "hal/parameter_block.h"
#include "runtime/function.h"
#include "runtime/launch_attributes.h"
#include "runtime/stream.h"

namespace cupola::runtime {

struct LaunchShape {
  hal::Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;
};

/// Errors ("CUDA Driver API, cuLaunchKernel"): InvalidValue for a shape the device or kernel cannot have;
/// CooperativeLaunchTooLarge.
Result<> check_launch(const Function& function, const LaunchShape& shape);

/// check_launch, and the code for it is compiled if it is not there yet. Errors: of both.
Result<> prepare_launch(const Function& function, const LaunchShape& shape);

/// Appends the kernel to the stream. `parameters` is the whole parameter block; `attributes` are kept when it is
/// captured. Errors: those of prepare_launch; InvalidHandle for a function of another context; the context's fault.
Result<> launch(Stream& stream, const std::shared_ptr<Function>& function, const LaunchShape& shape,
                hal::ParameterBlock parameters, LaunchAttributes attributes = {});

/// The parameter block from one pointer a parameter, as kernelParams gives them. Error: InvalidValue when one is
/// missing.
Result<hal::ParameterBlock> gather_parameters(const Function& function, void* const* parameters);

/// Dynamic shared memory that a launch of the function may have, in bytes.
uint32_t most_dynamic_shared(const Function& function);

/// Blocks of this shape that one multiprocessor holds at once.
uint32_t active_blocks(const Function& function, uint32_t block_threads, uint32_t dynamic_shared_bytes);

}  // namespace cupola::runtime
