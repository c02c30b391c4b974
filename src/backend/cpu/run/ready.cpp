#include "backend/cpu/run/ready.h"

#include <utility>

#include "base/platform.h"

namespace cupola::cpu {

/// First in, first out.
class ReadyList {
 public:
  void push(Ready& ready) {
    (last_ ? last_->next_ready_ : first_) = &ready;
    last_ = &ready;
  }

  /// Null when there is none.
  Ready* pop() {
    Ready* const ready = first_;
    if (!ready) return nullptr;
    first_ = std::exchange(ready->next_ready_, nullptr);
    if (!first_) last_ = nullptr;
    return ready;
  }

 private:
  Ready *first_ = nullptr, *last_ = nullptr;
};

namespace {

CUPOLA_NEAR_THREAD_LOCAL constinit ReadyList* running = nullptr;

}  // namespace

void run_in_turn(Ready& ready) {
  if (running) return running->push(ready);
  ReadyList list;
  running = &list;
  ready.run();
  while (Ready* next = list.pop()) next->run();
  running = nullptr;
}

}  // namespace cupola::cpu
