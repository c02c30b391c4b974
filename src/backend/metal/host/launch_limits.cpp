#include "backend/metal/host/launch_limits.h"

#include "base/demangled.h"
#include "image/metal_abi.h"

namespace cupola::metal {
namespace {

constexpr uint64_t kMostThreadsAcross = uint64_t{1}
                                        << 32;  ///< in each dimension of a grid, for Metal counts in 32 bits

const hal::KernelInfo& info_of(const hal::Launch& launch) {
  return launch.executable->kernels()[launch.kernel];
}

Result<> check_extent(const std::string& kernel, char axis, uint32_t blocks, uint32_t threads) {
  if (blocks == 0 || threads == 0)
    return fail(ErrorCode::InvalidValue, "kernel {}: {} blocks of {} threads in {}", demangled(kernel), blocks, threads,
                axis);
  if (uint64_t{blocks} * threads < kMostThreadsAcross) return {};
  return fail(ErrorCode::LaunchOutOfResources, "kernel {}: {} blocks of {} threads in {} are more than 2^32 threads",
              demangled(kernel), blocks, threads, axis);
}

}  // namespace

uint64_t dynamic_shared_at(uint64_t static_bytes) {
  constexpr uint64_t kAlignment = image::metal::kSharedAlignment;
  return (static_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

uint64_t shared_bytes_of(const hal::Launch& launch) {
  const uint64_t begin = dynamic_shared_at(info_of(launch).static_shared_bytes);
  return dynamic_shared_at(begin + launch.dynamic_shared_bytes);  // threadgroup memory comes in the same multiples
}

Result<> check_limits(const hal::Launch& launch, const hal::DeviceProperties& properties) {
  const hal::KernelInfo& info = info_of(launch);
  TRY(check_extent(info.name, 'x', launch.grid.x, launch.block.x));
  TRY(check_extent(info.name, 'y', launch.grid.y, launch.block.y));
  TRY(check_extent(info.name, 'z', launch.grid.z, launch.block.z));
  if (launch.block.count() > properties.max_threads_per_block)
    return fail(ErrorCode::InvalidValue, "kernel {}: a block of {} threads; Metal's limit is {}", demangled(info.name),
                launch.block.count(), properties.max_threads_per_block);
  if (const uint32_t most = properties.shared_bytes_per_block_optin;
      launch.dynamic_shared_bytes > properties.dynamic_shared_beside(info, most))
    return fail(ErrorCode::LaunchOutOfResources, "kernel {}: {} bytes of shared memory; the most on Metal is {}",
                demangled(info.name), shared_bytes_of(launch), most);
  if (launch.parameters.size() < info.parameter_bytes)
    return fail(ErrorCode::InvalidValue, "kernel {}: {} bytes of parameters; it takes {}", demangled(info.name),
                launch.parameters.size(), info.parameter_bytes);
  return {};
}

}  // namespace cupola::metal
