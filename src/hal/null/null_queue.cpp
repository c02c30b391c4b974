#include "hal/null/null_queue.h"

#include <new>

#include "hal/null/null_commands.h"

namespace cupola::hal {

NullQueue::NullQueue(std::shared_ptr<NullDomain> domain)
    : domain_(std::move(domain)), progress_(std::make_shared<NullSemaphore>(domain_, 0)), thread_([this] { run(); }) {}

NullQueue::~NullQueue() {
  {
    Lock lock(mutex_);
    ending_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

uint64_t NullQueue::enqueue(std::span<Command> commands) {
  Lock lock(mutex_);
  const size_t before = commands_.size();
  try {
    for (Command& command : commands) commands_.push_back(std::move(command));
  } catch (const std::bad_alloc&) {
    commands_.resize(before);
    throw;
  }
  return submitted_ += commands.size();
}

void NullQueue::start() {
  Lock lock(mutex_);
  started_ = submitted_;
  changed_.notify_one();
}

void NullQueue::run() {
  for (uint64_t number = 1;; ++number) {
    Command command;
    {
      Lock lock(mutex_);
      while (number > started_ && !ending_) changed_.wait(lock);
      if (number > started_) return;
      command = std::move(commands_.front());
      commands_.pop_front();
    }
    execute(command);
    progress_->signal(number);
  }
}

/// Executes the command unless the domain has a fault, which Callback is for; a failure becomes the fault.
void NullQueue::execute(Command& command) {
  if (!std::holds_alternative<Callback>(command) && domain_->fault()) return;
  Result<> done = std::visit([this](auto& each) { return run_command(each, *domain_); }, command);
  if (done) return;
  Lock lock(domain_->state.mutex);
  if (!domain_->error) domain_->error = std::move(done).error();
  domain_->state.changed.notify_all();
}

}  // namespace cupola::hal
