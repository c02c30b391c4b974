#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cpu/run/barrier.h"
#include "backend/cpu/run/cpu_queue.h"
#include "backend/cpu/run/fibre.h"
#include "backend/cpu/run/floating_mode.h"
#include "backend/cpu/run/grid.h"
#include "backend/cpu/run/warp.h"
#include "image/cpu_abi.h"

namespace cupola::cpu {

class Block;
class Worker;

/// Why a thread of a block does not run.
enum class ThreadState : uint8_t { Fresh, Ready, Polling, AtBarrier, AtWarp, AtSite, AtGrid, Exited };

/// Coordinates within a block or a grid.
struct Position {
  uint32_t at[3];
};

/// The thread for which generated code calls a service that is for one thread.
Position calling_thread(const image::cpu::ThreadContext& context);

/// One CUDA thread of a resident block, or a warp of them that run in step; ThreadContext::executor points at it. Where
/// threads never wait for each other's stacks, one of these stands for all threads of the block.
struct Thread {
  Block* block = nullptr;
  image::cpu::ThreadContext* context = nullptr;  ///< at the top of its local window, once it has begun
  Fibre fibre;
  uint32_t index = 0;  ///< within the block, of the first
  uint32_t count = 1;  ///< those that have not exited
  ThreadState state = ThreadState::Fresh;
  uint32_t barrier = 0;                                 ///< AtBarrier: which
  image::BarrierOp operation = image::BarrierOp::Popc;  ///< AtBarrier: the reduction asked for
  uint64_t result = 0;
  Thread* next = nullptr;  ///< of the barrier's waiting threads
};

/// One block in execution on one worker: its threads are fibres that take turns until each waits or is over. Code that
/// runs a whole block at a time goes through several of them on one fibre. Reused for block after block. Not
/// thread-safe; the functions under "services" are called on the block's fibres, the others on the worker's own stack.
class Block {
 public:
  /// Waiting: threads poll, or wait for the grid; call run() again later.
  enum class Outcome { Over, Waiting };

  explicit Block(Worker& worker) : worker_(worker) {}

  /// Blocks from `first` on, `most` of them at most; only the last may come to wait. May throw std::bad_alloc while
  /// none has begun.
  Outcome begin(Grid& grid, uint64_t first, uint64_t most);
  Outcome run();

  /// Blocks that the last begin() began.
  uint64_t begun() const { return begun_; }

  /// Whether the last begin() or run() did more than polling.
  bool progressed() const { return progressed_; }

  Grid& grid() const { return *grid_; }
  Worker& worker() const { return worker_; }

  /// The queue that launches of the block's threads share unless they name another; null until it is made.
  std::unique_ptr<CpuQueue>& stream() { return stream_; }

  // -- services --

  // `threads`, `votes`: see cpu_services.def.
  void barrier(Thread& thread, uint32_t id, uint32_t count, uint32_t threads);
  void barrier_arrive(Thread& thread, uint32_t id, uint32_t count, uint32_t threads);
  uint32_t barrier_reduce(Thread& thread, uint32_t id, uint32_t count, uint32_t op, uint32_t votes, uint32_t threads);
  uint64_t meet(Thread& thread, const WarpRequest& request);
  uint32_t active_mask(Thread& thread, uint64_t site);
  void poll(Thread& thread);
  void grid_sync(Thread& thread, uint32_t threads);
  [[noreturn]] void exit(Thread& thread);

  /// Gives the block and the grid up with the device's fault "kernel K, block B, thread T: text".
  [[noreturn]] void fail(Thread& thread, ErrorCode code, std::string text);

  /// Ends the service call with a fault unless threads of this block can meet.
  void require_fibres(Thread& thread, const char* what);

 private:
  void reset();
  void make_places();
  bool start_thread(Thread& thread);
  void start_fibre(Thread& thread, Stack* stack);
  void fill_context(image::cpu::ThreadContext& context, uint32_t index) const;
  void place(image::cpu::ThreadContext& context, uint32_t index) const;
  void show_places(image::cpu::ThreadContext& context, uint32_t index) const;
  static void thread_entry(void* thread);
  static void loop_entry(void* thread);
  static void blocks_entry(void* thread);
  void go_on();
  void follow();

  Outcome take_turns();
  void run_thread(Thread& thread);
  void give_turn(Thread& thread);
  void thread_over(Thread& thread);
  void keep_threads(Thread& thread, uint32_t count);
  void complete_barrier(uint32_t id);
  void leave_grid_sync();

  Warp& warp_of(const Thread& thread) { return warps_[thread.index / image::cpu::kWarp]; }
  const Warp& warp_of(const Thread& thread) const { return warps_[thread.index / image::cpu::kWarp]; }
  void release(uint32_t warp, uint32_t lanes);
  void make_ready(Thread& thread);
  void push(Thread& thread);
  Thread& pop();
  void stop(Thread& thread, ThreadState state);

  Outcome nobody_runs();
  Outcome end();
  /// Of a warp's threads it may not be known which one it was.
  void record(const Thread* thread, ErrorCode code, std::string_view text, bool is_known = true);
  std::string place_of(const Thread* thread, bool is_known) const;
  std::string whereabouts() const;

  Worker& worker_;
  Grid* grid_ = nullptr;
  const KernelCode* code_ = nullptr;  ///< what runs, also once there is other code for blocks that begin
  uint32_t index_[3] = {};
  uint64_t most_ = 0, begun_ = 0;  ///< blocks, see begin()
  uint32_t asked_ = 0;  ///< of them, those that the call which goes on was still to run when begun_ was counted
  uint32_t thread_count_ = 0;
  uint32_t alive_ = 0;
  uint32_t at_grid_ = 0;
  uint32_t loop_next_ = 0;  ///< ThreadLoop: the next thread to begin
  image::cpu::KernelEntry entry_ = nullptr;
  uint32_t width_ = 1;         ///< threads that the entry runs in step: 1 or a warp's
  bool is_loop_ = false;       ///< one fibre runs all threads
  bool is_whole_ = false;      ///< by one call of the entry
  bool threads_meet_ = false;  ///< in warps_: threads that do not run in step, of code that may wait
  bool failed_ = false;
  bool progressed_ = false;
  std::optional<uint64_t> grid_phase_;  ///< set while all threads wait for the grid
  std::optional<Error> failure_;        ///< what a service gave the block up with
  std::byte* shared_window_ = nullptr;
  std::unique_ptr<CpuQueue> stream_;
  Thread* current_ = nullptr;    ///< the last that ran
  uint32_t polls_in_a_row_ = 0;  ///< turns since a thread did more than polling
  std::vector<Thread> threads_;  ///< or warps; as many as begin
  std::vector<Warp> warps_;
  uint32_t used_barriers_ = 0;  ///< those at which a thread has arrived, as a mask; the others are as new
  Barrier barriers_[kBarriers];
  struct Queue {
    Thread *first = nullptr, *last = nullptr;
  };
  Queue waiting_[kBarriers];

  // threadIdx.x of all threads of a block of the shape, then y, then z.
  std::vector<uint32_t> places_;
  Dim3 places_shape_{0, 0, 0};

  // The threads that may run, in turn: a ring, in which a thread is at most once.
  std::vector<uint16_t> ring_;
  uint32_t ring_begin_ = 0, ring_size_ = 0;
};

}  // namespace cupola::cpu
