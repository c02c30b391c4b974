#include "runtime/pending_frees.h"

#include <algorithm>
#include <vector>

#include "runtime/context.h"
#include "runtime/memory.h"

namespace cupola::runtime {

PendingFrees& PendingFrees::get() {
  static auto* const instance = new PendingFrees;  // leaked: used after static destructors
  return *instance;
}

void PendingFrees::add(Ticket ticket, MemoryRange range) {
  if (ticket.reached()) return give_back(range);
  Lock lock(mutex_);
  entries_.push_back({std::move(ticket), std::move(range)});
}

void PendingFrees::reclaim() {
  std::deque<Entry> reached, waiting;
  {
    Lock lock(mutex_);
    for (Entry& entry : entries_) (entry.ticket.reached() ? reached : waiting).push_back(std::move(entry));
    entries_.swap(waiting);
    scan_at_ = 2 * entries_.size() + 1;  // so that looking at all costs each entry a constant time
  }
  for (const Entry& entry : reached) give_back(entry.range);
}

void PendingFrees::reclaim_some() {
  std::vector<Entry> reached;
  bool is_long = false;
  {
    Lock lock(mutex_);
    is_long = entries_.size() >= scan_at_;
    for (; !is_long && !entries_.empty() && entries_.front().ticket.reached(); entries_.pop_front())
      reached.push_back(std::move(entries_.front()));
  }
  if (is_long) return reclaim();
  for (const Entry& entry : reached) give_back(entry.range);
}

bool PendingFrees::reclaim_oldest(const Device& device) {
  Ticket oldest;
  {
    Lock lock(mutex_);
    const auto found =
        std::ranges::find_if(entries_, [&](const Entry& e) { return &e.range.context->device() == &device; });
    if (found == entries_.end()) return false;
    oldest = found->ticket;
  }
  oldest.drain();
  reclaim();
  return true;
}

}  // namespace cupola::runtime
