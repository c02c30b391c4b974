#include "backend/cpu/run/moving_memory.h"

#include <array>
#include <atomic>
#include <csignal>
#include <ctime>

#include "base/fault_router.h"

namespace cupola::cpu {
namespace {

/// Stays after the move: a thread may still be on its way to the handler.
struct Range {
  std::atomic<uint64_t> begin{0}, end{0};
  std::atomic<bool> moving{false};
};

constexpr int kMostRepeats = 64;  ///< of one instruction at one address: then it is a fault like others
constinit std::array<Range, 256> ranges;

struct Repeats {
  uint64_t address = 0, program_counter = 0;
  int count = 0;
};
constinit thread_local Repeats repeats;

void wait_for(const Range& range) {
  while (range.moving.load(std::memory_order_acquire)) {
    const timespec moment{0, 50'000};
    nanosleep(&moment, nullptr);
  }
}

/// True if the address has moved, or is moving; then the move is over when this returns. Ranges of buffers that are
/// gone may overlap with new ones.
bool moved(uint64_t address) {
  bool found = false;
  for (const Range& range : ranges) {
    const uint64_t begin = range.begin.load(std::memory_order_acquire);
    if (begin == 0) break;
    if (address < begin || address >= range.end.load()) continue;
    wait_for(range);
    found = true;
  }
  return found;
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

MovingMemory::MovingMemory() : one_move_(one_move()) {}

void MovingMemory::prepare() {
  [[maybe_unused]] static const bool routed = (FaultRouter::add(&repeat_write), true);
}

Result<std::unique_ptr<MovingMemory>> MovingMemory::begin(const std::byte* address, uint64_t size) {
  prepare();
  std::unique_ptr<MovingMemory> move(new MovingMemory);
  const auto start = reinterpret_cast<uint64_t>(address);
  for (size_t i = 0; i < ranges.size(); ++i) {
    Range& range = ranges[i];
    const uint64_t known = range.begin.load();
    if (known != 0 && known != start) continue;
    move->place_ = i;
    range.moving.store(true);
    range.end.store(start + size);
    range.begin.store(start, std::memory_order_release);
    return move;
  }
  return fail(ErrorCode::NotSupported, "memory of {} reservations has been shared; there is room for no more",
              ranges.size());
}

MovingMemory::~MovingMemory() {
  ranges[place_].moving.store(false, std::memory_order_release);
}

}  // namespace cupola::cpu
