#include "runtime/conditional_run.h"

#include "runtime/device.h"

namespace cupola::runtime {
namespace {

/// One run of a conditional node. What it enqueues keeps it alive. Callbacks of the device drive it, one at a time.
class ConditionalRun : public std::enable_shared_from_this<ConditionalRun> {
 public:
  ConditionalRun(std::shared_ptr<const Prepared> prepared, std::shared_ptr<Lanes> lanes, uint32_t step)
      : prepared_(std::move(prepared)),
        lanes_(std::move(lanes)),
        step_(step),
        over_(work().condition->context().device().hal().create_semaphore(0)) {}

  /// Copies the word to where the host reads it, looks at it, and goes on.
  std::vector<hal::Command> look() {
    return {hal::Copy{.destination = reinterpret_cast<hal::Address>(&value_),
                      .source = work().condition->handle(),
                      .width = sizeof value_,
                      .destination_owner = shared_from_this()},
            hal::Callback{[self = shared_from_this()](const Error* fault) { self->decide(fault); }}};
  }

  hal::Wait until_over() const { return {over_, 1}; }

 private:
  const Prepared::StepCommands& step() const { return prepared_->steps[step_]; }
  const ConditionalWork& work() const { return *step().conditional; }

  /// The body that the value asks for; past the last for none.
  size_t chosen() const {
    switch (work().kind) {
      case ConditionalWork::Kind::If:
        return value_ ? 0 : 1;
      case ConditionalWork::Kind::While:
        return value_ ? 0 : SIZE_MAX;
      case ConditionalWork::Kind::Switch:
        return value_;
    }
    return SIZE_MAX;
  }

  void decide(const Error* fault) {
    const size_t body = chosen();
    if (fault || body >= step().bodies.size()) {
      over_->signal(1);
      return;
    }
    const std::shared_ptr<Lanes>& lanes = lanes_->body(step_, body);
    std::vector<Recorded> recorded;  // bodies have no event nodes
    for (hal::Command& command : emit(step().bodies[body], lanes, lanes->last(0), recorded))
      lanes->enqueue(0, std::move(command));
    if (work().kind == ConditionalWork::Kind::While) {
      for (hal::Command& command : look()) lanes->enqueue(0, std::move(command));
    } else {
      lanes->enqueue(0, hal::Callback{[over = over_](const Error*) { over->signal(1); }});
    }
    lanes->start();
  }

  const std::shared_ptr<const Prepared> prepared_;
  const std::shared_ptr<Lanes> lanes_;
  const uint32_t step_;
  const std::shared_ptr<hal::Semaphore> over_;
  uint32_t value_ = 0;
};

}  // namespace

std::vector<hal::Command> conditional_commands(const std::shared_ptr<const Prepared>& prepared,
                                               const std::shared_ptr<Lanes>& lanes, uint32_t step) {
  const auto run = std::make_shared<ConditionalRun>(prepared, lanes, step);
  std::vector<hal::Command> commands = run->look();
  commands.push_back(run->until_over());
  return commands;
}

}  // namespace cupola::runtime
