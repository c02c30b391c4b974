#include "backend/cpu/run/device_queues.h"

#include <new>
#include <utility>

#include "backend/cpu/run/cpu_domain.h"
#include "backend/cpu/run/cpu_semaphore.h"

namespace cupola::cpu {
namespace {

constexpr auto kBlockStream = static_cast<uint64_t>(image::DeviceStream::Block);
constexpr auto kTailLaunch = static_cast<uint64_t>(image::DeviceStream::TailLaunch);
constexpr auto kFireAndForget = static_cast<uint64_t>(image::DeviceStream::FireAndForget);

bool is_named(uint64_t stream) {
  return stream == kTailLaunch || stream == kFireAndForget;
}

/// Handles of one grid are no other's, so that one which a child was given is refused, not taken for its own.
constexpr uint64_t first_handle(uint64_t grid, bool of_events) {
  return grid << 26 | uint64_t{of_events} << 25;
}

}  // namespace

DeviceQueues::DeviceQueues(const QueueServices& services, std::shared_ptr<CpuDomain> domain, uint64_t grid,
                           uint32_t depth)
    : services_(services),
      domain_(std::move(domain)),
      depth_(depth),
      streams_(first_handle(grid, false)),
      events_(first_handle(grid, true)) {}

std::unique_ptr<CpuQueue> DeviceQueues::make_queue() {
  CpuQueue::Listener* const listener = this;
  return std::make_unique<CpuQueue>(services_, domain_, depth_, listener);
}

/// Null when there is no such stream. A queue that nothing refers to lives on until its commands are done.
std::shared_ptr<hal::Queue> DeviceQueues::queue_of(uint64_t stream, std::unique_ptr<CpuQueue>& of_block) {
  if (stream == kFireAndForget) return make_queue();
  if (stream == kBlockStream) {
    if (!of_block) of_block = make_queue();
    return {std::shared_ptr<void>{}, of_block.get()};  // the block's
  }
  Lock lock(mutex_);
  return streams_.find(stream);
}

std::shared_ptr<DeviceQueues::Event> DeviceQueues::event_of(uint64_t event) {
  Lock lock(mutex_);
  return events_.find(event);
}

/// start() must follow.
void DeviceQueues::append(hal::Queue& queue, hal::Command command) {
  pending_.fetch_add(1, std::memory_order_relaxed);  // not from 0: the grid that asks for it counts
  try {
    queue.enqueue(std::move(command));
  } catch (...) {
    pending_.fetch_sub(1, std::memory_order_relaxed);
    throw;
  }
}

DeviceQueues::Error DeviceQueues::launch(hal::Launch launch, uint64_t stream, std::unique_ptr<CpuQueue>& of_block) {
  if (stream != kTailLaunch) return transfer(std::move(launch), stream, of_block);
  Lock lock(mutex_);
  tail_.emplace_back(std::move(launch));
  return Error::None;
}

DeviceQueues::Error DeviceQueues::transfer(hal::Command command, uint64_t stream, std::unique_ptr<CpuQueue>& of_block) {
  const std::shared_ptr<hal::Queue> queue = queue_of(stream, of_block);
  if (!queue) return Error::InvalidHandle;
  append(*queue, std::move(command));
  queue->start();
  return Error::None;
}

uint64_t DeviceQueues::create_stream() {
  std::shared_ptr<CpuQueue> queue = make_queue();
  Lock lock(mutex_);
  return streams_.add(std::move(queue));
}

DeviceQueues::Error DeviceQueues::destroy_stream(uint64_t stream) {
  Lock lock(mutex_);
  return streams_.remove(stream) ? Error::None : Error::InvalidHandle;
}

uint64_t DeviceQueues::create_event() {
  auto event = std::make_shared<Event>();
  event->semaphore = std::make_shared<CpuSemaphore>(0, domain_);
  Lock lock(mutex_);
  return events_.add(std::move(event));
}

DeviceQueues::Error DeviceQueues::destroy_event(uint64_t event) {
  Lock lock(mutex_);
  return events_.remove(event) ? Error::None : Error::InvalidHandle;
}

/// The named streams can be neither recorded nor waited on: InvalidValue, as documented.
DeviceQueues::Error DeviceQueues::record(uint64_t handle, uint64_t stream, std::unique_ptr<CpuQueue>& of_block) {
  if (is_named(stream)) return Error::InvalidValue;
  const std::shared_ptr<Event> event = event_of(handle);
  const std::shared_ptr<hal::Queue> queue = queue_of(stream, of_block);
  if (!event || !queue) return Error::InvalidHandle;
  {
    Lock lock(event->mutex);
    append(*queue, hal::Signal{event->semaphore, event->recorded + 1});
    ++event->recorded;
  }
  queue->start();
  return Error::None;
}

DeviceQueues::Error DeviceQueues::wait(uint64_t handle, uint64_t stream, std::unique_ptr<CpuQueue>& of_block) {
  if (is_named(stream)) return Error::InvalidValue;
  const std::shared_ptr<Event> event = event_of(handle);
  const std::shared_ptr<hal::Queue> queue = queue_of(stream, of_block);
  if (!event || !queue) return Error::InvalidHandle;
  uint64_t recorded = 0;
  {
    Lock lock(event->mutex);
    recorded = event->recorded;
  }
  append(*queue, hal::Wait{event->semaphore, recorded});
  queue->start();
  return Error::None;
}

// -- the end --

void DeviceQueues::command_done() {
  if (pending_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!begin_tail()) owner_->all_done();
}

bool DeviceQueues::end(Owner& owner) {
  owner_ = &owner;
  if (pending_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  return !begin_tail();
}

/// Everything else is done. False when there are no tail launches; else the last one's end comes here again, perhaps
/// before this returns.
bool DeviceQueues::begin_tail() {
  std::vector<hal::Command> tail;
  {
    Lock lock(mutex_);
    tail.swap(tail_);
  }
  if (tail.empty()) return false;
  try {
    const std::unique_ptr<CpuQueue> queue = make_queue();
    pending_.store(tail.size(), std::memory_order_relaxed);
    queue->enqueue(tail);
    queue->start();
    return true;
  } catch (const std::bad_alloc&) {
    for (size_t i = 0; i < tail.size(); ++i) domain_->launch_slots.give_back();
    domain_->faults.record_out_of_memory("no host memory for tail launches");
    return false;
  }
}

}  // namespace cupola::cpu
