#include "runtime/launch.h"

#include <cstring>

#include "base/log.h"
#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/device.h"

namespace cupola::runtime {
namespace {

Result<> check_extent(const char* what, char axis, uint32_t value, uint32_t most) {
  if (value >= 1 && value <= most) return {};
  return fail(ErrorCode::InvalidValue, "{}.{} is {}; it may be 1 to {}", what, axis, value, most);
}

constexpr bool is_within(const hal::Dim3& value, const hal::Dim3& most) {
  return value.x - 1 < most.x && value.y - 1 < most.y && value.z - 1 < most.z;  // 0 - 1 is the largest number
}

Result<> check_extents(const char* what, const hal::Dim3& value, const hal::Dim3& most) {
  if (is_within(value, most)) [[likely]]
    return {};
  TRY(check_extent(what, 'x', value.x, most.x));
  TRY(check_extent(what, 'y', value.y, most.y));
  return check_extent(what, 'z', value.z, most.z);
}

Result<> check_block(const hal::KernelInfo& kernel, const hal::Dim3& block, const hal::DeviceProperties& device) {
  TRY(check_extents("block", block, device.max_block));
  if (block.count() > device.max_threads_per_block)
    return fail(ErrorCode::InvalidValue, "a block of {} threads was asked for; the device's limit is {}", block.count(),
                device.max_threads_per_block);
  if (block.count() > kernel.max_threads_per_block)
    return fail(ErrorCode::InvalidValue,  // as an H200 (driver 580)
                "a block of {} threads was asked for; the launch bounds of {} allow {}", block.count(), kernel.name,
                kernel.max_threads_per_block);
  if (kernel.required_block.count() != 0 && block != kernel.required_block)
    return fail(ErrorCode::InvalidValue, "{} requires blocks of {} x {} x {} threads", kernel.name,
                kernel.required_block.x, kernel.required_block.y, kernel.required_block.z);
  return {};
}

}  // namespace

Result<> check_launch(const Function& function, const LaunchShape& shape) {
  const hal::DeviceProperties& device = function.context().device().properties();
  const hal::KernelInfo& kernel = function.info();
  TRY(check_extents("grid", shape.grid, device.max_grid));
  TRY(check_block(kernel, shape.block, device));
  if (const uint32_t most = most_dynamic_shared(function); shape.dynamic_shared_bytes > most)
    return fail(
        ErrorCode::InvalidValue,
        "{} bytes of dynamic shared memory were asked for; {} may have {}: raise its maximum dynamic shared memory "
        "attribute",
        shape.dynamic_shared_bytes, kernel.name, most);
  if (!shape.cooperative) return {};
  const uint64_t resident =
      uint64_t{device.multiprocessors} *
      active_blocks(function, static_cast<uint32_t>(shape.block.count()), shape.dynamic_shared_bytes);
  if (shape.grid.count() > resident)
    return fail(ErrorCode::CooperativeLaunchTooLarge,
                "a cooperative grid of {} blocks was asked for; the device holds {}", shape.grid.count(), resident);
  return {};
}

Result<> prepare_launch(const Function& function, const LaunchShape& shape) {
  TRY(check_launch(function, shape));
  return function.executable()->prepare(function.index(), shape.block);
}

Result<> launch(Stream& stream, const std::shared_ptr<Function>& kernel, const LaunchShape& shape,
                hal::ParameterBlock parameters, LaunchAttributes attributes) {
  const Function& function = *kernel;
  if (&stream.context() != &function.context())
    return fail(ErrorCode::InvalidHandle, "{} is loaded in another context than the stream's", function.info().name);
  TRY(check_launch(function, shape));
  TRY(stream.context().check());
  if (const std::shared_ptr<Capture> capture = stream.capture()) {
    TRY(capture->add(stream, KernelWork{kernel, shape, std::move(parameters), std::move(attributes)}));
    return {};
  }
  TRY(function.executable()->prepare(function.index(), shape.block));
  log::line(log::Topic::Launch, "{} grid {}x{}x{} block {}x{}x{} shared {}", function.info().name, shape.grid.x,
            shape.grid.y, shape.grid.z, shape.block.x, shape.block.y, shape.block.z, shape.dynamic_shared_bytes);
  stream.post(hal::Command(std::in_place_type<hal::Launch>, function.executable(), function.index(), shape.grid,
                           shape.block, shape.dynamic_shared_bytes, shape.cooperative, std::move(parameters)));
  return {};
}

Result<hal::ParameterBlock> gather_parameters(const Function& function, void* const* parameters) {
  const hal::KernelInfo& kernel = function.info();
  hal::ParameterBlock block(kernel.parameter_bytes);
  if (!kernel.parameters.empty() && !parameters)
    return fail(ErrorCode::InvalidValue, "{} takes {} parameters; none were given", kernel.name,
                kernel.parameters.size());
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (!parameters[i]) return fail(ErrorCode::InvalidValue, "parameter {} of {} is null", i, kernel.name);
    std::memcpy(block.data() + kernel.parameters[i].offset, parameters[i], kernel.parameters[i].size);
  }
  return block;
}

uint32_t most_dynamic_shared(const Function& function) {
  if (const int asked = function.max_dynamic_shared.load(); asked >= 0) return static_cast<uint32_t>(asked);
  const hal::DeviceProperties& device = function.context().device().properties();
  return device.dynamic_shared_beside(function.info(), device.shared_bytes_per_block);
}

uint32_t active_blocks(const Function& function, uint32_t block_threads, uint32_t dynamic_shared_bytes) {
  return function.context().device().hal().occupancy(*function.executable(), function.index(), block_threads,
                                                     dynamic_shared_bytes);
}

}  // namespace cupola::runtime
