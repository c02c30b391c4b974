#include "backend/cpu/run/services.h"

#include <stdio.h>
#include <time.h>

#include <exception>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "backend/cpu/run/block.h"
#include "backend/cpu/run/cpu_domain.h"
#include "backend/cpu/run/device_calls.h"
#include "backend/cpu/run/worker.h"
#include "base/format.h"
#include "hal/printf.h"

// Services run on the calling thread's fibre and may end it: no lock may be held, and nothing owned, where a bad
// pointer of the kernel is touched or a fibre is suspended or ended.

namespace cupola::cpu {
namespace {

using image::cpu::ThreadContext;

Thread& thread_of(ThreadContext* context) {
  return *static_cast<Thread*>(context->executor);
}

ExecutionEnvironment& environment_of(ThreadContext* context) {
  return thread_of(context).block->worker().environment();
}

DeviceHeap& heap_of(ThreadContext* context) {
  return thread_of(context).block->grid().domain().heap;
}

/// The block, once it is sure that its threads can meet at barrier `id`.
Block& at_barrier(Thread& thread, uint32_t id) {
  Block& block = *thread.block;
  block.require_fibres(thread, "a barrier");
  if (id >= kBarriers) block.fail(thread, ErrorCode::LaunchFailed, formatted("barrier {} of 16", id));
  return block;
}

void barrier(ThreadContext* context, uint32_t id, uint32_t count, uint32_t threads) {
  Thread& thread = thread_of(context);
  at_barrier(thread, id).barrier(thread, id, count, threads);
}

void barrier_arrive(ThreadContext* context, uint32_t id, uint32_t count, uint32_t threads) {
  Thread& thread = thread_of(context);
  at_barrier(thread, id).barrier_arrive(thread, id, count, threads);
}

uint32_t barrier_reduce(ThreadContext* context, uint32_t id, uint32_t count, uint32_t op, uint32_t votes,
                        uint32_t threads) {
  Thread& thread = thread_of(context);
  return at_barrier(thread, id).barrier_reduce(thread, id, count, op, votes, threads);
}

uint64_t meet(ThreadContext* context, WarpOp op, uint32_t mask, uint64_t value, uint32_t b = 0, uint32_t c = 0) {
  Thread& thread = thread_of(context);
  thread.block->require_fibres(thread, "a warp operation");
  return thread.block->meet(thread, {op, mask, value, b, c});
}

WarpOp after(WarpOp first, uint32_t place) {
  return static_cast<WarpOp>(static_cast<uint32_t>(first) + place);
}

void warp_sync(ThreadContext* context, uint32_t mask) {
  meet(context, WarpOp::Sync, mask, 0);
}

uint64_t shuffle(ThreadContext* context, uint32_t mask, uint32_t kind, uint32_t value, uint32_t b, uint32_t c) {
  return meet(context, after(WarpOp::ShuffleUp, kind & 3), mask, value, b, c);
}

uint32_t vote(ThreadContext* context, uint32_t mask, uint32_t op, uint32_t predicate) {
  return static_cast<uint32_t>(meet(context, after(WarpOp::VoteAll, op & 3), mask, predicate));
}

uint64_t match(ThreadContext* context, uint32_t mask, uint32_t op, uint64_t value) {
  return meet(context, after(WarpOp::MatchAny, op & 1), mask, value);
}

uint32_t redux(ThreadContext* context, uint32_t mask, uint32_t op, uint32_t value) {
  return static_cast<uint32_t>(meet(context, after(WarpOp::ReduceAdd, op & 7), mask, value));
}

const uint32_t* warp_publish(ThreadContext* context, const uint32_t* words, uint32_t count) {
  const uint64_t table = meet(context, WarpOp::Publish, ~0u, reinterpret_cast<uint64_t>(words), count);
  return reinterpret_cast<const uint32_t*>(table);
}

uint32_t active_mask(ThreadContext* context, uint64_t site) {
  Thread& thread = thread_of(context);
  return thread.block->active_mask(thread, site);
}

void poll(ThreadContext* context) {
  Thread& thread = thread_of(context);
  thread.block->poll(thread);
}

void nanosleep(ThreadContext* context, uint32_t) {
  poll(context);
}

void grid_sync(ThreadContext* context, uint32_t threads) {
  Thread& thread = thread_of(context);
  thread.block->require_fibres(thread, "a grid-wide barrier");
  thread.block->grid_sync(thread, threads);
}

uint32_t grid_is_cooperative(ThreadContext* context) {
  return thread_of(context).block->grid().launch().cooperative;
}

int32_t vprintf(ThreadContext* context, const char* format, const void* arguments) {
  // The worker's own: a bad pointer in the arguments abandons the call, and what it owned would be lost.
  static thread_local std::string text;
  text.clear();
  const int count = hal::format_print(text, format, arguments);
  environment_of(context).output.append(text);
  return count;
}

/// In the words of CUDA's own message.
void print_assertion(const ThreadContext& context, const char* message, const char* file, uint32_t line,
                     const char* function) {
  const uint32_t* block = context.ctaid;
  const Position thread = calling_thread(context);
  const std::string text =
      formatted("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n", file, line, function,
                block[0], block[1], block[2], thread.at[0], thread.at[1], thread.at[2], message);
  fwrite(text.data(), 1, text.size(), stderr);
}

void assert_fail(ThreadContext* context, const char* message, const char* file, uint32_t line, const char* function) {
  print_assertion(*context, message, file, line, function);
  Thread& thread = thread_of(context);
  thread.block->fail(thread, ErrorCode::Assert, formatted("{}:{}: assertion `{}` failed", file, line, message));
}

void trap(ThreadContext* context) {
  Thread& thread = thread_of(context);
  thread.block->fail(thread, ErrorCode::LaunchFailed, "trap");
}

void exit(ThreadContext* context) {
  Thread& thread = thread_of(context);
  thread.block->exit(thread);
}

void* malloc(ThreadContext* context, uint64_t bytes) {
  return heap_of(context).allocate(bytes);
}

void free(ThreadContext* context, void* pointer) {
  if (heap_of(context).release(pointer)) return;
  Thread& thread = thread_of(context);
  thread.block->fail(thread, ErrorCode::IllegalAddress,
                     formatted("free of {}, which device malloc did not give or which was freed before", pointer));
}

uint32_t device_call(ThreadContext* context, uint32_t kind, void* operands) {
  return static_cast<uint32_t>(answer(*thread_of(context).block, static_cast<image::DeviceCall>(kind), operands));
}

const void* device_facts(ThreadContext* context) {
  return thread_of(context).block->grid().domain().facts.get();
}

uint64_t global_timer(ThreadContext*) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t clock([[maybe_unused]] ThreadContext* context) {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return global_timer(context);
#endif
}

uint32_t multiprocessor(ThreadContext* context) {
  return thread_of(context).block->worker().index();
}

uint32_t multiprocessors(ThreadContext* context) {
  return thread_of(context).block->worker().pool_size();
}

/// A service as generated code calls it: no exception may go on into that. The fibre ends after the handler, so that
/// the exception is over.
template <auto service>
struct Guarded;
template <typename R, typename... Arguments, R (*service)(ThreadContext*, Arguments...)>
struct Guarded<service> {
  static R call(ThreadContext* context, Arguments... arguments) {
    try {
      return service(context, arguments...);
    } catch (const std::exception&) {  // of the standard library's containers: too large, or no memory
    }
    Thread& thread = thread_of(context);
    thread.block->fail(thread, ErrorCode::LaunchFailed, "no host memory");  // short: needs none itself
  }
};

}  // namespace

const image::cpu::Services& services() {
  static constexpr image::cpu::Services table = {
#define CUPOLA_SERVICE(name, result, parameters, flags) .name = &Guarded<&cpu::name>::call,
#include "image/cpu_services.def"
#undef CUPOLA_SERVICE
  };
  return table;
}

}  // namespace cupola::cpu
