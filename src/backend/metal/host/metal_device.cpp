#include "backend/metal/host/metal_device.h"

#include <algorithm>

#include "backend/metal/host/launcher.h"
#include "backend/metal/host/metal_buffer.h"
#include "backend/metal/host/metal_executable.h"
#include "base/settings.h"
#include "hal/host_queue.h"
#include "hal/host_semaphore.h"
#include "hal/reported_memory.h"
#include "image/metal_abi.h"

namespace cupola::metal {
namespace {

/// Which MSL a system's Metal takes ("Metal Feature Set Tables").
struct SystemMsl {
  Integer macos;
  uint32_t msl;
};
constexpr SystemMsl kMslOfSystems[] = {{26, 40}, {15, 32}, {14, 31}, {13, 30}};

// Metal does not say how many cores a GPU has: the least on Apple Silicon.
constexpr uint32_t kCores = 7;
constexpr uint32_t kThreadsPerCore = 1024;

Result<uint32_t> newest_msl(const Metal& metal) {
  const Metal::Pool pool(metal);
  const Id process = metal.process_info(metal.class_named("NSProcessInfo"));
  for (const SystemMsl& system : kMslOfSystems)
    if (metal.is_system_at_least(process, {system.macos, 0, 0})) return system.msl;
  return fail(ErrorCode::NoDevice, "the metal device needs macOS 13 or newer");
}

/// Bytes of addresses for it: more than the memory, so that what is freed leaves room in a row.
uint64_t arena_bytes(const Metal& metal, Id device, uint64_t memory) {
  constexpr uint64_t kRoom = 4, kLeast = uint64_t{16} << 30;
  const uint64_t wanted = std::max(kLeast, memory * kRoom);
  return std::min<uint64_t>(wanted, metal.max_buffer_length(device)) / Arena::kAlignment * Arena::kAlignment;
}

hal::DeviceProperties make_properties(const Metal& metal, Id device, uint32_t msl, uint64_t memory) {
  const Metal::Pool pool(metal);
  hal::DeviceProperties result;
  result.name = formatted("Cupola Metal ({})", metal.text(metal.name(device)));
  result.image_target =
      formatted("{}{}", settings().metal_code == "air" ? image::kMetallibTarget : image::kMslTarget, msl);
  result.memory_bytes = memory;
  result.multiprocessors = kCores;
  result.max_threads_per_multiprocessor = kThreadsPerCore;
  const auto threadgroup = static_cast<uint32_t>(metal.max_threadgroup_memory(device));
  result.shared_bytes_per_block = std::min(image::metal::kMostSharedBytes, threadgroup - image::metal::kWordsBytes);
  result.shared_bytes_per_block_optin = result.shared_bytes_per_block;
  result.shared_multiple = image::metal::kSharedAlignment;
  result.pageable_memory = false;
  return result;
}

class MetalDevice final : public hal::Device {
 public:
  MetalDevice(const Metal& metal, Object device, hal::DeviceProperties properties, uint32_t msl,
              std::unique_ptr<Arena> arena, ArenaPart locks)
      : device_(std::move(device)),
        properties_(std::move(properties)),
        state_{{.memory_bytes = properties_.memory_bytes}},
        arena_(std::move(arena)),
        locks_(std::move(locks)),
        services_{metal, device_.id(), properties_, msl, *arena_, state_, locks_.address(), output_, cache_} {}

  ~MetalDevice() override { state_.await_threads(); }

  using Device::load;
  const hal::DeviceProperties& properties() const override { return properties_; }
  uint64_t memory_in_use() const override { return state_.backed_bytes; }
  uint64_t chunk_bytes() const override { return MetalBuffer::kChunkBytes; }

  Result<std::unique_ptr<hal::Buffer>> reserve(uint64_t size) override {
    return MetalBuffer::reserve(state_, *arena_, size);
  }

  std::shared_ptr<hal::Domain> create_domain() override { return std::make_shared<hal::HostDomain>(state_); }

  Result<std::unique_ptr<hal::Queue>> create_queue(int /*priority: all queues are equal*/,
                                                   std::shared_ptr<hal::Domain> domain) override {
    TRY(std::unique_ptr<Launcher> launcher, Launcher::make(services_));
    return std::make_unique<hal::HostQueue>(
        domain ? std::static_pointer_cast<hal::HostDomain>(std::move(domain)) : own_, std::move(launcher));
  }

  std::shared_ptr<hal::Semaphore> create_semaphore(uint64_t initial) override {
    return std::make_shared<hal::HostSemaphore>(own_, initial);
  }

  Result<std::shared_ptr<hal::Executable>> load(std::span<const std::byte> image, hal::CodeSource) override {
    return MetalExecutable::load(services_, image);
  }

  uint32_t occupancy(const hal::Executable& executable, uint32_t kernel, uint32_t block_threads,
                     uint32_t dynamic_shared_bytes) const override {
    const hal::KernelInfo& info = executable.kernels()[kernel];
    if (block_threads == 0 || block_threads > std::min(info.max_threads_per_block, properties_.max_threads_per_block))
      return 0;
    if (dynamic_shared_bytes > properties_.dynamic_shared_beside(info, properties_.shared_bytes_per_block_optin))
      return 0;
    const uint32_t warps = (block_threads + properties_.warp_size - 1) / properties_.warp_size;
    return std::min(properties_.max_blocks_per_multiprocessor, kThreadsPerCore / (warps * properties_.warp_size));
  }

  std::optional<Error> fault() const override { return own_->fault(); }
  void clear_fault() override { own_->clear_fault(); }
  void flush_output() override { output_.flush(); }

 private:
  const Object device_;
  const hal::DeviceProperties properties_;
  MetalState state_;
  const std::unique_ptr<Arena> arena_;
  const ArenaPart locks_;
  hal::DeviceOutput output_;
  image::DiskCache cache_{image::cache_folder(settings()), image::cache_limits(settings())};
  const MetalServices services_;
  const std::shared_ptr<hal::HostDomain> own_ = std::make_shared<hal::HostDomain>(state_);
};

}  // namespace

Result<std::unique_ptr<hal::Device>> make_metal_device() {
  TRY(const Metal* const metal, Metal::open());
  const Metal::Pool pool(*metal);
  Object device(*metal, metal->create_device());
  if (!device) return fail(ErrorCode::NoDevice, "the metal device needs a GPU that Metal knows; there is none");
  if (!metal->has_unified_memory(device.id()))
    return fail(ErrorCode::NoDevice, "the metal device needs memory that host and GPU share, as Apple Silicon has");
  TRY(const uint32_t msl, newest_msl(*metal));
  const uint64_t wanted = hal::reported_memory(metal->recommended_memory(device.id()));
  TRY(std::unique_ptr<Arena> arena, Arena::make(*metal, device.id(), arena_bytes(*metal, device.id(), wanted)));
  hal::DeviceProperties properties = make_properties(*metal, device.id(), msl, std::min(wanted, arena->size()));
  TRY(ArenaPart locks, arena->take(image::metal::kLocks * sizeof(uint32_t), sizeof(uint32_t)));
  return std::make_unique<MetalDevice>(*metal, std::move(device), std::move(properties), msl, std::move(arena),
                                       std::move(locks));
}

}  // namespace cupola::metal
