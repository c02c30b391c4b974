#include "backend/cpu/run/guarded_call.h"

#include <csetjmp>
#include <cstdint>

#include "backend/cpu/run/fibre_runner.h"
#include "base/platform.h"

// The handler sends the thread to a function that jumps back to the caller. It runs on the stack below the frame that
// made the call, where what faulted has left nothing that matters.

namespace cupola::cpu {
namespace {

struct Guard {
  std::jmp_buf home;
  CapturedFault fault;
  void* stack = nullptr;
};

CUPOLA_NEAR_THREAD_LOCAL Guard* this_guard = nullptr;

#if defined(__clang__)
__attribute__((no_sanitize("address", "thread")))
#endif
void land(void* guard) {
  std::longjmp(static_cast<Guard*>(guard)->home, 1);
}

bool handle(const FaultRouter::Fault& fault) {
  Guard* guard = this_guard;
  if (!guard) return false;
  this_guard = nullptr;
  guard->fault = CapturedFault::of(fault);
  FaultRouter::redirect(fault, &land, guard, guard->stack);
  return true;
}

__attribute__((noinline)) void call(Guard& guard, void (*function)(void*), void* argument) {
  constexpr uint64_t kBelow = 1024;
  guard.stack =
      reinterpret_cast<void*>((reinterpret_cast<uint64_t>(__builtin_frame_address(0)) - kBelow) & ~uint64_t{63});
  this_guard = &guard;
  function(argument);
  this_guard = nullptr;
}

}  // namespace

Result<> call_guarded(void (*function)(void*), void* argument) {
  FibreRunner::prepare();  // first: what it routes looks first
  [[maybe_unused]] static const bool routed = (FaultRouter::add(&handle), true);
  Guard guard;
  if (setjmp(guard.home) == 0) {
    call(guard, function, argument);
    return {};
  }
  return fail(guard.fault.code(), "{}", guard.fault.text());
}

}  // namespace cupola::cpu
