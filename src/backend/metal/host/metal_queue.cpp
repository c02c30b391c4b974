#include "backend/metal/host/metal_queue.h"

#include <deque>
#include <new>

#include "backend/metal/host/launcher.h"
#include "backend/metal/host/transfer.h"
#include "base/steady_clock.h"

namespace cupola::metal {

struct MetalQueue::State {
  State(std::shared_ptr<MetalDomain> of, std::unique_ptr<Launcher> with)
      : domain(std::move(of)), launcher(std::move(with)), progress(std::make_shared<MetalSemaphore>(domain, 0)) {}

  void run() EXCLUDES(mutex);
  void execute(hal::Command& command);

  // One a kind of command, so that a new kind does not compile until it is handled.
  Result<> perform(const hal::Launch& launch) { return launcher->run(launch); }
  Result<> perform(const hal::Copy& copy) {
    metal::run(copy);
    return {};
  }
  Result<> perform(const hal::Fill& fill) { return metal::run(fill); }
  Result<> perform(const hal::HostCall& call) {
    call.function();
    return {};
  }
  Result<> perform(const hal::Callback& callback) {
    const std::optional<Error> fault = domain->fault();
    callback.function(fault ? &*fault : nullptr);
    return {};
  }
  Result<> perform(const hal::Wait& wait) {
    return static_cast<MetalSemaphore&>(*wait.semaphore).wait(wait.value, *domain);
  }
  Result<> perform(const hal::Signal& signal) {
    signal.semaphore->signal(signal.value);
    return {};
  }
  Result<> perform(const hal::Timestamp& timestamp) {
    timestamp.nanoseconds->store(steady_nanoseconds());
    return {};
  }

  const std::shared_ptr<MetalDomain> domain;
  const std::unique_ptr<Launcher> launcher;
  const std::shared_ptr<hal::Semaphore> progress;
  Mutex mutex;
  Condition changed;
  std::deque<hal::Command> commands GUARDED_BY(mutex);
  uint64_t submitted GUARDED_BY(mutex) = 0;
  uint64_t started GUARDED_BY(mutex) = 0;  ///< commands beyond it stay where they are, as on any device
  bool ending GUARDED_BY(mutex) = false;
};

Result<std::unique_ptr<hal::Queue>> MetalQueue::make(const MetalServices& services,
                                                     std::shared_ptr<MetalDomain> domain) {
  TRY(std::unique_ptr<Launcher> launcher, Launcher::make(services));
  return std::unique_ptr<hal::Queue>(new MetalQueue(std::make_shared<State>(std::move(domain), std::move(launcher))));
}

MetalQueue::MetalQueue(std::shared_ptr<State> state)
    : state_(std::move(state)), thread_([state = state_] { state->run(); }) {}

MetalQueue::~MetalQueue() {
  {
    Lock lock(state_->mutex);
    state_->ending = true;
    state_->changed.notify_one();
  }
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

uint64_t MetalQueue::enqueue(std::span<hal::Command> commands) {
  State& state = *state_;
  Lock lock(state.mutex);
  const size_t before = state.commands.size();
  try {
    for (hal::Command& command : commands) state.commands.push_back(std::move(command));
  } catch (const std::bad_alloc&) {
    state.commands.resize(before);
    throw;
  }
  return state.submitted += commands.size();
}

void MetalQueue::start() {
  Lock lock(state_->mutex);
  state_->started = state_->submitted;
  state_->changed.notify_one();
}

const std::shared_ptr<hal::Semaphore>& MetalQueue::progress() const {
  return state_->progress;
}

void MetalQueue::State::run() {
  for (uint64_t number = 1;; ++number) {
    hal::Command command;
    {
      Lock lock(mutex);
      while (number > started && !ending) changed.wait(lock);
      if (number > started) return;
      command = std::move(commands.front());
      commands.pop_front();
    }
    execute(command);
    progress->signal(number);
  }
}

/// Executes the command unless a fault of the domain drops it; a failure becomes the fault.
void MetalQueue::State::execute(hal::Command& command) {
  const bool always = std::holds_alternative<hal::Callback>(command) || std::holds_alternative<hal::Signal>(command) ||
                      std::holds_alternative<hal::Timestamp>(command);
  if (!always && domain->fault()) return;
  Result<> done = std::visit([this](auto& each) { return perform(each); }, command);
  if (done) return;
  Lock lock(domain->state.mutex);
  if (!domain->error) domain->error = std::move(done).error();
  domain->state.changed.notify_all();
}

}  // namespace cupola::metal
