#include "hal/null/null_queue.h"

#include "hal/null/null_commands.h"

namespace cupola::hal {

NullQueue::NullQueue(NullState& state)
    : state_(state), progress_(std::make_shared<NullSemaphore>(state, 0)), thread_([this] { run(); }) {}

NullQueue::~NullQueue() {
  {
    Lock lock(mutex_);
    ending_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

uint64_t NullQueue::submit(Command command) {
  Lock lock(mutex_);
  commands_.push_back(std::move(command));
  changed_.notify_one();
  return ++submitted_;
}

void NullQueue::run() {
  for (uint64_t number = 1;; ++number) {
    Command command;
    {
      Lock lock(mutex_);
      while (commands_.empty() && !ending_) changed_.wait(lock);
      if (commands_.empty()) return;
      command = std::move(commands_.front());
      commands_.pop_front();
    }
    execute(command);
    progress_->signal(number);
  }
}

/// Executes the command unless the device has a fault; a failure becomes the fault.
void NullQueue::execute(Command& command) {
  {
    Lock lock(state_.mutex);
    if (state_.fault) return;
  }
  Result<> done = std::visit([](auto& each) { return run_command(each); }, command);
  if (done) return;
  Lock lock(state_.mutex);
  if (!state_.fault) state_.fault = std::move(done).error();
  state_.changed.notify_all();
}

}  // namespace cupola::hal
