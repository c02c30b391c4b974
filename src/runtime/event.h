#pragma once

#include <memory>
#include <optional>

#include "base/mutex.h"
#include "runtime/capture.h"
#include "runtime/stream.h"

namespace cupola::runtime {

/// A point in a stream that can be waited for, asked about and timed. Any thread.
class Event {
 public:
  Event(Context& context, bool timing) : context_(context), timing_(timing) {}

  Context& context() const { return context_; }

  bool timing() const { return timing_; }

  /// In a captured stream the event keeps the stream's frontier. Error: StreamCaptureInvalidated.
  Result<> record(Stream& stream);

  /// It happens at a point that the caller has put into a queue; `nanoseconds` is null without timing.
  void recorded(Ticket ticket, std::shared_ptr<std::atomic<uint64_t>> nanoseconds);

  /// Where it was recorded last; a reached one when it never was.
  Ticket ticket() const {
    Lock lock(mutex_);
    return recording_.ticket;
  }

  /// Holds `stream` back until the event, as recorded last, has happened. Nothing when it was never recorded. When it
  /// was recorded in a captured stream, `stream` joins that capture. Errors: StreamCaptureMerge,
  /// StreamCaptureIsolation, StreamCaptureImplicit, StreamCaptureInvalidated, CapturedEvent.
  Result<> hold(const std::shared_ptr<Stream>& stream) const;

  /// Error: CapturedEvent when it was recorded last in a captured stream, which invalidates the capture.
  Result<> check_not_captured() const;

  /// True also when it was never recorded, as CUDA documents.
  bool happened() const { return ticket().reached(); }
  Result<> wait() const { return ticket().wait(); }

  /// Milliseconds between two events. Errors: InvalidHandle when one was never recorded or was made without timing;
  /// NotReady when one has not happened yet.
  static Result<float> elapsed(const Event& start, const Event& end);

 private:
  struct Recording {
    Ticket ticket;
    std::shared_ptr<std::atomic<uint64_t>> nanoseconds;
    bool captured = false;  ///< instead of both
    std::weak_ptr<Capture> capture;
    Frontier frontier;
  };
  Recording current() const {
    Lock lock(mutex_);
    return recording_;
  }

  Context& context_;
  const bool timing_;
  mutable Mutex mutex_;
  Recording recording_ GUARDED_BY(mutex_);
};

}  // namespace cupola::runtime
