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

/// One CUDA thread of a resident block; ThreadContext::executor points at it. On the ThreadLoop rung one of these
/// stands for all threads of the block, one after the other.
struct Thread {
  Block* block = nullptr;
  image::cpu::ThreadContext* context = nullptr;  ///< at the top of its local window, once it has begun
  Fibre fibre;
  uint32_t index = 0;  ///< within the block
  ThreadState state = ThreadState::Fresh;
  uint32_t barrier = 0;    ///< AtBarrier: which
  uint32_t operation = 0;  ///< AtBarrier: the reduction asked for
  uint64_t result = 0;
  Thread* next = nullptr;  ///< of the barrier's waiting threads
};

/// One block in execution on one worker: its threads are fibres that take turns until each waits or is over. Reused for
/// block after block. Not thread-safe; the functions under "services" are called on the block's fibres, the others on
/// the worker's own stack.
class Block {
 public:
  /// Waiting: threads poll, or wait for the grid; call run() again later.
  enum class Outcome { Over, Waiting };

  explicit Block(Worker& worker) : worker_(worker) {}

  Outcome begin(Grid& grid, uint64_t index);
  Outcome run();

  /// Whether the last begin() or run() did more than polling.
  bool progressed() const { return progressed_; }

  Grid& grid() const { return *grid_; }
  Worker& worker() const { return worker_; }

  /// The queue that launches of the block's threads share unless they name another; null until it is made.
  std::unique_ptr<CpuQueue>& stream() { return stream_; }

  // -- services --

  void barrier(Thread& thread, uint32_t id, uint32_t count);
  void barrier_arrive(Thread& thread, uint32_t id, uint32_t count);
  uint32_t barrier_reduce(Thread& thread, uint32_t id, uint32_t count, uint32_t op, bool predicate);
  uint64_t meet(Thread& thread, const WarpRequest& request);
  uint32_t active_mask(Thread& thread, uint64_t site);
  void poll(Thread& thread);
  void grid_sync(Thread& thread);
  [[noreturn]] void exit(Thread& thread);

  /// Gives the block and the grid up with the device's fault "kernel K, block B, thread T: text".
  [[noreturn]] void fail(Thread& thread, ErrorCode code, std::string text);

  /// Ends the service call with a fault unless threads of this block can meet.
  void require_fibres(Thread& thread, const char* what);

 private:
  void reset();
  bool start_thread(Thread& thread);
  void start_fibre(Thread& thread, Stack* stack);
  void fill_context(image::cpu::ThreadContext& context, uint32_t index) const;
  static void thread_entry(void* thread);
  static void loop_entry(void* thread);

  Outcome take_turns();
  void run_thread(Thread& thread);
  void thread_over(Thread& thread);
  void complete_barrier(uint32_t id);
  void leave_grid_sync();

  Warp& warp_of(const Thread& thread) { return warps_[thread.index / 32]; }
  void release(uint32_t warp, uint32_t lanes);
  void make_ready(Thread& thread);
  void push(Thread& thread);
  Thread& pop();
  void stop(Thread& thread, ThreadState state);

  Outcome nobody_runs();
  Outcome end();
  void record(const Thread* thread, ErrorCode code, std::string_view text);
  std::string place_of(const Thread* thread) const;
  std::string whereabouts() const;

  Worker& worker_;
  Grid* grid_ = nullptr;
  uint32_t index_[3] = {};
  uint32_t thread_count_ = 0;
  uint32_t alive_ = 0;
  uint32_t at_grid_ = 0;
  uint32_t loop_next_ = 0;  ///< ThreadLoop: the next thread to begin
  bool is_loop_ = false;
  bool failed_ = false;
  bool progressed_ = false;
  std::optional<uint64_t> grid_phase_;  ///< set while all threads wait for the grid
  std::optional<Error> failure_;        ///< what a service gave the block up with
  std::byte* shared_window_ = nullptr;
  std::unique_ptr<CpuQueue> stream_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  uint32_t used_barriers_ = 0;  ///< those at which a thread has arrived, as a mask
  Barrier barriers_[kBarriers];
  struct Queue {
    Thread *first = nullptr, *last = nullptr;
  };
  Queue waiting_[kBarriers];

  // The threads that may run, in turn: a ring, in which a thread is at most once.
  std::vector<uint16_t> ring_;
  uint32_t ring_begin_ = 0, ring_size_ = 0;
};

}  // namespace cupola::cpu
