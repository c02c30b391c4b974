#include "backend/cpu/run/grid.h"

#include "backend/cpu/run/worker.h"
#include "backend/cpu/run/worker_pool.h"

namespace cupola::cpu {
namespace {

uint64_t next_grid_id() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Grid::Grid(const hal::Launch& launch, WorkerPool& pool, uint32_t most_resident, CpuDomain& domain, Owner& owner)
    : Work(launch.grid.count(), domain, owner),
      launch_(launch),
      code_(&static_cast<const CpuExecutable&>(*launch_.executable).code(launch_.kernel)),
      info_(&launch_.executable->kernels()[launch_.kernel]),
      module_data_(static_cast<const CpuExecutable&>(*launch_.executable).module_data()),
      pool_(pool),
      id_(next_grid_id()),
      most_resident_(most_resident),
      one_at_a_time_(code_->polls || launch_.cooperative),
      live_(launch_.grid.count()) {}

bool Grid::run(Worker& worker, uint64_t item) {
  return worker.run_block(*this, item);
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
  pool_.bump();
}

}  // namespace cupola::cpu
