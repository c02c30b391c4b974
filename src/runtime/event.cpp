#include "runtime/event.h"

namespace cupola::runtime {

Result<> Event::record(Stream& stream) {
  Recording recording;
  if (const std::shared_ptr<Capture> capture = stream.capture()) {
    TRY(recording.frontier, capture->frontier(stream));
    recording.captured = true;
    recording.capture = capture;
    Lock lock(mutex_);
    recording_ = std::move(recording);
    return {};
  }
  if (timing_) {
    recording.nanoseconds = std::make_shared<std::atomic<uint64_t>>(0);
    recording.ticket = stream.submit(hal::Timestamp{recording.nanoseconds});
  } else {
    recording.ticket = stream.mark();
  }
  recorded(std::move(recording.ticket), std::move(recording.nanoseconds));
  return {};
}

void Event::recorded(Ticket ticket, std::shared_ptr<std::atomic<uint64_t>> nanoseconds) {
  Lock lock(mutex_);
  recording_ = {};
  recording_.ticket = std::move(ticket);
  recording_.nanoseconds = std::move(nanoseconds);
}

Result<> Event::hold(const std::shared_ptr<Stream>& stream) const {
  const Recording recording = current();
  const std::shared_ptr<Capture> capture = stream->capture();
  if (!recording.captured) {
    if (capture)
      return capture->refuse(
          ErrorCode::StreamCaptureIsolation,
          "the event was not recorded in the capture: a graph cannot wait for what is outside of it, "
          "but for an event with the external flag");
    if (!recording.ticket.reached()) stream->submit(hal::Wait{recording.ticket.semaphore, recording.ticket.value});
    return {};
  }
  const std::shared_ptr<Capture> source = recording.capture.lock();
  if (!source) {
    if (capture) capture->invalidate();
    return fail(ErrorCode::CapturedEvent, "the event was recorded in a capture that is over");
  }
  if (capture && capture != source) {
    capture->invalidate();
    return source->refuse(ErrorCode::StreamCaptureMerge, "the event was recorded in another capture");
  }
  if (stream->kind() == Stream::Kind::Legacy)
    return source->refuse(ErrorCode::StreamCaptureImplicit, "the legacy default stream cannot take part in a capture");
  return source->join(stream, recording.frontier);
}

Result<> Event::check_not_captured() const {
  std::shared_ptr<Capture> capture;
  {
    Lock lock(mutex_);
    if (!recording_.captured) return {};
    capture = recording_.capture.lock();
  }
  if (capture) capture->invalidate();
  return fail(ErrorCode::CapturedEvent, "the event was recorded in a captured stream, where it never happens");
}

Result<float> Event::elapsed(const Event& start, const Event& end) {
  if (!start.timing_ || !end.timing_)
    return fail(ErrorCode::InvalidHandle, "an event made without timing has no time: create both with timing");
  TRY(start.check_not_captured());
  TRY(end.check_not_captured());
  const Recording from = start.current(), to = end.current();
  if (!from.nanoseconds || !to.nanoseconds)
    return fail(ErrorCode::InvalidHandle, "both events must have been recorded before their distance is asked for");
  if (!from.ticket.reached() || !to.ticket.reached()) return fail(ErrorCode::NotReady, "");
  const auto nanoseconds = static_cast<int64_t>(to.nanoseconds->load() - from.nanoseconds->load());
  return static_cast<float>(static_cast<double>(nanoseconds) * 1e-6);
}

}  // namespace cupola::runtime
