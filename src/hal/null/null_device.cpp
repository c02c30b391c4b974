#include "hal/null/null_device.h"

#include "hal/host_queue.h"
#include "hal/host_semaphore.h"
#include "hal/host_state.h"
#include "hal/null/null_buffer.h"

namespace cupola::hal {
namespace {

constexpr uint64_t kMemoryBytes = uint64_t{4} << 30;

std::unexpected<Error> no_kernels() {
  return fail(ErrorCode::NotSupported, "the null device runs no kernels; set CUPOLA_DEVICE=cpu");
}

struct NoKernels final : GridRunner {
  bool may_follow(const Launch&) override { return false; }
  Result<> begin(Launch&) override { return no_kernels(); }
  Result<> end() override { return {}; }
};

class NullDevice final : public Device {
 public:
  NullDevice() {
    properties_.name = "Cupola null device";
    properties_.image_target = "null";
    properties_.memory_bytes = kMemoryBytes;
  }
  ~NullDevice() override { state_.await_threads(); }

  using Device::load;
  const DeviceProperties& properties() const override { return properties_; }
  uint64_t memory_in_use() const override { return state_.backed_bytes; }
  uint64_t chunk_bytes() const override { return NullBuffer::kChunkBytes; }

  Result<std::unique_ptr<Buffer>> reserve(uint64_t size) override { return NullBuffer::reserve(state_, size); }

  std::shared_ptr<Domain> create_domain() override { return std::make_shared<HostDomain>(state_); }

  Result<std::unique_ptr<Queue>> create_queue(int /*priority: all queues are equal*/,
                                              std::shared_ptr<Domain> domain) override {
    return std::make_unique<HostQueue>(domain ? std::static_pointer_cast<HostDomain>(std::move(domain)) : own_,
                                       std::make_unique<NoKernels>());
  }

  std::shared_ptr<Semaphore> create_semaphore(uint64_t initial) override {
    return std::make_shared<HostSemaphore>(own_, initial);
  }

  Result<std::shared_ptr<Executable>> load(std::span<const std::byte>, CodeSource) override { return no_kernels(); }

  /// No launch is possible.
  uint32_t occupancy(const Executable&, uint32_t, uint32_t, uint32_t) const override { return 0; }

  std::optional<Error> fault() const override { return own_->fault(); }
  void clear_fault() override { own_->clear_fault(); }
  void flush_output() override {}  // only kernels print

 private:
  DeviceProperties properties_;
  HostState state_{.memory_bytes = kMemoryBytes};
  const std::shared_ptr<HostDomain> own_ = std::make_shared<HostDomain>(state_);
};

}  // namespace

std::unique_ptr<Device> make_null_device() {
  return std::make_unique<NullDevice>();
}

}  // namespace cupola::hal
