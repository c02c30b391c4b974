#include "backend/cpu/run/cores.h"

#if defined(__linux__)
#include <unistd.h>

#include <algorithm>
#endif

namespace cupola::cpu {

#if defined(__linux__)

Cores::Cores() : threads_(static_cast<size_t>(std::clamp<long>(sysconf(_SC_NPROCESSORS_CONF), 0, CPU_SETSIZE))) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (size_t core = 0; core < threads_.size(); ++core) {
    ranks_.push_back(usable_);
    usable_ += CPU_ISSET(core, &allowed) ? 1 : 0;
  }
}

uint32_t Cores::part(uint32_t parts, uint32_t worker, uint32_t workers) const {
  if (parts == 1) return 0;
  const int core = workers == usable_ ? sched_getcpu() : -1;
  if (core < 0 || static_cast<size_t>(core) >= ranks_.size()) return worker % parts;
  return std::min(parts - 1, ranks_[static_cast<size_t>(core)] * parts / usable_);
}

int Cores::enter() {
  const int core = sched_getcpu();
  if (core < 0 || static_cast<size_t>(core) >= threads_.size()) return -1;
  threads_[static_cast<size_t>(core)].fetch_add(1, std::memory_order_relaxed);
  return core;
}

void Cores::leave(int core) {
  if (core >= 0) threads_[static_cast<size_t>(core)].fetch_sub(1, std::memory_order_relaxed);
}

/// By its affinity: a thread that sleeps there wakes up where it may run.
void Cores::send(Sleeper& sleeper) {
  if (sleeper.thread_ == 0) return;
  cpu_set_t free = sleeper.allowed_;
  if (const int here = sched_getcpu(); here >= 0) CPU_CLR(static_cast<size_t>(here), &free);
  for (size_t core = 0; core < threads_.size(); ++core)
    if (threads_[core].load(std::memory_order_relaxed) > 0) CPU_CLR(core, &free);
  sleeper.is_sent_ = CPU_COUNT(&free) > 0 && sched_setaffinity(sleeper.thread_, sizeof free, &free) == 0;
}

void Cores::Sleeper::sleeps() {
  thread_ = sched_getaffinity(0, sizeof allowed_, &allowed_) == 0 ? gettid() : 0;
}

void Cores::Sleeper::wakes() {
  if (is_sent_) sched_setaffinity(0, sizeof allowed_, &allowed_);
  is_sent_ = false;
  thread_ = 0;
}

#else

Cores::Cores() = default;
int Cores::enter() {
  return -1;
}
uint32_t Cores::part(uint32_t parts, uint32_t worker, uint32_t) const {
  return worker % parts;
}
void Cores::leave(int) {}
void Cores::send(Sleeper&) {}
void Cores::Sleeper::sleeps() {}
void Cores::Sleeper::wakes() {}

#endif

}  // namespace cupola::cpu
