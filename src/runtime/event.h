#pragma once

#include <memory>
#include <optional>

#include "base/mutex.h"
#include "runtime/capture.h"
#include "runtime/shared_event.h"
#include "runtime/stream.h"

namespace cupola::runtime {

/// A point in a stream that can be waited for, asked about and timed. Any thread.
class Event {
 public:
  /// `shared` is null but for interprocess events, which have no time.
  Event(Context& context, bool timing, std::shared_ptr<SharedEvent> shared = nullptr)
      : context_(context), timing_(timing), shared_(std::move(shared)) {}

  Context& context() const { return context_; }

  bool timing() const { return timing_; }
  const std::shared_ptr<SharedEvent>& shared() const { return shared_; }

  /// In a captured stream the event keeps the stream's frontier. Error: StreamCaptureInvalidated.
  Result<> record(Stream& stream);

  /// It happens at a point that the caller has put into a queue; `nanoseconds` is null without timing.
  void recorded(Ticket ticket, std::shared_ptr<std::atomic<uint64_t>> nanoseconds);

  /// Everything that the event's context was given so far. Error: the context's fault.
  Result<> record_context();

  /// Where it was recorded last; a reached one when it never was. Another process's recording is given a semaphore of
  /// this one's.
  Ticket ticket() const;

  /// Holds `stream` back until the event, as recorded last, has happened. Nothing when it was never recorded. When it
  /// was recorded in a captured stream, `stream` joins that capture. Errors: StreamCaptureMerge,
  /// StreamCaptureIsolation, StreamCaptureImplicit, StreamCaptureInvalidated, CapturedEvent.
  Result<> hold(const std::shared_ptr<Stream>& stream) const;

  /// Error: CapturedEvent when it was recorded last in a captured stream, which invalidates the capture.
  Result<> check_not_captured() const;

  /// True also when it was never recorded, as CUDA documents.
  bool happened() const;
  Result<> wait() const { return ticket().wait(); }

  /// Milliseconds between two events. Errors: InvalidHandle when one was never recorded or was made without timing;
  /// NotReady when one has not happened yet.
  static Result<float> elapsed(const Event& start, const Event& end);

 private:
  struct Recording {
    Ticket ticket;
    std::shared_ptr<std::atomic<uint64_t>> nanoseconds;
    uint32_t shared_number = 0;  ///< of an interprocess event
    bool captured = false;       ///< instead of all three
    std::weak_ptr<Capture> capture;
    Frontier frontier;
  };
  Recording current() const {
    Lock lock(mutex_);
    return recording_;
  }

  /// The recording of another process that is the last one.
  std::optional<SharedEvent::Recording> foreign() const;

  Context& context_;
  const bool timing_;
  const std::shared_ptr<SharedEvent> shared_;
  mutable Mutex mutex_;
  Recording recording_ GUARDED_BY(mutex_);
};

}  // namespace cupola::runtime
