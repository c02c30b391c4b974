#include "hal/host_queue.h"

#include <deque>
#include <new>

#include "hal/host_commands.h"

namespace cupola::hal {

struct HostQueue::State {
  State(std::shared_ptr<HostDomain> of, std::unique_ptr<GridRunner> with)
      : domain(std::move(of)), runner(std::move(with)), progress(std::make_shared<HostSemaphore>(domain, 0)) {}

  void run() EXCLUDES(mutex);
  bool take(Command& command) EXCLUDES(mutex);
  void execute(Command& command);
  void end_first();
  Result<> perform(Launch& launch) {
    TRY(runner->begin(launch));
    ++running;
    return {};
  }
  template <typename Other>
  Result<> perform(const Other& command) {
    return run_command(command, *domain);
  }

  const std::shared_ptr<HostDomain> domain;
  const std::unique_ptr<GridRunner> runner;
  const std::shared_ptr<Semaphore> progress;
  uint64_t done = 0;     ///< commands; the thread's own
  uint64_t running = 0;  ///< grids that have begun, behind those; the thread's own
  Mutex mutex;
  Condition changed;
  std::deque<Command> commands GUARDED_BY(mutex);
  uint64_t submitted GUARDED_BY(mutex) = 0;
  uint64_t started GUARDED_BY(mutex) = 0;  ///< commands beyond it stay where they are, as on any device
  bool ending GUARDED_BY(mutex) = false;
  bool is_left_behind = false;  ///< the queue is gone before its commands were done; written before `ending`
};

HostQueue::HostQueue(std::shared_ptr<HostDomain> domain, std::unique_ptr<GridRunner> runner)
    : state_(std::make_shared<State>(std::move(domain), std::move(runner))), thread_([state = state_]() mutable {
        state->run();
        HostState& device = state->domain->state;
        const bool is_left_behind = state->is_left_behind;
        state.reset();
        if (is_left_behind) device.leave();
      }) {}

/// Nobody waits here for commands. What is left is done by the thread alone, for which the device waits.
HostQueue::~HostQueue() {
  HostState& device = state_->domain->state;
  device.stay();
  const bool is_own_thread = thread_.get_id() == std::this_thread::get_id();
  const uint64_t done = state_->progress->value();
  bool is_left_behind = false;
  {
    Lock lock(state_->mutex);
    is_left_behind = state_->is_left_behind = is_own_thread || done != state_->started;
    state_->ending = true;
    state_->changed.notify_one();
  }
  if (is_left_behind) {
    thread_.detach();
  } else {
    thread_.join();
    device.leave();
  }
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

/// The next command, if it may be executed now. While grids run that is a launch that may follow them; while none does
/// it is waited for, and there is none when the queue ends.
bool HostQueue::State::take(Command& command) {
  Lock lock(mutex);
  while (running == 0 && done == started && !ending) changed.wait(lock);
  if (done + running == started) return false;
  if (running != 0) {
    const auto* const launch = std::get_if<Launch>(&commands.front());
    if (!launch || !runner->may_follow(*launch)) return false;
  }
  command = std::move(commands.front());
  commands.pop_front();
  return true;
}

void HostQueue::State::run() {
  for (;;) {
    Command command;
    if (take(command))
      execute(command);
    else if (running != 0)
      end_first();
    else
      return;
  }
}

/// Executes the command unless a fault of the domain drops it; a failure becomes the fault, when all before it is done.
void HostQueue::State::execute(Command& command) {
  const bool always = std::holds_alternative<Callback>(command) || std::holds_alternative<Signal>(command) ||
                      std::holds_alternative<Timestamp>(command);
  const uint64_t before = running;
  Result<> result;
  if (always || !domain->has_fault()) result = std::visit([this](auto& each) { return perform(each); }, command);
  if (running != before) return;  // a grid that has begun
  while (running != 0) end_first();
  if (!result) domain->note(result.error());
  progress->signal(++done);
}

void HostQueue::State::end_first() {
  const Result<> result = runner->end();
  if (!result) domain->note(result.error());
  --running;
  progress->signal(++done);
}

}  // namespace cupola::hal
