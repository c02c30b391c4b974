#include "backend/cpu/run/block.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <new>
#include <utility>

#include "backend/cpu/run/cpu_domain.h"
#include "backend/cpu/run/services.h"
#include "backend/cpu/run/worker.h"
#include "base/demangled.h"
#include "base/format.h"

// How a block runs. Its threads are fibres of one worker. The ring holds those that may run; each gets its turn until
// it waits, polls or is over. A thread that completes what others wait for puts them and itself at the ring's end, in
// thread order, so that phases between barriers go through the threads in order. When the ring holds pollers only and a
// whole round brought nothing, or all threads wait for the grid, the block lets its worker do something else. When the
// ring is empty and threads are left, they wait for each other for ever: that is a fault that says who waits where.

namespace cupola::cpu {
namespace {

using image::cpu::kDynamicSharedAlignment;
using image::cpu::kWarp;
using image::cpu::ThreadContext;

// Turns of a polling loop between two calls of the poll service.
constexpr int32_t kFuel = 128;

// What code that runs in step may read of a last warp.
using image::kMostThreads;

/// After so many, code that runs blocks one after the other sees whether its grid was given up: twice as many as in the
/// last call of a range if that was short, for a call takes time too (a sum of 512 numbers a block 0.9 to 0.95 of it).
constexpr uint32_t kFewestBlocksACall = 32, kMostBlocksACall = 1024;
constexpr auto kShortCall = std::chrono::microseconds(50);

constexpr uint32_t lane_of(const Thread& thread) {
  return thread.index % kWarp;
}
constexpr uint32_t bit_of(const Thread& thread) {
  return 1u << lane_of(thread);
}

/// The lanes of a warp that has `count` threads or more, as a mask; there is at least one.
constexpr uint32_t first_lanes(uint32_t count) {
  return ~0u >> (kWarp - std::min(kWarp, count));
}

Position position(uint64_t index, const Dim3& shape) {
  if (index == 0) return {};  // without divisions
  return {{static_cast<uint32_t>(index % shape.x), static_cast<uint32_t>(index / shape.x % shape.y),
           static_cast<uint32_t>(index / shape.x / shape.y)}};
}

}  // namespace

Position calling_thread(const ThreadContext& context) {
  const auto* thread = static_cast<const Thread*>(context.executor);
  const uint32_t first = context.warp * kWarp + context.lane;
  return position(first + context.calling_lane, thread->block->grid().launch().block);
}

Block::Outcome Block::begin(Grid& grid, uint64_t first, uint64_t most) {
  grid_ = &grid;
  most_ = most;
  begun_ = 1;
  std::copy_n(position(first, grid.launch().grid).at, 3, index_);
  reset();
  shared_window_ = worker_.windows().acquire();
  if (!shared_window_) {
    record(nullptr, ErrorCode::LaunchOutOfResources, "no memory for the shared window");
    return end();
  }
  return run();
}

void Block::reset() {
  thread_count_ = static_cast<uint32_t>(grid_->launch().block.count());
  code_ = &grid_->code();
  const KernelCode& code = *code_;
  entry_ = code.entry;
  width_ = code.width;
  is_whole_ = code.whole_block;
  is_loop_ = is_whole_ || (code.rung == image::Rung::ThreadLoop && thread_count_ > width_);
  threads_meet_ = width_ == 1 && code.rung != image::Rung::ThreadLoop;
  if (code.needs_places) make_places();
  const uint32_t units = is_loop_ ? 1 : (thread_count_ + width_ - 1) / width_;
  alive_ = is_loop_ ? 1 : thread_count_;
  at_grid_ = 0;
  for (uint32_t used = std::exchange(used_barriers_, 0); used; used &= used - 1) {
    const auto id = static_cast<uint32_t>(std::countr_zero(used));
    barriers_[id].reset();
    waiting_[id] = {};
  }
  loop_next_ = is_whole_ ? thread_count_ : 0;
  failed_ = false;
  grid_phase_.reset();
  failure_.reset();
  threads_.resize(units);
  if (ring_.size() < units) ring_.resize(units);
  if (threads_meet_) {
    warps_.resize((alive_ + kWarp - 1) / kWarp);
    for (uint32_t i = 0; i < warps_.size(); ++i) warps_[i].reset(first_lanes(alive_ - kWarp * i));
  }
  ring_begin_ = ring_size_ = 0;
  for (uint32_t i = 0; i < units; ++i) {
    Thread& thread = threads_[i];
    thread.block = this;
    thread.index = i * width_;
    thread.count = is_loop_ ? 1 : std::min(width_, thread_count_ - thread.index);
    thread.state = ThreadState::Fresh;
    push(thread);
  }
}

void Block::make_places() {
  const Dim3& shape = grid_->launch().block;
  if (shape == places_shape_) return;
  places_.assign(3 * kMostThreads, 0);
  for (uint32_t i = 0; i < thread_count_; ++i) {
    const Position thread = position(i, shape);
    for (uint32_t d = 0; d < 3; ++d) places_[d * kMostThreads + i] = thread.at[d];
  }
  places_shape_ = shape;
}

/// Makes the context that of the thread, or of the warp that begins with it.
void Block::place(ThreadContext& context, uint32_t index) const {
  const Position thread = position(index, grid_->launch().block);
  std::copy_n(thread.at, 3, context.tid);
  context.lane = index % kWarp;
  context.warp = index / kWarp;
  context.fuel = kFuel;
  context.last_error = context.calling_lane = 0;
  context.lanes = first_lanes(thread_count_ - index);
  show_places(context, index);
}

void Block::show_places(ThreadContext& context, uint32_t index) const {
  for (uint32_t d = 0; d < 3; ++d) context.places[d] = places_.empty() ? nullptr : &places_[d * kMostThreads + index];
}

Block::Outcome Block::run() {
  progressed_ = false;
  if (grid_->failed()) return end();
  if (grid_phase_) {
    if (grid_->grid_phase() == *grid_phase_) return Outcome::Waiting;
    leave_grid_sync();
  }
  const FloatingMode mode(code_->flush_denormals);
  return take_turns();
}

Block::Outcome Block::take_turns() {
  polls_in_a_row_ = 0;
  for (;;) {
    if (ring_size_ == 0) {
      const Outcome outcome = nobody_runs();
      if (outcome == Outcome::Over || grid_phase_) return outcome;
      continue;
    }
    run_thread(pop());
    if (failed_) return end();
    if (current_->state != ThreadState::Polling) {
      progressed_ = true;
      polls_in_a_row_ = 0;
    } else if (grid_->failed()) {
      return end();
    } else if (++polls_in_a_row_ >= ring_size_) {
      return Outcome::Waiting;
    }
  }
}

void Block::run_thread(Thread& thread) {
  current_ = &thread;
  if (thread.state == ThreadState::Fresh && !start_thread(thread)) return;
  if (threads_meet_) warp_of(thread).resume(lane_of(thread));
  const FibreRunner::Ending ending = worker_.fibres().run(thread.fibre);
  Thread& last = *current_;
  switch (ending) {
    case FibreRunner::Ending::Suspended:
      return;
    case FibreRunner::Ending::Faulted: {
      if (is_whole_) follow();
      const CapturedFault& fault = worker_.fibres().fault();
      record(&last, fault.code(), fault.text(), width_ == 1);
      return;
    }
    case FibreRunner::Ending::Ended:
      if (failure_ && is_whole_) follow();
      if (failure_)
        record(&last, failure_->code, failure_->message);
      else
        thread_over(last);
      return;
  }
}

/// The running thread, which waits or is in the ring, gives its turn to the next that can go on; returns when it is
/// resumed. Goes from one stack to the other: by way of the worker's own it would take twice as long.
void Block::give_turn(Thread& thread) {
  if (ring_size_ != 0) {
    Thread& next = threads_[ring_[ring_begin_]];
    if (next.state == ThreadState::Ready) {
      pop();
      progressed_ = true;
      polls_in_a_row_ = 0;
      if (&next == &thread) return;
      current_ = &next;
      worker_.fibres().switch_to(next.fibre);
      return;
    }
  }
  thread.fibre.suspend();
}

bool Block::start_thread(Thread& thread) {
  Stack* stack = worker_.stacks().acquire();
  if (!stack) {
    record(nullptr, ErrorCode::LaunchOutOfResources,
           "no memory for the stacks of its threads; raise vm.max_map_count or launch smaller blocks");
    return false;
  }
  std::byte* place_of_context = stack->top - (sizeof(ThreadContext) + 63) / 64 * 64;
  thread.context = new (place_of_context) ThreadContext{};
  fill_context(*thread.context, thread.index);
  thread.context->executor = &thread;
  start_fibre(thread, stack);
  return true;
}

void Block::start_fibre(Thread& thread, Stack* stack) {
  thread.state = ThreadState::Ready;
  thread.fibre.start(stack, reinterpret_cast<std::byte*>(thread.context),
                     is_whole_  ? &blocks_entry
                     : is_loop_ ? &loop_entry
                                : &thread_entry,
                     &thread);
}

void Block::fill_context(ThreadContext& context, uint32_t index) const {
  const hal::Launch& launch = grid_->launch();
  context.services = &services();
  context.module_data = grid_->module_data();
  context.shared_window = shared_window_;
  std::copy_n(index_, 3, context.ctaid);
  context.ntid[0] = launch.block.x;
  context.ntid[1] = launch.block.y;
  context.ntid[2] = launch.block.z;
  context.nctaid[0] = launch.grid.x;
  context.nctaid[1] = launch.grid.y;
  context.nctaid[2] = launch.grid.z;
  const uint32_t static_bytes = grid_->info().static_shared_bytes;
  context.dynamic_shared_offset =
      (static_bytes + kDynamicSharedAlignment - 1) / kDynamicSharedAlignment * kDynamicSharedAlignment;
  context.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  context.total_shared_bytes =
      launch.dynamic_shared_bytes ? context.dynamic_shared_offset + launch.dynamic_shared_bytes : static_bytes;
  context.grid_id = grid_->id();
  place(context, index);
}

void Block::thread_entry(void* thread) {
  const auto* self = static_cast<Thread*>(thread);
  const Block& block = *self->block;
  block.entry_(self->context, block.grid_->launch().parameters.data());
}

/// Block after block.
void Block::blocks_entry(void* thread) {
  const auto* self = static_cast<Thread*>(thread);
  Block& block = *self->block;
  ThreadContext& context = *self->context;
  const std::byte* parameters = block.grid_->launch().parameters.data();
  using Clock = std::chrono::steady_clock;
  uint32_t most = kFewestBlocksACall;
  for (;;) {
    const uint64_t left = block.most_ - block.begun_ + 1;
    const bool others_follow = left > most;
    const Clock::time_point begin = others_follow ? Clock::now() : Clock::time_point{};
    block.asked_ = context.blocks = static_cast<uint32_t>(std::min<uint64_t>(left, most));
    context.blocks_left = 0;
    std::copy_n(block.index_, 3, context.ctaid);
    block.show_places(context, 0);
    block.entry_(&context, parameters);
    block.follow();
    if (block.begun_ == block.most_ || block.grid_->failed()) return;
    ++block.begun_;
    block.go_on();
    if (others_follow && most < kMostBlocksACall && Clock::now() - begin < kShortCall) most *= 2;
  }
}

/// To the block at which code that runs one after the other is.
void Block::follow() {
  const ThreadContext& context = *threads_.front().context;
  begun_ += asked_ - context.blocks;
  asked_ = context.blocks;
  std::copy_n(context.ctaid, 3, index_);
}

/// To the next block of the grid.
void Block::go_on() {
  const Dim3& grid = grid_->launch().grid;
  if (++index_[0] < grid.x) return;
  index_[0] = 0;
  if (++index_[1] < grid.y) return;
  index_[1] = 0;
  ++index_[2];
}

/// All threads of the block, or those that are left after one has exited.
void Block::loop_entry(void* thread) {
  const auto* self = static_cast<Thread*>(thread);
  Block& block = *self->block;
  const std::byte* parameters = block.grid_->launch().parameters.data();
  while (block.loop_next_ < block.thread_count_) {
    block.place(*self->context, block.loop_next_);
    block.loop_next_ += block.width_;
    block.entry_(self->context, parameters);
  }
}

void Block::thread_over(Thread& thread) {
  if (is_loop_ && loop_next_ < thread_count_) {
    start_fibre(thread, thread.fibre.drop());
    push(thread);
    return;
  }
  worker_.stacks().release(thread.fibre.drop());
  thread.state = ThreadState::Exited;
  if (!threads_meet_) return keep_threads(thread, 0);
  const uint32_t warp = thread.index / kWarp;
  release(warp, warps_[warp].exit(lane_of(thread)));
  keep_threads(thread, 0);
  release(warp, warps_[warp].settle());
}

/// The others have exited; barriers that only waited for them complete.
void Block::keep_threads(Thread& thread, uint32_t count) {
  if (thread.count == count) return;
  alive_ -= thread.count - count;
  thread.count = count;
  for (uint32_t used = used_barriers_; used; used &= used - 1) {
    const auto id = static_cast<uint32_t>(std::countr_zero(used));
    if (barriers_[id].complete(alive_)) complete_barrier(id);
  }
}

// -- the ring --

void Block::push(Thread& thread) {
  const auto capacity = static_cast<uint32_t>(ring_.size());
  uint32_t place = ring_begin_ + ring_size_++;
  if (place >= capacity) place -= capacity;
  ring_[place] = static_cast<uint16_t>(&thread - threads_.data());
}

Thread& Block::pop() {
  Thread& thread = threads_[ring_[ring_begin_]];
  if (++ring_begin_ == ring_.size()) ring_begin_ = 0;
  --ring_size_;
  return thread;
}

void Block::make_ready(Thread& thread) {
  thread.state = ThreadState::Ready;
  if (threads_meet_) warp_of(thread).resume(lane_of(thread));
  push(thread);
}

/// Lanes of a warp that completed an operation together go on, in order.
void Block::release(uint32_t warp, uint32_t lanes) {
  for (; lanes; lanes &= lanes - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
    Thread& thread = threads_[warp * kWarp + lane];
    thread.result = warps_[warp].result(lane);
    make_ready(thread);
  }
}

/// The running thread gives its turn up in the given state; returns when it is resumed.
void Block::stop(Thread& thread, ThreadState state) {
  thread.state = state;
  if (threads_meet_) {
    const uint32_t warp = thread.index / kWarp;
    warps_[warp].stop(lane_of(thread));
    release(warp, warps_[warp].settle());
  }
  if (state == ThreadState::Polling)
    thread.fibre.suspend();
  else
    give_turn(thread);
}

// -- services --

void Block::require_fibres(Thread& thread, const char* what) {
  if (!threads_meet_ && width_ == 1)  // meet() says more of threads that run in step
    fail(thread, ErrorCode::LaunchFailed, formatted("{} in a kernel compiled without synchronisation", what));
}

void Block::barrier(Thread& thread, uint32_t id, uint32_t count, uint32_t threads) {
  keep_threads(thread, threads);
  barriers_[id].arrive(count, threads);
  used_barriers_ |= 1u << id;
  Queue& queue = waiting_[id];
  thread.next = nullptr;
  (queue.last ? queue.last->next : queue.first) = &thread;
  queue.last = &thread;
  thread.barrier = id;
  if (!barriers_[id].complete(alive_)) return stop(thread, ThreadState::AtBarrier);
  complete_barrier(id);
  give_turn(thread);
}

uint32_t Block::barrier_reduce(Thread& thread, uint32_t id, uint32_t count, uint32_t op, uint32_t votes,
                               uint32_t threads) {
  barriers_[id].vote(votes, threads);
  thread.operation = static_cast<image::BarrierOp>(op);
  barrier(thread, id, count, threads);
  return static_cast<uint32_t>(thread.result);
}

void Block::barrier_arrive(Thread& thread, uint32_t id, uint32_t count, uint32_t threads) {
  keep_threads(thread, threads);
  barriers_[id].arrive(count, threads);
  used_barriers_ |= 1u << id;
  if (barriers_[id].complete(alive_)) complete_barrier(id);
}

void Block::complete_barrier(uint32_t id) {
  const Barrier barrier = barriers_[id];
  barriers_[id].reset();
  used_barriers_ &= ~(1u << id);
  Thread* thread = waiting_[id].first;
  waiting_[id] = {};
  while (thread) {
    Thread* next = thread->next;
    thread->result = barrier.reduction(thread->operation);
    make_ready(*thread);
    thread = next;
  }
}

uint64_t Block::meet(Thread& thread, const WarpRequest& request) {
  if (width_ > 1)
    fail(thread, ErrorCode::LaunchFailed,
         formatted("deadlock: a warp operation waits for lanes {:#010x}, which went another way", request.mask));
  const uint32_t warp = thread.index / kWarp;
  const uint32_t released = warps_[warp].meet(lane_of(thread), request);
  if (released == bit_of(thread)) return warps_[warp].result(lane_of(thread));
  if (!released) {
    stop(thread, ThreadState::AtWarp);
  } else {
    release(warp, released);
    give_turn(thread);
  }
  return thread.result;
}

uint32_t Block::active_mask(Thread& thread, uint64_t site) {
  if (!threads_meet_) return 1u << thread.context->lane;
  warp_of(thread).meet_at(lane_of(thread), site);
  stop(thread, ThreadState::AtSite);
  return static_cast<uint32_t>(thread.result);
}

void Block::poll(Thread& thread) {
  thread.context->fuel = kFuel;
  push(thread);
  stop(thread, ThreadState::Polling);
}

void Block::grid_sync(Thread& thread, uint32_t threads) {
  if (!grid_->launch().cooperative)
    fail(thread, ErrorCode::LaunchFailed, "a grid-wide barrier needs a cooperative launch");
  keep_threads(thread, threads);
  at_grid_ += threads;
  stop(thread, ThreadState::AtGrid);
}

void Block::leave_grid_sync() {
  grid_phase_.reset();
  at_grid_ = 0;
  for (Thread& thread : threads_)
    if (thread.state == ThreadState::AtGrid) make_ready(thread);
}

void Block::exit(Thread& thread) {
  thread.fibre.end();
}

void Block::fail(Thread& thread, ErrorCode code, std::string text) {
  failure_ = Error{code, std::move(text)};
  thread.fibre.end();
}

// -- endings --

Block::Outcome Block::nobody_runs() {
  if (alive_ == 0) return end();
  if (at_grid_ == alive_) {
    const uint64_t phase = grid_->arrive_at_grid_barrier();
    grid_phase_ = phase;
    if (grid_->grid_phase() != phase) leave_grid_sync();
    return Outcome::Waiting;
  }
  record(nullptr, ErrorCode::LaunchFailed, "deadlock: " + whereabouts());
  return end();
}

Block::Outcome Block::end() {
  for (Thread& thread : threads_)
    if (Stack* stack = thread.fibre.drop()) worker_.stacks().release(stack);
  if (shared_window_) worker_.windows().release(shared_window_);
  shared_window_ = nullptr;
  stream_.reset();  // what is in it goes on
  if (grid_->launch().cooperative) grid_->leave_grid_barrier();
  return Outcome::Over;
}

void Block::record(const Thread* thread, ErrorCode code, std::string_view text, bool is_known) {
  failed_ = true;
  Error error{code, {}};
  try {
    error.message = formatted("{}: {}{}", place_of(thread, is_known), text,
                              is_known ? "" : "; CUPOLA_RUNG=threads names the thread");
  } catch (const std::bad_alloc&) {  // the code alone, then
  }
  grid_->domain().faults.record(std::move(error));
}

std::string Block::place_of(const Thread* thread, bool is_known) const {
  std::string where =
      formatted("kernel {}, block ({},{},{})", demangled(grid_->info().name), index_[0], index_[1], index_[2]);
  if (!thread) return where;
  if (is_known) {
    const Position caller = calling_thread(*thread->context);
    where += formatted(", thread ({},{},{})", caller.at[0], caller.at[1], caller.at[2]);
  } else {
    const uint32_t first = kWarp * thread->context->warp;
    const Position place = position(first, grid_->launch().block);
    where += formatted(", one of the {} threads from ({},{},{})", std::min(kWarp, thread_count_ - first), place.at[0],
                       place.at[1], place.at[2]);
  }
  return where;
}

std::string Block::whereabouts() const {
  struct Group {
    std::string where;
    const Thread* first;
    uint32_t count;
  };
  std::vector<Group> groups;
  for (const Thread& thread : threads_) {
    if (thread.state == ThreadState::Exited) continue;
    std::string where = "the grid-wide barrier";
    if (thread.state == ThreadState::AtBarrier) where = formatted("barrier {}", thread.barrier);
    if (thread.state == ThreadState::AtWarp) {
      const WarpRequest& request = warp_of(thread).request(lane_of(thread));
      where = formatted("a {} of lanes {:#010x} of warp {}", name_of(request.op), request.mask, thread.index / kWarp);
    }
    auto group = std::ranges::find(groups, where, &Group::where);
    if (group == groups.end())
      groups.push_back({where, &thread, thread.count});
    else
      group->count += thread.count;
  }
  std::string text;
  for (size_t i = 0; i < groups.size() && i < 8; ++i) {
    const uint32_t* tid = groups[i].first->context->tid;
    if (i) text += "; ";
    text += formatted("thread ({},{},{})", tid[0], tid[1], tid[2]);
    if (groups[i].count > 1) text += formatted(" and {} more", groups[i].count - 1);
    text += formatted(" {} at {}", groups[i].count > 1 ? "wait" : "waits", groups[i].where);
  }
  if (groups.size() > 8) text += formatted("; and {} more groups", groups.size() - 8);
  return text;
}

}  // namespace cupola::cpu
