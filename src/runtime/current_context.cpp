#include "runtime/current_context.h"

#include <pthread.h>

#include <atomic>

#include "base/platform.h"
#include "runtime/runtime.h"

namespace cupola::runtime {
namespace {

// Not a thread_local object: its destructor would run before static destructors that still call the API. A pthread
// key's destructor runs for threads that end, and not for the one that ends the process.
CUPOLA_NEAR_THREAD_LOCAL constinit ThreadState* state = nullptr;

pthread_key_t thread_end() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, [](void* pointer) {
      state = nullptr;
      delete static_cast<ThreadState*>(pointer);
    });
    return made;
  }();
  return key;
}

std::atomic<uint64_t> next_thread = 1;

}  // namespace

ThreadState::ThreadState() : id_(next_thread.fetch_add(1)) {}

ThreadState::~ThreadState() {
  if (Runtime::forked()) return;  // locks may be held by threads that did not come along
  if (Runtime* runtime = Runtime::if_initialised()) runtime->thread_ended(id_);
}

ThreadState& ThreadState::get() {
  if (!state) {
    state = std::make_unique<ThreadState>().release();
    pthread_setspecific(thread_end(), state);
  }
  return *state;
}

Result<std::shared_ptr<Context>> current_context_even_if_faulted() {
  const auto& contexts = ThreadState::get().contexts();
  if (contexts.empty() || !contexts.back())
    return fail(ErrorCode::InvalidContext, "no context is current: call cuCtxSetCurrent or cuCtxCreate first");
  if (!contexts.back()->active()) return fail(ErrorCode::ContextIsDestroyed, "the current context was destroyed");
  return contexts.back();
}

Result<std::shared_ptr<Context>> current_context() {
  TRY(std::shared_ptr<Context> context, current_context_even_if_faulted());
  TRY(context->check());
  return context;
}

}  // namespace cupola::runtime
