#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "hal/device.h"
#include "memory/allocation.h"

namespace cupola::memory {

/// Divides a device's memory into allocations. Addresses are reserved in large steps and backed chunk by chunk as
/// allocations reach them; an allocation never moves. A chunk that no allocation touches any more keeps its backing
/// while no more than kSlackBytes idle that way. The device's memory_bytes bounds what is backed.
///
/// Free ranges are joined with their neighbours at once, and a request takes the smallest that is large enough.
/// allocate() and free() take O(log n) for n allocations, and time proportional to the chunks that change. Beyond that,
/// where the device's memory is nearly all in use, allocate() looks at every free range that is large enough, and at
/// every chunk for slack; and giving a reservation back looks at all reservations. Any thread.
class Heap {
 public:
  static constexpr uint64_t kAlignment = 512;  ///< of every allocation, in bytes; CUDA promises 256
  static constexpr uint64_t kReservationBytes = uint64_t{1} << 30;
  static constexpr uint64_t kSlackBytes = uint64_t{64} << 20;

  struct Options {
    uint64_t slack = kSlackBytes;              ///< bytes of idle backing to keep; UINT64_MAX: until trim()
    uint64_t reservation = kReservationBytes;  ///< bytes of addresses to reserve at a time
    bool shared = false;                       ///< memory can be exported from the start, without being moved
  };

  /// The device outlives the heap.
  explicit Heap(hal::Device& device) : Heap(device, Options{}) {}
  Heap(hal::Device& device, const Options& options);
  ~Heap();

  /// Contents are undefined. Errors: InvalidValue for 0 bytes; OutOfMemory, saying what is left.
  Result<Allocation> allocate(uint64_t bytes) EXCLUDES(mutex_);

  /// Frees the allocation that begins at `address`; the caller makes sure that no command uses it any more. Error:
  /// InvalidValue when no live allocation begins there.
  Result<> free(hal::Address address) EXCLUDES(mutex_);

  /// The live allocation that holds `address`, of the size that was asked for.
  std::optional<Range> find(hal::Address address) const EXCLUDES(mutex_);

  /// Gives backing back that no allocation needs, until no more than `keep` bytes are backed.
  void trim(uint64_t keep) EXCLUDES(mutex_);

  /// Where the bytes of an allocation lie in memory that can be exported.
  struct Place {
    std::shared_ptr<hal::Memory> memory;
    uint64_t offset;
  };
  /// Moves the memory around a live allocation to where it can be exported, if it does not lie there yet. Errors:
  /// InvalidValue when no live allocation holds `address`; NotSupported.
  Result<Place> share(hal::Address address) EXCLUDES(mutex_);

  struct Usage {
    uint64_t total;        ///< the device's memory, bytes
    uint64_t used;         ///< in chunks that hold an allocation
    uint64_t backed;       ///< used and slack
    uint64_t allocations;  ///< how many are live
    uint64_t free() const { return total > used ? total - used : 0; }
  };
  Usage usage() const EXCLUDES(mutex_);

 private:
  struct Chunk {
    uint32_t allocations = 0;  ///< that touch it
    bool backed = false;
  };
  struct Reservation {
    std::unique_ptr<hal::Buffer> buffer;
    std::vector<Chunk> chunks;
  };
  struct Block {
    uint64_t size;   ///< a multiple of kAlignment
    uint64_t asked;  ///< 0 when free
    Reservation* home;
  };
  using Blocks = std::map<hal::Address, Block>;
  struct ChunkSpan {
    size_t begin, end;
  };

  ChunkSpan chunks_of(hal::Address address, const Block& block) const;
  Blocks::iterator find_place(uint64_t size) REQUIRES(mutex_);
  Result<Blocks::iterator> reserve(uint64_t size) REQUIRES(mutex_);
  Result<> back(Reservation& home, ChunkSpan span) REQUIRES(mutex_);
  void unback(Reservation& home, ChunkSpan span) REQUIRES(mutex_);
  void drop_slack() REQUIRES(mutex_);
  void release_if_idle(Blocks::iterator block) REQUIRES(mutex_);
  void insert_free(hal::Address address, Block block) REQUIRES(mutex_);
  Blocks::iterator join_with_neighbours(Blocks::iterator block) REQUIRES(mutex_);
  std::unexpected<Error> out_of_memory(uint64_t bytes) const REQUIRES(mutex_);

  hal::Device& device_;
  const Options options_;
  const uint64_t total_, chunk_bytes_;
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<Reservation>> reservations_ GUARDED_BY(mutex_);
  Blocks blocks_ GUARDED_BY(mutex_);  ///< live and free, covering the reservations without gaps
  std::set<std::pair<uint64_t, hal::Address>> free_ GUARDED_BY(mutex_);  ///< free blocks by size
  uint64_t used_chunks_ GUARDED_BY(mutex_) = 0;
  uint64_t backed_chunks_ GUARDED_BY(mutex_) = 0;
  uint64_t allocations_ GUARDED_BY(mutex_) = 0;
};

}  // namespace cupola::memory
