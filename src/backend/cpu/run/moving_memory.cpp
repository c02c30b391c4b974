#include "backend/cpu/run/moving_memory.h"

#include <atomic>
#include <csignal>
#include <ctime>

#include "base/fault_router.h"
#include "base/platform.h"

namespace cupola::cpu {
namespace {

/// Stays after the move, until the memory ends: a thread may still be on its way to the handler. Then another takes it.
struct Range {
  std::atomic<uint64_t> begin{0}, end{0};  ///< begin 0: nobody's
  std::atomic<bool> moving{false};
  Range* next = nullptr;
};

constexpr int kMostRepeats = 64;                 ///< of one instruction at one address: then it is a fault like others
constinit std::atomic<Range*> ranges = nullptr;  // never freed: the handler may be looking

struct Repeats {
  uint64_t address = 0, program_counter = 0;
  int count = 0;
};
// Initial-exec: a first access to dynamic thread-local storage may allocate, which a signal handler must not.
CUPOLA_NEAR_THREAD_LOCAL constinit Repeats repeats;

void wait_for(const Range& range) {
  while (range.moving.load(std::memory_order_acquire)) {
    const timespec moment{0, 50'000};
    nanosleep(&moment, nullptr);
  }
}

/// True if the address has moved, or is moving; then the move is over when this returns.
bool moved(uint64_t address) {
  for (const Range* range = ranges.load(std::memory_order_acquire); range; range = range->next) {
    const uint64_t begin = range->begin.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= range->end.load()) continue;
    wait_for(*range);
    return true;
  }
  return false;
}

/// The one that begins there; null when there is none.
Range* range_at(uint64_t begin) {
  for (Range* range = ranges.load(); range; range = range->next)
    if (range->begin.load() == begin) return range;
  return nullptr;
}

/// Under the lock of the moves.
Range& range_for(uint64_t begin) {
  for (const uint64_t each : {begin, uint64_t{0}})
    if (Range* range = range_at(each)) return *range;
  auto* fresh = new Range;
  fresh->next = ranges.load();
  ranges.store(fresh, std::memory_order_release);
  return *fresh;
}

bool repeat_write(const FaultRouter::Fault& fault) {
  if (fault.signal != SIGSEGV && fault.signal != SIGBUS) return false;
  if (!moved(fault.address)) return false;
  if (repeats.address != fault.address || repeats.program_counter != fault.program_counter)
    repeats = {fault.address, fault.program_counter, 0};
  return ++repeats.count < kMostRepeats;
}

Mutex& one_move() {
  static auto* const mutex = new Mutex;
  return *mutex;
}

}  // namespace

MovingMemory::MovingMemory(const std::byte* address, uint64_t size)
    : one_move_(one_move()), begin_(reinterpret_cast<uint64_t>(address)) {
  prepare();
  Range& range = range_for(begin_);
  range.moving.store(true);
  range.end.store(begin_ + size);
  range.begin.store(begin_, std::memory_order_release);
}

MovingMemory::~MovingMemory() {
  range_at(begin_)->moving.store(false, std::memory_order_release);
}

void MovingMemory::forget(const std::byte* address) {
  if (Range* range = range_at(reinterpret_cast<uint64_t>(address))) range->begin.store(0, std::memory_order_release);
}

void MovingMemory::prepare() {
  [[maybe_unused]] static const bool routed = (FaultRouter::add(&repeat_write), true);
}

}  // namespace cupola::cpu
