#include "backend/cpu/run/cores.h"

#if defined(__linux__)
#include <unistd.h>

#include <algorithm>
#endif

namespace cupola::cpu {

#if defined(__linux__)

Cores::Cores()
    : working_(static_cast<size_t>(std::clamp<long>(sysconf(_SC_NPROCESSORS_CONF), 0, CPU_SETSIZE))),
      looking_(working_.size()) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (size_t core = 0; core < working_.size(); ++core) {
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

int Cores::enter(Doing doing) {
  const int core = sched_getcpu();
  if (core < 0 || static_cast<size_t>(core) >= working_.size()) return -1;
  (doing == Doing::Works ? working_ : looking_)[static_cast<size_t>(core)].fetch_add(1, std::memory_order_relaxed);
  return core;
}

void Cores::leave(int core, Doing doing) {
  if (core < 0) return;
  (doing == Doing::Works ? working_ : looking_)[static_cast<size_t>(core)].fetch_sub(1, std::memory_order_relaxed);
}

/// By its affinity: a thread that sleeps there wakes up where it may run.
void Cores::send(Sleeper& sleeper) {
  if (sleeper.thread_ == 0) return;
  cpu_set_t free = sleeper.allowed_;
  if (const int here = sched_getcpu(); here >= 0) CPU_CLR(static_cast<size_t>(here), &free);
  sleeper.is_sent_ = leave_free(working_, free) && sched_setaffinity(sleeper.thread_, sizeof free, &free) == 0;
}

bool Cores::leave_free(const Counts& threads, cpu_set_t& cores) {
  for (size_t core = 0; core < threads.size(); ++core)
    if (threads[core].load(std::memory_order_relaxed) > 0) CPU_CLR(core, &cores);
  return CPU_COUNT(&cores) > 0;
}

/// By its affinity, which is the same again then.
void Cores::make_room(Doing doing) const {
  const int here = sched_getcpu();
  if (here < 0 || static_cast<size_t>(here) >= working_.size()) return;
  if (threads(doing)[static_cast<size_t>(here)].load(std::memory_order_relaxed) == 0) return;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t free = allowed;
  if (leave_free(working_, free) && leave_free(looking_, free) && sched_setaffinity(0, sizeof free, &free) == 0)
    sched_setaffinity(0, sizeof allowed, &allowed);
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
int Cores::enter(Doing) {
  return -1;
}
uint32_t Cores::part(uint32_t parts, uint32_t worker, uint32_t) const {
  return worker % parts;
}
void Cores::leave(int, Doing) {}
void Cores::send(Sleeper&) {}
void Cores::make_room(Doing) const {}
void Cores::Sleeper::sleeps() {}
void Cores::Sleeper::wakes() {}

#endif

}  // namespace cupola::cpu
