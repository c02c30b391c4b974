#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "hal/queue.h"
#include "runtime/launch_attributes.h"

// Streams and the order between them, as "CUDA Driver API, Stream synchronization behavior" gives it: a command on the
// legacy default stream waits for what was submitted to every blocking stream of its context before, and later commands
// of blocking streams wait for it. Non-blocking streams take no part. The order is made of hal::Wait commands, so that
// submitting never blocks the host. The lock of a context's order is held while commands are enqueued, and never while
// they start: a command that is done at once calls what waits for it, which may use any stream.

namespace cupola::runtime {

class Capture;
class Context;
class Stream;

/// A point in a queue: reached once everything before it is done.
struct Ticket {
  std::shared_ptr<hal::Semaphore> semaphore;
  uint64_t value = 0;

  bool reached() const { return !semaphore || semaphore->value() >= value; }
  /// Blocks. Error: the context's fault.
  Result<> wait() const { return semaphore ? semaphore->wait(value) : Result<>{}; }
  /// Blocks until reached even if the context has a fault: before memory goes that commands in flight may touch.
  void drain() const;
};

/// The streams of one context and the order between them. Any thread.
class StreamOrder {
 public:
  /// The last command of each stream, destroyed ones included, that is not done.
  std::vector<Ticket> unfinished();

  /// Waits for all of them, as Ticket::drain does.
  void drain();

  /// Everything that is submitted from now on, to any stream, waits for the ticket.
  void hold(Ticket ticket);

  /// True while a stream is captured that the legacy stream would wait for.
  bool captures_blocking() const { return captured_blocking_.load(std::memory_order_acquire) > 0; }
  /// For a call that would wait for streams, which captured ones cannot have: the captures of all streams, or of those
  /// that the legacy stream waits for, are invalidated. True when there were any.
  bool invalidate_captures(bool only_blocking);

 private:
  friend class Stream;
  Mutex mutex_;
  std::vector<Stream*> streams_ GUARDED_BY(mutex_);
  Stream* legacy_ GUARDED_BY(mutex_) = nullptr;
  std::atomic<int> captured_{0}, captured_blocking_{0};              ///< streams that are captured
  std::vector<std::pair<Ticket, bool>> retired_ GUARDED_BY(mutex_);  ///< of destroyed streams; true: blocking
  uint64_t holds_ GUARDED_BY(mutex_) = 0;                            ///< how often hold() was called
  std::vector<std::pair<uint64_t, Ticket>> held_
      GUARDED_BY(mutex_);  ///< tickets not reached, by the number of the call
};

/// A queue of the device, and its place in the order of its context's streams. Commands run in the order in which calls
/// append them, of whichever threads. Any thread. What appends commands also starts them, all but enqueue_between():
/// what is done at once completes on this thread, and calls what waits for it. So the caller holds no lock that such a
/// function may take. A stream that ends lets what was submitted run on, and its order goes on waiting for that.
class Stream {
 public:
  enum class Kind { Legacy, PerThread, Created };

  static Result<std::shared_ptr<Stream>> make(Context& context, Kind kind, unsigned flags, int priority);
  ~Stream();

  /// Appends a command, after what the order above asks for. The ticket is reached when it is done.
  Ticket submit(hal::Command command) EXCLUDES(order_->mutex_);

  /// The same where nobody asks when it is done.
  void post(hal::Command&& command) EXCLUDES(order_->mutex_);

  /// Appends several commands with nothing in between. `place` is called with the ticket of what comes before and
  /// returns them: the first has the number after the ticket's. It may enqueue to other queues, and start none.
  Ticket submit_between(const std::function<std::vector<hal::Command>(const Ticket& before)>& place)
      EXCLUDES(order_->mutex_) {
    Ticket ticket = enqueue_between(place);
    start();
    return ticket;
  }
  /// The same for a caller that holds a lock: start() must follow, without it.
  Ticket enqueue_between(const std::function<std::vector<hal::Command>(const Ticket& before)>& place)
      EXCLUDES(order_->mutex_);
  void start() { queue_->start(); }

  /// What is submitted from now on waits for the ticket.
  void wait(const Ticket& ticket) EXCLUDES(order_->mutex_);

  /// A ticket for everything that was submitted so far, and that the legacy stream would wait for.
  Ticket mark() EXCLUDES(order_->mutex_);

  /// True when mark() would be reached; submits nothing.
  bool idle() EXCLUDES(order_->mutex_);

  /// What the stream is captured into; null when it is not. Commands become nodes then; nothing may be submitted.
  std::shared_ptr<Capture> capture() const;
  /// For Capture.
  void set_capture(std::shared_ptr<Capture> capture);
  /// Error: StreamCaptureImplicit for the legacy stream while it would have to wait for a captured stream; invalidates
  /// that capture.
  Result<> check_use();
  /// For calls that have no node. Errors: also StreamCaptureUnsupported, which invalidates the capture.
  Result<> check_not_captured();

  Context& context() const { return context_; }
  Kind kind() const { return kind_; }
  unsigned flags() const { return flags_; }
  bool blocking() const { return blocking_; }
  uint64_t id() const { return id_; }

  Mutex attributes_mutex;
  LaunchAttributes attributes GUARDED_BY(attributes_mutex);  ///< hints, kept for whoever asks

 private:
  friend class StreamOrder;
  Stream(Context& context, Kind kind, unsigned flags, std::unique_ptr<hal::Queue> queue);
  void append(hal::Command&& command) REQUIRES(order_->mutex_);
  void wait_for(const Ticket& other) REQUIRES(order_->mutex_);
  void follow_others() REQUIRES(order_->mutex_);
  // These ask a stream of the order whose lock is held. The analysis cannot tell that two streams have one order.
  uint64_t submitted() const NO_THREAD_SAFETY_ANALYSIS { return submitted_; }
  Ticket last() const { return {queue_->progress(), submitted()}; }
  bool is_done() const { return queue_->progress()->value() >= submitted(); }

  Context& context_;
  const std::shared_ptr<StreamOrder> order_;
  const Kind kind_;
  const unsigned flags_;
  const bool blocking_;
  const uint64_t id_;
  const std::unique_ptr<hal::Queue> queue_;
  std::atomic<bool> is_captured_{false};
  mutable Mutex capture_mutex_;
  std::shared_ptr<Capture> capture_ GUARDED_BY(capture_mutex_);
  uint64_t submitted_ GUARDED_BY(order_->mutex_) = 0;    ///< the last command's number
  uint64_t legacy_seen_ GUARDED_BY(order_->mutex_) = 0;  ///< what of the legacy stream this one already waits for
  uint64_t holds_seen_ GUARDED_BY(order_->mutex_) = 0;   ///< which of the order's holds this one already waits for
};

}  // namespace cupola::runtime
