#include "runtime/event.h"

#include <unistd.h>

#include "base/steady_clock.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/memory_watch.h"

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
  const uint32_t number = shared_ ? shared_->record() : 0;
  {
    Lock lock(mutex_);
    recording_ = {};
    recording_.ticket = ticket;
    recording_.nanoseconds = std::move(nanoseconds);
    recording_.shared_number = number;
  }
  if (!shared_) return;
  if (ticket.reached()) return shared_->happened(number);
  ticket.semaphore->when(ticket.value, [shared = shared_, number] { shared->happened(number); });
}

Result<> Event::record_context() {
  TRY(context_.check());
  auto nanoseconds = timing_ ? std::make_shared<std::atomic<uint64_t>>(0) : nullptr;
  const auto all = context_.device().hal().create_semaphore(0);
  const std::vector<Ticket> tickets = context_.order()->unfinished();
  // Whoever comes last signals; one more than there are tickets, so that none does before all are asked for.
  const auto open = std::make_shared<std::atomic<size_t>>(tickets.size() + 1);
  const auto arrive = [open, all, nanoseconds] {
    if (--*open > 0) return;
    if (nanoseconds) *nanoseconds = steady_nanoseconds();
    all->signal(1);
  };
  for (const Ticket& ticket : tickets) ticket.reached() ? arrive() : ticket.semaphore->when(ticket.value, arrive);
  arrive();
  recorded({all, 1}, std::move(nanoseconds));
  return {};
}

std::optional<SharedEvent::Recording> Event::foreign() const {
  if (!shared_) return std::nullopt;
  const SharedEvent::Recording last = shared_->last();
  Lock lock(mutex_);
  // This process may have the event open more than once.
  const bool own = last.process == getpid() && last.number == recording_.shared_number;
  if (last.number == 0 || own) return std::nullopt;
  return last;
}

Ticket Event::ticket() const {
  if (const auto other = foreign()) {
    if (shared_->has_happened(*other)) return {};
    Ticket ticket{context_.device().hal().create_semaphore(0), 1};
    watch(shared_->waiter(*other), ticket.semaphore);
    return ticket;
  }
  Lock lock(mutex_);
  return recording_.ticket;
}

bool Event::happened() const {
  if (const auto other = foreign()) return shared_->has_happened(*other);
  return ticket().reached();
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
    if (Ticket point = ticket(); !point.reached()) stream->submit(hal::Wait{std::move(point.semaphore), point.value});
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
