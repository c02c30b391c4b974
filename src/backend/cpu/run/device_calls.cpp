#include "backend/cpu/run/device_calls.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "backend/cpu/run/block.h"
#include "backend/cpu/run/cpu_domain.h"
#include "backend/cpu/run/device_queues.h"

namespace cupola::cpu {
namespace {

using image::DeviceCall;
using image::DeviceError;

/// "CUDA C++ Programming Guide, CUDA Dynamic Parallelism": the most levels of launches below the host's.
constexpr uint32_t kMostDepth = 24;

bool fits(const unsigned (&wanted)[3], const hal::Dim3& most) {
  const auto within = [](unsigned value, uint32_t limit) { return value >= 1 && value <= limit; };
  return within(wanted[0], most.x) && within(wanted[1], most.y) && within(wanted[2], most.z);
}

/// The device has room for such a grid, and the kernel's launch bounds allow it.
bool is_possible(const image::DeviceShape& shape, const hal::KernelInfo& kernel, const hal::DeviceProperties& device) {
  if (!fits(shape.grid, device.max_grid) || !fits(shape.block, device.max_block)) return false;
  const hal::Dim3 block{shape.block[0], shape.block[1], shape.block[2]};
  if (block.count() > std::min(device.max_threads_per_block, kernel.max_threads_per_block)) return false;
  if (kernel.required_block.count() != 0 && block != kernel.required_block) return false;
  return shape.dynamic_shared_bytes <= device.dynamic_shared_beside(kernel, device.shared_bytes_per_block_optin);
}

const CpuExecutable& executable_of(const Block& block) {
  return static_cast<const CpuExecutable&>(*block.grid().launch().executable);
}

DeviceError launch(Block& block, const image::DeviceLaunch& asked) {
  // The worker's own: a bad pointer ends the fibre, and what it owned would be lost.
  static thread_local std::vector<std::byte> parameters;
  const std::optional<uint32_t> kernel = executable_of(block).kernel_at(asked.kernel);
  if (!kernel) return DeviceError::InvalidKernel;
  const hal::KernelInfo& info = executable_of(block).kernels()[*kernel];
  DeviceQueues& queues = block.grid().device_queues();
  const image::DeviceShape& shape = asked.shape;
  if (!is_possible(shape, info, queues.services().device.properties())) return DeviceError::InvalidConfiguration;
  if (queues.depth() > kMostDepth) return DeviceError::LaunchTooDeep;
  if (info.parameter_bytes && !asked.parameters) return DeviceError::InvalidValue;
  parameters.resize(info.parameter_bytes);
  if (info.parameter_bytes) std::memcpy(parameters.data(), asked.parameters, info.parameter_bytes);

  hal::Launch made{block.grid().launch().executable,
                   *kernel,
                   {shape.grid[0], shape.grid[1], shape.grid[2]},
                   {shape.block[0], shape.block[1], shape.block[2]},
                   shape.dynamic_shared_bytes,
                   false,
                   hal::ParameterBlock(parameters)};
  LaunchSlots& slots = block.grid().domain().launch_slots;
  if (!slots.take()) return DeviceError::TooManyLaunches;
  try {
    const DeviceError error = queues.launch(std::move(made), asked.stream, block.stream());
    if (error != DeviceError::None) slots.give_back();
    return error;
  } catch (...) {
    slots.give_back();
    throw;
  }
}

DeviceError copy(Block& block, const image::DeviceCopy& asked) {
  if (!asked.width || !asked.height || !asked.depth) return DeviceError::None;
  return block.grid().device_queues().transfer(hal::Copy{.destination = asked.destination,
                                                         .source = asked.source,
                                                         .width = asked.width,
                                                         .height = asked.height,
                                                         .depth = asked.depth,
                                                         .destination_pitch = asked.destination_pitch,
                                                         .source_pitch = asked.source_pitch,
                                                         .destination_slice = asked.destination_slice,
                                                         .source_slice = asked.source_slice},
                                               asked.stream, block.stream());
}

DeviceError fill(Block& block, const image::DeviceFill& asked) {
  if (!asked.width || !asked.height) return DeviceError::None;
  return block.grid().device_queues().transfer(hal::Fill{.destination = asked.destination,
                                                         .value = asked.value,
                                                         .width = asked.width,
                                                         .height = asked.height,
                                                         .pitch = asked.pitch},
                                               asked.stream, block.stream());
}

DeviceError kernel_facts(Block& block, image::DeviceKernelFacts& facts) {
  const std::optional<uint32_t> kernel = executable_of(block).kernel_at(facts.kernel);
  if (!kernel) return DeviceError::InvalidKernel;
  const hal::KernelInfo& info = executable_of(block).kernels()[*kernel];
  facts.parameter_bytes = info.parameter_bytes;
  facts.static_shared_bytes = info.static_shared_bytes;
  facts.local_bytes = info.local_bytes;
  facts.registers = info.registers;
  facts.max_threads_per_block = info.max_threads_per_block;
  facts.resident_blocks = block.grid().device_queues().services().device.occupancy(
      executable_of(block), *kernel, facts.block_threads, facts.dynamic_shared_bytes);
  return DeviceError::None;
}

DeviceError dispatch(Block& block, DeviceCall kind, void* operands) {
  const auto queues = [&]() -> DeviceQueues& { return block.grid().device_queues(); };
  auto& object = *static_cast<image::DeviceHandle*>(operands);
  const auto& event = *static_cast<const image::DeviceEventUse*>(operands);
  switch (kind) {
    case DeviceCall::Launch:
      return launch(block, *static_cast<const image::DeviceLaunch*>(operands));
    case DeviceCall::Copy:
      return copy(block, *static_cast<const image::DeviceCopy*>(operands));
    case DeviceCall::Fill:
      return fill(block, *static_cast<const image::DeviceFill*>(operands));
    case DeviceCall::CreateStream:
      object.handle = queues().create_stream();
      return DeviceError::None;
    case DeviceCall::DestroyStream:
      return queues().destroy_stream(object.handle);
    case DeviceCall::CreateEvent:
      object.handle = queues().create_event();
      return DeviceError::None;
    case DeviceCall::DestroyEvent:
      return queues().destroy_event(object.handle);
    case DeviceCall::RecordEvent:
      return queues().record(event.event, event.stream, block.stream());
    case DeviceCall::WaitForEvent:
      return queues().wait(event.event, event.stream, block.stream());
    case DeviceCall::KernelFacts:
      return kernel_facts(block, *static_cast<image::DeviceKernelFacts*>(operands));
  }
  return DeviceError::InvalidValue;
}

}  // namespace

/// No exception goes through a kernel's code.
image::DeviceError answer(Block& block, DeviceCall kind, void* operands) {
  try {
    return dispatch(block, kind, operands);
  } catch (const std::bad_alloc&) {
    return DeviceError::OutOfMemory;
  }
}

}  // namespace cupola::cpu
