#include "backend/cpu/run/cpu_device.h"

#include <algorithm>
#include <thread>

#include "backend/cpu/run/background.h"
#include "backend/cpu/run/cpu_buffer.h"
#include "backend/cpu/run/cpu_queue.h"
#include "backend/cpu/run/cpu_semaphore.h"
#include "backend/cpu/run/image_executable.h"
#include "backend/cpu/run/machine.h"
#include "backend/cpu/run/worker.h"
#include "backend/cpu/run/worker_pool.h"
#include "base/settings.h"
#include "hal/reported_memory.h"

namespace cupola::cpu {
namespace {

uint32_t worker_count() {
  if (settings().workers > 0) return static_cast<uint32_t>(settings().workers);
  return std::max(1u, std::thread::hardware_concurrency());
}

static_assert(hal::DeviceProperties().shared_bytes_per_block_optin <= image::cpu::kSharedOfLaunch);

hal::DeviceProperties make_properties() {
  hal::DeviceProperties result;
  const uint32_t workers = worker_count();
  result.name = formatted("Cupola CPU ({}, {} core{})", processor_name(), workers, workers == 1 ? "" : "s");
  result.image_target = formatted("cpu:{}:{}", instruction_set(), processor_to_compile_for(settings().processor));
  result.memory_bytes = hal::reported_memory(memory_bytes() / 4 * 3);
  result.multiprocessors = workers;
  result.clock_khz = clock_khz();
  return result;
}

/// Blocks of so many threads that a multiprocessor, which is a worker, keeps at once.
uint32_t resident_blocks(uint32_t block_threads) {
  static const hal::DeviceProperties limits;  // made once: each launch asks
  const uint32_t warps = (std::max(1u, block_threads) + limits.warp_size - 1) / limits.warp_size;
  return std::min(limits.max_blocks_per_multiprocessor,
                  limits.max_threads_per_multiprocessor / (warps * limits.warp_size));
}

class CpuDevice final : public hal::Device {
 public:
  CpuDevice()
      : properties_(make_properties()),
        memory_(properties_.memory_bytes),
        pool_(properties_.multiprocessors, environment_) {}
  ~CpuDevice() override {
    busy_.wait_until_none();
    Background::wait_until_idle();  // of its executables, whose source of code may end with the device
  }

  const hal::DeviceProperties& properties() const override { return properties_; }
  uint64_t memory_in_use() const override { return memory_.used(); }
  uint64_t chunk_bytes() const override { return CpuBuffer::kChunk; }

  Result<std::unique_ptr<hal::Buffer>> reserve(uint64_t size) override {
    TRY(std::unique_ptr<hal::Buffer> buffer, CpuBuffer::reserve(size, memory_));
    return buffer;
  }

  Result<std::shared_ptr<hal::Memory>> create_memory(uint64_t size, bool exportable) override {
    if (!memory_.take(size))
      return fail(ErrorCode::OutOfMemory, "{} bytes of memory were asked for; {} of the device's {} are in use", size,
                  memory_.used(), memory_.limit());
    auto made = hal::MappedMemory::create(size, exportable, [this, size] { memory_.give_back(size); });
    if (!made) {
      memory_.give_back(size);
      return fail(made.error());
    }
    return *made;
  }

  Result<std::shared_ptr<hal::Memory>> import_memory(int descriptor) override {
    TRY(std::shared_ptr<hal::Memory> memory, hal::MappedMemory::import(descriptor));
    return memory;
  }

  std::shared_ptr<hal::Domain> create_domain() override { return make_domain(); }

  Result<std::unique_ptr<hal::Queue>> create_queue(int, std::shared_ptr<hal::Domain> domain) override {
    const QueueServices services{pool_, busy_, *this, &resident_blocks};
    return std::make_unique<CpuQueue>(services, domain ? std::static_pointer_cast<CpuDomain>(std::move(domain)) : own_);
  }

  std::shared_ptr<hal::Semaphore> create_semaphore(uint64_t initial) override {
    return std::make_shared<CpuSemaphore>(initial, own_);
  }

  Result<std::shared_ptr<hal::Executable>> load(std::span<const std::byte> image, hal::CodeSource source) override {
    TRY(std::shared_ptr<hal::Executable> executable,
        load_image(image, properties_, std::move(source), HotPolicy::of(settings())));
    return executable;
  }

  uint32_t occupancy(const hal::Executable& executable, uint32_t kernel, uint32_t block_threads,
                     uint32_t dynamic_shared_bytes) const override {
    const hal::KernelInfo& info = executable.kernels()[kernel];
    if (block_threads == 0 || block_threads > std::min(info.max_threads_per_block, properties_.max_threads_per_block))
      return 0;
    if (dynamic_shared_bytes > properties_.dynamic_shared_beside(info, properties_.shared_bytes_per_block_optin))
      return 0;
    return resident_blocks(block_threads);
  }

  std::optional<Error> fault() const override { return own_->fault(); }
  void clear_fault() override { own_->clear_fault(); }
  void flush_output() override { environment_.output.flush(); }

 private:
  std::shared_ptr<CpuDomain> make_domain() {
    auto domain = std::make_shared<CpuDomain>(properties_.memory_bytes);
    domain->faults.on_fault = [this, raw = domain.get()] { pool_.fail_all(*raw); };
    return domain;
  }

  const hal::DeviceProperties properties_;
  MemoryAccount memory_;
  ExecutionEnvironment environment_;
  BusyQueues busy_;
  WorkerPool pool_;
  const std::shared_ptr<CpuDomain> own_ = make_domain();
};

}  // namespace

std::unique_ptr<hal::Device> make_cpu_device() {
  return std::make_unique<CpuDevice>();
}

}  // namespace cupola::cpu
