#pragma once

#include <deque>

#include "base/mutex.h"
#include "runtime/address_map.h"
#include "runtime/stream.h"

namespace cupola::runtime {

class Device;

/// What was freed in stream order and may still be in use. It goes back once its stream has got there: at the next call
/// that asks for memory, or for how much there is, so that whoever has synchronised with the stream finds it free. Any
/// thread.
class PendingFrees {
 public:
  static PendingFrees& get();

  void add(Ticket ticket, MemoryRange range) EXCLUDES(mutex_);

  /// Gives back what no command uses any more.
  void reclaim() EXCLUDES(mutex_);

  /// As much of that as is found at once: for each allocation.
  void reclaim_some() EXCLUDES(mutex_);

  /// Waits for the free of the device that was asked for first, and gives it back. False when there is none.
  bool reclaim_oldest(const Device& device) EXCLUDES(mutex_);

 private:
  struct Entry {
    Ticket ticket;
    MemoryRange range;
  };

  Mutex mutex_;
  std::deque<Entry> entries_ GUARDED_BY(mutex_);  ///< in the order of the calls
  size_t scan_at_ GUARDED_BY(mutex_) = 1;         ///< entries from which on all are looked at, not the first alone
};

}  // namespace cupola::runtime
