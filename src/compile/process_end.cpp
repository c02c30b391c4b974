#include "compile/process_end.h"

#include <pthread.h>

#include <cstdint>
#include <cstdlib>

namespace cupola {
namespace {

// Without destructors.
constinit std::atomic<bool> ends = false;
constinit std::atomic<uint32_t> going_on = 0;
constinit std::atomic<bool> is_last = false;  ///< wait_until_over comes before all that was registered by what is over
constinit thread_local uint32_t going_on_here = 0;  ///< a signal's handler may end the process in the middle of one

void wait_until_over() {
  ends.store(true);
  while (const uint32_t count = going_on.load()) {
    if (count <= going_on_here) return;
    going_on.wait(count);
  }
}

/// What is registered last comes first at the end. LLVM registers destructors when it is loaded and, of what it makes
/// when it first needs it, while it compiles.
void wait_first_at_the_end() {
  if (!is_last.exchange(true)) std::atexit(wait_until_over);
}

bool forget_others_in_children() {
  pthread_atfork(nullptr, nullptr, [] { going_on.store(going_on_here); });  // other threads did not come along
  return true;
}

}  // namespace

Compiling::Compiling() {
  static const bool forgets = forget_others_in_children();
  (void)forgets;
  wait_first_at_the_end();
  if (ends.load()) return;  // nobody is counted any more but for a moment: the wait comes to its end
  ++going_on_here;
  going_on.fetch_add(1);
  if (ends.load())
    leave();
  else
    counted_ = true;
}

Compiling::~Compiling() {
  if (counted_) leave();
}

void Compiling::leave() {
  --going_on_here;
  is_last.store(false);
  going_on.fetch_sub(1);
  going_on.notify_all();
}

const std::atomic<bool>& Compiling::process_ends() {
  return ends;
}

}  // namespace cupola
