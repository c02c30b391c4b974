#pragma once

#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "hal/buffer.h"
#include "hal/domain.h"
#include "hal/executable.h"
#include "hal/queue.h"
#include "hal/semaphore.h"
#include "hal/types.h"

namespace cupola::hal {

/// One device of one back-end. Outlives everything it makes. All members: any thread.
class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceProperties& properties() const = 0;

  /// Bytes of properties().memory_bytes that buffers have committed or create_memory() gave.
  virtual uint64_t memory_in_use() const = 0;

  /// Granularity of Buffer::commit, a power of two.
  virtual uint64_t chunk_bytes() const = 0;

  /// Reserves `size` bytes of addresses (rounded up to chunks), without backing. Error: OutOfMemory.
  virtual Result<std::unique_ptr<Buffer>> reserve(uint64_t size) = 0;

  /// Memory for Buffer::map, zeroed; `size` is a multiple of chunk_bytes(). `exportable`: it has a descriptor. Errors:
  /// OutOfMemory; NotSupported where memory cannot be shared.
  virtual Result<std::shared_ptr<Memory>> create_memory(uint64_t /*size*/, bool /*exportable*/) {
    return Buffer::not_shareable();
  }

  /// What a descriptor stands for, of this process or another; the descriptor stays the caller's. Errors: InvalidValue,
  /// NotSupported.
  virtual Result<std::shared_ptr<Memory>> import_memory(int /*descriptor*/) { return Buffer::not_shareable(); }

  virtual std::shared_ptr<Domain> create_domain() = 0;

  /// `domain` is one of create_domain(), or null: the device's own.
  virtual Result<std::unique_ptr<Queue>> create_queue(int priority, std::shared_ptr<Domain> domain) = 0;
  Result<std::unique_ptr<Queue>> create_queue(int priority) { return create_queue(priority, nullptr); }

  /// In the device's own domain.
  virtual std::shared_ptr<Semaphore> create_semaphore(uint64_t initial) = 0;

  /// Loads an image made for properties().image_target. Errors: InvalidImage (malformed), NoBinaryForGpu (another
  /// target), InvalidPtx (a kernel has more static shared memory than shared_bytes_per_block). `source` makes what the
  /// image left for later, as long as the executable lives; images that hold all code need none.
  virtual Result<std::shared_ptr<Executable>> load(std::span<const std::byte> image, CodeSource source) = 0;
  Result<std::shared_ptr<Executable>> load(std::span<const std::byte> image) { return load(image, {}); }

  /// How many blocks of this shape may be resident on one multiprocessor; 0 when the launch is impossible.
  virtual uint32_t occupancy(const Executable& executable, uint32_t kernel, uint32_t block_threads,
                             uint32_t dynamic_shared_bytes) const = 0;

  /// The device's own domain, as Domain's.
  virtual std::optional<Error> fault() const = 0;
  virtual void clear_fault() = 0;

  /// Writes what kernels printed so far to standard output; called by the runtime at synchronising calls.
  virtual void flush_output() = 0;
};

}  // namespace cupola::hal
