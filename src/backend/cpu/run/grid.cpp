#include "backend/cpu/run/grid.h"

#include "backend/cpu/run/cpu_domain.h"
#include "backend/cpu/run/watch.h"
#include "backend/cpu/run/worker.h"
#include "backend/cpu/run/worker_pool.h"
#include "base/platform.h"
#include "base/steady_clock.h"

namespace cupola::cpu {
namespace {

/// From 1 on, no number twice. A thread takes some at a time.
uint64_t next_grid_id() {
  constexpr uint64_t kAtOnce = 64;
  static constinit std::atomic<uint64_t> taken{0};
  CUPOLA_NEAR_THREAD_LOCAL static constinit uint64_t last = 0;
  if (last % kAtOnce == 0) last = taken.fetch_add(kAtOnce, std::memory_order_relaxed);
  return ++last;
}

/// Instructions that take about a microsecond, as long as another core needs to hear of them and to say that they are
/// done.
constexpr uint64_t kMostOfShort = 3000;
/// Of a block, beside its threads'.
constexpr uint64_t kOfBlock = 150;
/// Threads that an instruction of a warp's code is for, about: most processors have no registers for all 32.
constexpr uint64_t kThreadsAtOnce = 8;

/// Blocks that end soon, by what the compiler says of their code.
bool is_short(const hal::Launch& launch, const KernelCode& code) {
  if (code.most_instructions == 0 || code.polls || launch.cooperative) return false;
  const uint64_t blocks = launch.grid.count(), threads = launch.block.count();
  const uint64_t of_block = kOfBlock + threads * code.most_instructions / (code.width > 1 ? kThreadsAtOnce : 1);
  return blocks <= kMostOfShort && blocks * of_block <= kMostOfShort;
}

/// Of short code no block stays while another one begins.
uint32_t most_resident_of(const hal::Launch& launch, const QueueServices& services, bool is_short) {
  if (is_short) return 1;
  return launch.cooperative ? UINT32_MAX : services.most_resident(static_cast<uint32_t>(launch.block.count()));
}

}  // namespace

Grid::Grid(const hal::Launch& launch, const KernelCode& code, const QueueServices& services, CpuDomain& domain,
           Owner& owner, uint32_t depth)
    : Work(launch.grid.count(), domain, owner),
      launch_(launch),
      services_(services),
      code_(code),
      info_(&launch_.executable->kernels()[launch_.kernel]),
      module_data_(static_cast<const CpuExecutable&>(*launch_.executable).module_data()),
      id_(next_grid_id()),
      depth_(depth),
      is_short_(cpu::is_short(launch_, code_)),
      one_at_a_time_(code_.polls || launch_.cooperative),
      most_resident_(most_resident_of(launch_, services, is_short_)),
      has_slot_(depth != 0),
      live_(launch_.grid.count()) {}

Grid::~Grid() {
  if (has_slot_) domain().launch_slots.give_back();
}

const KernelCode& Grid::code() const {
  const KernelCode* const hot = code_.watch ? code_.watch->hot() : nullptr;
  return hot ? *hot : code_;
}

Work::Ran Grid::run(Worker& worker, uint64_t first, uint64_t most) {
  if (has_slot_.load(std::memory_order_relaxed) && has_slot_.exchange(false)) domain().launch_slots.give_back();
  if (is_short_ || !code_.watch || !code_.watch->counts()) [[likely]]
    return worker.run_blocks(*this, first, most);
  const uint64_t begin = steady_nanoseconds();
  const Ran ran = worker.run_blocks(*this, first, most);
  code_.watch->ran(steady_nanoseconds() - begin, ran.begun < most);
  return ran;
}

DeviceQueues& Grid::device_queues() {
  Lock lock(mutex_);
  if (!device_queues_)
    device_queues_ = std::make_unique<DeviceQueues>(services_, domain().shared_from_this(), id_, depth_ + 1);
  return *device_queues_;
}

bool Grid::end(DeviceQueues::Owner& owner) {
  DeviceQueues* queues = nullptr;
  {
    Lock lock(mutex_);
    queues = device_queues_.get();
  }
  return !queues || queues->end(owner);
}

uint64_t Grid::arrive_at_grid_barrier() {
  Lock lock(mutex_);
  const uint64_t phase = phase_.load(std::memory_order_relaxed);
  ++arrived_;
  complete_if_all_arrived();
  return phase;
}

void Grid::leave_grid_barrier() {
  Lock lock(mutex_);
  --live_;
  if (arrived_) complete_if_all_arrived();
}

void Grid::complete_if_all_arrived() {
  if (arrived_ < live_) return;
  arrived_ = 0;
  phase_.fetch_add(1, std::memory_order_release);
  services_.pool.bump();
}

}  // namespace cupola::cpu
