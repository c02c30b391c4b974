#include "hal/null/null_queue.h"

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

uint64_t NullQueue::enqueue(Command command) {
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
