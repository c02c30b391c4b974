#include "hal/host_queue.h"

#include <deque>
#include <new>

#include "hal/host_commands.h"

namespace cupola::hal {

struct HostQueue::State {
  State(std::shared_ptr<HostDomain> of, RunGrid with)
      : domain(std::move(of)), run_grid(std::move(with)), progress(std::make_shared<HostSemaphore>(domain, 0)) {}

  void run() EXCLUDES(mutex);
  void execute(Command& command);
  Result<> perform(const Launch& launch) { return run_grid(launch); }
  template <typename Other>
  Result<> perform(const Other& command) {
    return run_command(command, *domain);
  }

  const std::shared_ptr<HostDomain> domain;
  const RunGrid run_grid;
  const std::shared_ptr<Semaphore> progress;
  Mutex mutex;
  Condition changed;
  std::deque<Command> commands GUARDED_BY(mutex);
  uint64_t submitted GUARDED_BY(mutex) = 0;
  uint64_t started GUARDED_BY(mutex) = 0;  ///< commands beyond it stay where they are, as on any device
  bool ending GUARDED_BY(mutex) = false;
};

HostQueue::HostQueue(std::shared_ptr<HostDomain> domain, RunGrid run_grid)
    : state_(std::make_shared<State>(std::move(domain), std::move(run_grid))),
      thread_([state = state_] { state->run(); }) {}

HostQueue::~HostQueue() {
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

uint64_t HostQueue::enqueue(std::span<Command> commands) {
  State& state = *state_;
  Lock lock(state.mutex);
  const size_t before = state.commands.size();
  try {
    for (Command& command : commands) state.commands.push_back(std::move(command));
  } catch (const std::bad_alloc&) {
    state.commands.resize(before);
    throw;
  }
  return state.submitted += commands.size();
}

void HostQueue::start() {
  Lock lock(state_->mutex);
  state_->started = state_->submitted;
  state_->changed.notify_one();
}

const std::shared_ptr<Semaphore>& HostQueue::progress() const {
  return state_->progress;
}

void HostQueue::State::run() {
  for (uint64_t number = 1;; ++number) {
    Command command;
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
void HostQueue::State::execute(Command& command) {
  const bool always = std::holds_alternative<Callback>(command) || std::holds_alternative<Signal>(command) ||
                      std::holds_alternative<Timestamp>(command);
  if (!always && domain->fault()) return;
  Result<> done = std::visit([this](auto& each) { return perform(each); }, command);
  if (done) return;
  Lock lock(domain->state.mutex);
  if (!domain->error) domain->error = std::move(done).error();
  domain->state.changed.notify_all();
}

}  // namespace cupola::hal
