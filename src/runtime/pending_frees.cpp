#include "runtime/pending_frees.h"

#include <algorithm>

#include "runtime/context.h"
#include "runtime/memory.h"

namespace cupola::runtime {

PendingFrees& PendingFrees::get() {
  static auto* const instance = new PendingFrees;  // leaked: used after static destructors
  return *instance;
}

void PendingFrees::add(Ticket ticket, MemoryRange range) {
  reclaim();
  if (ticket.reached()) return give_back(range);
  Lock lock(mutex_);
  entries_.push_back({std::move(ticket), std::move(range)});
}

void PendingFrees::reclaim() {
  std::vector<Entry> reached;
  {
    Lock lock(mutex_);
    std::vector<Entry> waiting;
    for (Entry& entry : entries_) (entry.ticket.reached() ? reached : waiting).push_back(std::move(entry));
    entries_.swap(waiting);
  }
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
