#include "runtime/event.h"

namespace cupola::runtime {

void Event::record(Stream& stream) {
  Recording recording;
  if (timing_) {
    recording.nanoseconds = std::make_shared<std::atomic<uint64_t>>(0);
    recording.ticket = stream.submit(hal::Timestamp{recording.nanoseconds});
  } else {
    recording.ticket = stream.mark();
  }
  recorded(std::move(recording.ticket), std::move(recording.nanoseconds));
}

void Event::recorded(Ticket ticket, std::shared_ptr<std::atomic<uint64_t>> nanoseconds) {
  Lock lock(mutex_);
  recording_ = {std::move(ticket), std::move(nanoseconds)};
}

void Event::hold(Stream& stream) const {
  const Recording recording = current();
  if (!recording.ticket.reached()) stream.submit(hal::Wait{recording.ticket.semaphore, recording.ticket.value});
}

Result<float> Event::elapsed(const Event& start, const Event& end) {
  if (!start.timing_ || !end.timing_)
    return fail(ErrorCode::InvalidHandle, "an event made without timing has no time: create both with timing");
  const Recording from = start.current(), to = end.current();
  if (!from.nanoseconds || !to.nanoseconds)
    return fail(ErrorCode::InvalidHandle, "both events must have been recorded before their distance is asked for");
  if (!from.ticket.reached() || !to.ticket.reached()) return fail(ErrorCode::NotReady, "");
  const auto nanoseconds = static_cast<int64_t>(to.nanoseconds->load() - from.nanoseconds->load());
  return static_cast<float>(static_cast<double>(nanoseconds) * 1e-6);
}

}  // namespace cupola::runtime
