#include "runtime/stream.h"

#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/device.h"

namespace cupola::runtime {
namespace {

constexpr unsigned kNonBlocking = 1;
std::atomic<uint64_t> next_id = 3;  // 1 and 2 are the handles of the default streams

}  // namespace

void Ticket::drain() const {
  if (reached()) return;
  struct Arrival {
    Mutex mutex;
    Condition changed;
    bool there GUARDED_BY(mutex) = false;
  };
  const auto arrival = std::make_shared<Arrival>();
  semaphore->when(value, [arrival] {
    Lock lock(arrival->mutex);
    arrival->there = true;
    arrival->changed.notify_all();
  });
  Lock lock(arrival->mutex);
  while (!arrival->there) arrival->changed.wait(lock);
}

void StreamOrder::drain() {
  for (const Ticket& ticket : unfinished()) ticket.drain();
}

std::vector<Ticket> StreamOrder::unfinished() {
  Lock lock(mutex_);
  std::vector<Ticket> tickets;
  for (const Stream* stream : streams_)
    if (!stream->is_done()) tickets.push_back(stream->last());
  for (const auto& [ticket, blocking] : retired_)
    if (!ticket.reached()) tickets.push_back(ticket);
  return tickets;
}

Result<std::shared_ptr<Stream>> Stream::make(Context& context, Kind kind, unsigned flags, int priority) {
  TRY(auto queue, context.device().hal().create_queue(priority, context.domain()));
  return std::shared_ptr<Stream>(new Stream(context, kind, flags, std::move(queue)));
}

Stream::Stream(Context& context, Kind kind, unsigned flags, std::unique_ptr<hal::Queue> queue)
    : context_(context),
      order_(context.order()),
      kind_(kind),
      flags_(flags),
      blocking_(!(flags & kNonBlocking)),
      id_(kind == Kind::Legacy ? 1 : next_id.fetch_add(1)),
      queue_(std::move(queue)) {
  Lock lock(order_->mutex_);
  order_->streams_.push_back(this);
  if (kind == Kind::Legacy) order_->legacy_ = this;
}

Stream::~Stream() {
  if (const std::shared_ptr<Capture> captured = capture()) {
    set_capture(nullptr);
    captured->forget(*this);
  }
  Lock lock(order_->mutex_);
  std::erase(order_->streams_, this);
  if (order_->legacy_ == this) order_->legacy_ = nullptr;
  std::erase_if(order_->retired_, [](const auto& entry) { return entry.first.reached(); });
  if (!is_done()) order_->retired_.emplace_back(last(), blocking_);
}

std::shared_ptr<Capture> Stream::capture() const {
  if (!is_captured_.load(std::memory_order_acquire)) return nullptr;
  Lock lock(capture_mutex_);
  return capture_;
}

void Stream::set_capture(std::shared_ptr<Capture> capture) {
  Lock lock(capture_mutex_);
  const int change = (capture ? 1 : 0) - (capture_ ? 1 : 0);
  order_->captured_ += change;
  if (blocking_) order_->captured_blocking_ += change;
  is_captured_.store(capture != nullptr, std::memory_order_release);
  capture_.swap(capture);
}

Result<> Stream::check_use() {
  if (kind_ != Kind::Legacy || !order_->captures_blocking()) return {};
  order_->invalidate_captures(true);
  return fail(ErrorCode::StreamCaptureImplicit,
              "the legacy default stream would wait for a stream that is captured: use another stream, or capture one "
              "that was made with the non-blocking flag");
}

Result<> Stream::check_not_captured() {
  TRY(check_use());
  const std::shared_ptr<Capture> captured = capture();
  if (!captured) return {};
  return captured->refuse(ErrorCode::StreamCaptureUnsupported,
                          "the stream is captured: the call has no node in a graph");
}

bool StreamOrder::invalidate_captures(bool only_blocking) {
  if (captured_.load(std::memory_order_acquire) == 0) return false;
  std::vector<std::shared_ptr<Capture>> captures;
  {
    Lock lock(mutex_);
    for (const Stream* stream : streams_) {
      if (only_blocking && !stream->blocking()) continue;
      if (auto capture = stream->capture()) captures.push_back(std::move(capture));
    }
  }
  for (const auto& capture : captures) capture->invalidate();
  return !captures.empty();
}

void StreamOrder::hold(Ticket ticket) {
  Lock lock(mutex_);
  std::erase_if(held_, [](const auto& entry) { return entry.second.reached(); });
  held_.emplace_back(++holds_, std::move(ticket));
}

void Stream::append(hal::Command&& command) {
  submitted_ = queue_->enqueue(std::span(&command, 1));
}

void Stream::wait_for(const Ticket& other) {
  if (!other.reached()) append(hal::Wait{other.semaphore, other.value});
}

void Stream::follow_others() {
  for (const auto& [number, ticket] : order_->held_)
    if (number > holds_seen_) wait_for(ticket);
  holds_seen_ = order_->holds_;
  if (!blocking_) return;
  if (kind_ == Kind::Legacy) {
    for (const Stream* other : order_->streams_) {
      if (other != this && other->blocking_ && !other->is_done()) wait_for(other->last());
    }
    std::erase_if(order_->retired_, [](const auto& entry) { return entry.first.reached(); });
    for (const auto& [ticket, blocking] : order_->retired_) {
      if (blocking) wait_for(ticket);
    }
  } else if (const Stream* legacy = order_->legacy_; legacy && legacy->submitted() > legacy_seen_) {
    legacy_seen_ = legacy->submitted();
    wait_for(legacy->last());
  }
}

Ticket Stream::submit(hal::Command command) {
  Ticket ticket;
  {
    Lock lock(order_->mutex_);
    follow_others();
    append(std::move(command));
    ticket = last();
  }
  queue_->start();
  return ticket;
}

void Stream::post(hal::Command&& command) {
  {
    Lock lock(order_->mutex_);
    follow_others();
    append(std::move(command));
  }
  queue_->start();
}

Ticket Stream::enqueue_between(const std::function<std::vector<hal::Command>(const Ticket& before)>& place) {
  Lock lock(order_->mutex_);
  follow_others();
  std::vector<hal::Command> commands = place(last());
  if (!commands.empty()) submitted_ = queue_->enqueue(std::span(commands));
  return last();
}

void Stream::wait(const Ticket& ticket) {
  if (!ticket.reached()) submit(hal::Wait{ticket.semaphore, ticket.value});
}

bool Stream::idle() {
  Lock lock(order_->mutex_);
  if (!is_done()) return false;
  if (!blocking_) return true;
  if (kind_ != Kind::Legacy) return !order_->legacy_ || order_->legacy_->is_done();
  for (const Stream* other : order_->streams_) {
    if (other->blocking_ && !other->is_done()) return false;
  }
  for (const auto& [ticket, blocking] : order_->retired_) {
    if (blocking && !ticket.reached()) return false;
  }
  return true;
}

Ticket Stream::mark() {
  Ticket ticket;
  {
    Lock lock(order_->mutex_);
    follow_others();
    ticket = last();
  }
  queue_->start();
  return ticket;
}

}  // namespace cupola::runtime
