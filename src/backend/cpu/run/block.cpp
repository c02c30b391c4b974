#include "backend/cpu/run/block.h"

#include <algorithm>
#include <bit>
#include <new>

#include "backend/cpu/run/cpu_domain.h"
#include "backend/cpu/run/services.h"
#include "backend/cpu/run/worker.h"
#include "base/format.h"

// How a block runs. Its threads are fibres of one worker. The ring holds those that may run; each gets its turn until
// it waits, polls or is over. A thread that completes what others wait for puts them and itself at the ring's end, in
// thread order, so that phases between barriers go through the threads in order. When the ring holds pollers only and a
// whole round brought nothing, or all threads wait for the grid, the block lets its worker do something else. When the
// ring is empty and threads are left, they wait for each other for ever: that is a fault that says who waits where.

namespace cupola::cpu {
namespace {

using image::cpu::kDynamicSharedAlignment;
using image::cpu::ThreadContext;

// Turns of a polling loop between two calls of the poll service.
constexpr int32_t kFuel = 128;

constexpr uint32_t lane_of(const Thread& thread) {
  return thread.index % 32;
}
constexpr uint32_t bit_of(const Thread& thread) {
  return 1u << lane_of(thread);
}

struct Position {
  uint32_t at[3];
};

Position position(uint64_t index, const Dim3& shape) {
  return {{static_cast<uint32_t>(index % shape.x), static_cast<uint32_t>(index / shape.x % shape.y),
           static_cast<uint32_t>(index / shape.x / shape.y)}};
}

void place(ThreadContext& context, uint32_t index, const Dim3& shape) {
  const Position thread = position(index, shape);
  std::copy_n(thread.at, 3, context.tid);
  context.lane = index % 32;
  context.warp = index / 32;
  context.fuel = kFuel;
  context.last_error = 0;
}

}  // namespace

Block::Outcome Block::begin(Grid& grid, uint64_t index) {
  grid_ = &grid;
  std::copy_n(position(index, grid.launch().grid).at, 3, index_);
  shared_window_ = worker_.windows().acquire();
  reset();
  if (!shared_window_) {
    record(nullptr, ErrorCode::LaunchOutOfResources, "no memory for the shared window");
    return end();
  }
  return run();
}

void Block::reset() {
  thread_count_ = static_cast<uint32_t>(grid_->launch().block.count());
  is_loop_ = grid_->code().rung == image::Rung::ThreadLoop && thread_count_ > 1;
  alive_ = is_loop_ ? 1 : thread_count_;
  at_grid_ = loop_next_ = used_barriers_ = 0;
  failed_ = false;
  grid_phase_.reset();
  failure_.reset();
  if (threads_.size() < alive_) threads_.resize(alive_);
  if (ring_.size() < alive_) ring_.resize(alive_);
  warps_.resize((alive_ + 31) / 32);
  for (uint32_t i = 0; i < warps_.size(); ++i) warps_[i].reset(~0u >> (32 - std::min(32u, alive_ - 32 * i)));
  for (Barrier& barrier : barriers_) barrier.reset();
  for (Queue& queue : waiting_) queue = {};
  ring_begin_ = ring_size_ = 0;
  for (uint32_t i = 0; i < alive_; ++i) {
    threads_[i].block = this;
    threads_[i].index = i;
    threads_[i].state = ThreadState::Fresh;
    push(threads_[i]);
  }
}

Block::Outcome Block::run() {
  progressed_ = false;
  if (grid_->failed()) return end();
  if (grid_phase_) {
    if (grid_->grid_phase() == *grid_phase_) return Outcome::Waiting;
    leave_grid_sync();
  }
  const FloatingMode mode(grid_->code().flush_denormals);
  return take_turns();
}

Block::Outcome Block::take_turns() {
  uint32_t polls_in_a_row = 0;
  for (;;) {
    if (ring_size_ == 0) {
      const Outcome outcome = nobody_runs();
      if (outcome == Outcome::Over || grid_phase_) return outcome;
      continue;
    }
    Thread& thread = pop();
    run_thread(thread);
    if (failed_) return end();
    if (thread.state != ThreadState::Polling) {
      progressed_ = true;
      polls_in_a_row = 0;
    } else if (grid_->failed()) {
      return end();
    } else if (++polls_in_a_row >= ring_size_) {
      return Outcome::Waiting;
    }
  }
}

void Block::run_thread(Thread& thread) {
  if (thread.state == ThreadState::Fresh && !start_thread(thread)) return;
  warp_of(thread).resume(lane_of(thread));
  switch (worker_.fibres().run(thread.fibre)) {
    case FibreRunner::Ending::Suspended:
      return;
    case FibreRunner::Ending::Faulted: {
      const CapturedFault& fault = worker_.fibres().fault();
      record(&thread, fault.code(), fault.text());
      return;
    }
    case FibreRunner::Ending::Ended:
      if (failure_)
        record(&thread, failure_->code, failure_->message);
      else
        thread_over(thread);
      return;
  }
}

bool Block::start_thread(Thread& thread) {
  Stack* stack = worker_.stacks().acquire();
  if (!stack) {
    record(nullptr, ErrorCode::LaunchOutOfResources,
           formatted("no memory for the stack of thread {}; raise vm.max_map_count or launch smaller blocks",
                     thread.index));
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
  thread.fibre.start(stack, reinterpret_cast<std::byte*>(thread.context), is_loop_ ? &loop_entry : &thread_entry,
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
  place(context, index, launch.block);
}

void Block::thread_entry(void* thread) {
  const auto* self = static_cast<Thread*>(thread);
  const Grid& grid = *self->block->grid_;
  grid.code().entry(self->context, grid.launch().parameters.data());
}

/// All threads of the block, or those that are left after one has exited.
void Block::loop_entry(void* thread) {
  const auto* self = static_cast<Thread*>(thread);
  Block& block = *self->block;
  const image::cpu::KernelEntry entry = block.grid_->code().entry;
  const std::byte* parameters = block.grid_->launch().parameters.data();
  const Dim3& shape = block.grid_->launch().block;
  while (block.loop_next_ < block.thread_count_) {
    place(*self->context, block.loop_next_++, shape);
    entry(self->context, parameters);
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
  --alive_;
  const uint32_t warp = thread.index / 32;
  release(warp, warps_[warp].exit(lane_of(thread)));
  for (uint32_t used = used_barriers_; used; used &= used - 1) {
    const auto id = static_cast<uint32_t>(std::countr_zero(used));
    if (barriers_[id].complete(alive_)) complete_barrier(id);
  }
  release(warp, warps_[warp].settle());
}

// -- the ring --

void Block::push(Thread& thread) {
  const auto capacity = static_cast<uint32_t>(ring_.size());
  uint32_t place = ring_begin_ + ring_size_++;
  if (place >= capacity) place -= capacity;
  ring_[place] = static_cast<uint16_t>(thread.index);
}

Thread& Block::pop() {
  Thread& thread = threads_[ring_[ring_begin_]];
  if (++ring_begin_ == ring_.size()) ring_begin_ = 0;
  --ring_size_;
  return thread;
}

void Block::make_ready(Thread& thread) {
  thread.state = ThreadState::Ready;
  warp_of(thread).resume(lane_of(thread));
  push(thread);
}

/// Lanes of a warp that completed an operation together go on, in order.
void Block::release(uint32_t warp, uint32_t lanes) {
  for (; lanes; lanes &= lanes - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
    Thread& thread = threads_[warp * 32 + lane];
    thread.result = warps_[warp].result(lane);
    make_ready(thread);
  }
}

/// The running thread gives its turn up in the given state; returns when it is resumed.
void Block::stop(Thread& thread, ThreadState state) {
  thread.state = state;
  const uint32_t warp = thread.index / 32;
  warps_[warp].stop(lane_of(thread));
  release(warp, warps_[warp].settle());
  thread.fibre.suspend();
}

// -- services --

void Block::require_fibres(Thread& thread, const char* what) {
  if (is_loop_)
    fail(thread, ErrorCode::LaunchFailed, formatted("{} in a kernel compiled without synchronisation", what));
}

void Block::barrier(Thread& thread, uint32_t id, uint32_t count) {
  barriers_[id].arrive(count);
  used_barriers_ |= 1u << id;
  Queue& queue = waiting_[id];
  thread.next = nullptr;
  (queue.last ? queue.last->next : queue.first) = &thread;
  queue.last = &thread;
  thread.barrier = id;
  if (!barriers_[id].complete(alive_)) return stop(thread, ThreadState::AtBarrier);
  complete_barrier(id);
  thread.fibre.suspend();
}

uint32_t Block::barrier_reduce(Thread& thread, uint32_t id, uint32_t count, uint32_t op, bool predicate) {
  barriers_[id].vote(predicate);
  thread.operation = op;
  barrier(thread, id, count);
  return static_cast<uint32_t>(thread.result);
}

void Block::barrier_arrive(Thread&, uint32_t id, uint32_t count) {
  barriers_[id].arrive(count);
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
  const uint32_t warp = thread.index / 32;
  const uint32_t released = warps_[warp].meet(lane_of(thread), request);
  if (released == bit_of(thread)) return warps_[warp].result(lane_of(thread));
  if (!released) {
    stop(thread, ThreadState::AtWarp);
  } else {
    release(warp, released);
    thread.fibre.suspend();
  }
  return thread.result;
}

uint32_t Block::active_mask(Thread& thread, uint64_t site) {
  if (is_loop_) return 1u << thread.context->lane;
  warp_of(thread).meet_at(lane_of(thread), site);
  stop(thread, ThreadState::AtSite);
  return static_cast<uint32_t>(thread.result);
}

void Block::poll(Thread& thread) {
  thread.context->fuel = kFuel;
  push(thread);
  stop(thread, ThreadState::Polling);
}

void Block::grid_sync(Thread& thread) {
  if (!grid_->launch().cooperative)
    fail(thread, ErrorCode::LaunchFailed, "a grid-wide barrier needs a cooperative launch");
  ++at_grid_;
  stop(thread, ThreadState::AtGrid);
}

void Block::leave_grid_sync() {
  grid_phase_.reset();
  at_grid_ = 0;
  for (uint32_t i = 0; i < thread_count_; ++i)
    if (threads_[i].state == ThreadState::AtGrid) make_ready(threads_[i]);
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
  for (uint32_t i = 0; i < (is_loop_ ? 1 : thread_count_); ++i)
    if (Stack* stack = threads_[i].fibre.drop()) worker_.stacks().release(stack);
  if (shared_window_) worker_.windows().release(shared_window_);
  shared_window_ = nullptr;
  stream_.reset();  // what is in it goes on
  if (grid_->launch().cooperative) grid_->leave_grid_barrier();
  return Outcome::Over;
}

void Block::record(const Thread* thread, ErrorCode code, std::string_view text) {
  failed_ = true;
  Error error{code, {}};
  try {
    error.message = formatted("{}: {}", place_of(thread), text);
  } catch (const std::bad_alloc&) {  // the code alone, then
  }
  grid_->domain().faults.record(std::move(error));
}

std::string Block::place_of(const Thread* thread) const {
  std::string where = formatted("kernel {}, block ({},{},{})", grid_->info().name, index_[0], index_[1], index_[2]);
  if (thread) {
    const uint32_t* tid = thread->context->tid;
    where += formatted(", thread ({},{},{})", tid[0], tid[1], tid[2]);
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
  for (uint32_t i = 0; i < thread_count_; ++i) {
    const Thread& thread = threads_[i];
    if (thread.state == ThreadState::Exited) continue;
    std::string where = "the grid-wide barrier";
    if (thread.state == ThreadState::AtBarrier) where = formatted("barrier {}", thread.barrier);
    if (thread.state == ThreadState::AtWarp) {
      const WarpRequest& request = warps_[i / 32].request(lane_of(thread));
      where = formatted("a {} of lanes {:#010x} of warp {}", name_of(request.op), request.mask, i / 32);
    }
    auto group = std::ranges::find(groups, where, &Group::where);
    if (group == groups.end())
      groups.push_back({where, &thread, 1});
    else
      ++group->count;
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
