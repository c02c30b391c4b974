#include "runtime/graph_plan.h"

#include <algorithm>
#include <unordered_map>

#include "runtime/conditional_run.h"
#include "runtime/device.h"
#include "runtime/event.h"
#include "runtime/host_function.h"

namespace cupola::runtime {

// ---- the order ----

Result<std::shared_ptr<const Plan>> Plan::make(const Graph& graph, Node** in_cycle) {
  auto plan = std::make_shared<Plan>();
  TRY(plan->flatten(graph, {}, in_cycle));
  plan->assign_lanes();
  return plan;
}

/// Adds the steps of a graph, of which the first come after `entry`. Returns the steps that nothing of it comes after.
Result<std::vector<uint32_t>> Plan::flatten(const Graph& graph, const std::vector<uint32_t>& entry, Node** in_cycle) {
  TRY(const std::vector<Node*> order, in_order(graph, in_cycle));
  std::unordered_map<const Node*, uint32_t> end_of;
  std::vector<uint32_t> sinks;
  for (Node* node : order) {
    Step step;
    step.node = node;
    for (const Dependency& each : node->dependencies()) step.after.push_back(end_of.at(each.node));
    if (node->dependencies().empty()) step.after = entry;
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      TRY(std::vector<uint32_t> ends, flatten(*child->graph, step.after, in_cycle));
      step.node = nullptr;
      if (!ends.empty()) step.after = std::move(ends);
    } else if (const auto* conditional = std::get_if<ConditionalWork>(&node->work)) {
      for (const auto& body : conditional->bodies) {
        TRY(std::shared_ptr<const Plan> plan, Plan::make(*body, in_cycle));
        step.bodies.push_back(std::move(plan));
      }
    }
    end_of[node] = static_cast<uint32_t>(steps_.size());
    if (node->dependents().empty()) sinks.push_back(end_of[node]);
    steps_.push_back(std::move(step));
  }
  return sinks;
}

/// A step goes on where one of those before it left off; else it begins a lane, or joins the one with the fewest steps.
void Plan::assign_lanes() {
  std::vector<uint32_t> last, load;
  for (uint32_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    const auto follows =
        std::ranges::find_if(step.after, [&](uint32_t each) { return last[steps_[each].lane] == each; });
    if (follows != step.after.end()) {
      step.lane = steps_[*follows].lane;
    } else if (last.size() < kMostLanes) {
      step.lane = static_cast<uint32_t>(last.size());
      last.push_back(0), load.push_back(0);
    } else {
      step.lane = static_cast<uint32_t>(std::ranges::min_element(load) - load.begin());
    }
    last[step.lane] = i;
    ++load[step.lane];
  }
  lanes_ = std::max<uint32_t>(1, static_cast<uint32_t>(last.size()));
}

// ---- lanes ----

Result<std::shared_ptr<Lanes>> Lanes::make(const Plan& plan, Context& context, bool own_first) {
  auto lanes = std::make_shared<Lanes>();
  for (uint32_t lane = 0; lane < plan.lanes(); ++lane) {
    Lane& made = lanes->queues_.emplace_back();
    if (lane == 0 && !own_first) continue;
    TRY(made.queue, context.device().hal().create_queue(0, context.domain()));
  }
  for (uint32_t i = 0; i < plan.steps().size(); ++i) {
    for (const auto& body : plan.steps()[i].bodies) {
      TRY(auto own, make(*body, context, true));
      lanes->bodies_[i].push_back(std::move(own));
    }
  }
  return lanes;
}

uint64_t Lanes::enqueue(uint32_t lane, hal::Command command) {
  return queues_[lane].submitted = queues_[lane].queue->enqueue(std::move(command));
}

void Lanes::start() const {
  for (const Lane& lane : queues_)
    if (lane.queue) lane.queue->start();
}

// ---- what a launch enqueues ----

namespace {

/// A step as it is prepared; its commands go to the end of all.
struct Draft : Prepared::StepCommands {
  std::vector<hal::Command>& commands;
};

Result<> prepare_work(const KernelWork& work, Draft& step) {
  step.commands.push_back(hal::Launch{work.function->executable(), work.function->index(), work.shape.grid,
                                      work.shape.block, work.shape.dynamic_shared_bytes, work.shape.cooperative,
                                      work.parameters});
  return {};
}
Result<> prepare_work(const CopyWork& work, Draft& step) {
  if (work.command.width == 0 || work.command.height == 0 || work.command.depth == 0) return {};
  TRY(hal::Copy command, checked(work.command, work.destination, work.source));
  step.commands.push_back(std::move(command));
  return {};
}
Result<> prepare_work(const FillWork& work, Draft& step) {
  if (work.command.width == 0 || work.command.height == 0) return {};
  TRY(hal::Fill command, checked(work.command));
  step.commands.push_back(std::move(command));
  return {};
}
Result<> prepare_work(const HostWork& work, Draft& step) {
  step.commands.push_back(hal::HostCall{[work] { call_host_function(work.function, work.data); }});
  return {};
}
Result<> prepare_work(const WaitWork& work, Draft& step) {
  const Ticket ticket = work.event->ticket();
  if (!ticket.reached()) step.commands.push_back(hal::Wait{ticket.semaphore, ticket.value});
  return {};
}
Result<> prepare_work(const RecordWork& work, Draft& step) {
  step.records = work.event;
  if (!work.event->timing()) return {};
  step.time = std::make_shared<std::atomic<uint64_t>>(0);
  step.commands.push_back(hal::Timestamp{step.time});
  return {};
}
Result<> prepare_work(const MemoryOpsWork& work, Draft& step) {
  for (const MemoryOp& op : work.ops) TRY(append_commands(work.device->hal(), op, step.commands));
  return {};
}
// Memory is allocated and freed by the launch, in the order of the steps; a child graph's nodes have steps of their
// own.
Result<> prepare_work(const AllocWork&, Draft&) {
  return {};
}
Result<> prepare_work(const FreeWork&, Draft&) {
  return {};
}
Result<> prepare_work(const ChildWork&, Draft&) {
  return {};
}
Result<> prepare_work(const EmptyWork&, Draft&) {
  return {};
}
Result<> prepare_work(const ConditionalWork& work, Draft& step) {
  step.conditional = std::make_shared<const ConditionalWork>(work);
  return {};
}

Result<std::shared_ptr<Prepared>> prepare_part(const std::shared_ptr<const Plan>& plan,
                                               const std::unordered_set<const Node*>& disabled,
                                               std::vector<hal::Command>& first) {
  auto prepared = std::make_shared<Prepared>();
  prepared->plan = plan;
  prepared->commands.reserve(plan->steps().size());
  prepared->steps.reserve(plan->steps().size());
  for (const Step& step : plan->steps()) {
    Draft commands{{}, prepared->commands};
    commands.begin = static_cast<uint32_t>(prepared->commands.size());
    if (step.node && !disabled.contains(step.node)) {
      TRY(std::visit([&](const auto& work) { return prepare_work(work, commands); }, step.node->work));
    }
    if (commands.conditional) {
      const GraphCondition& condition = *commands.conditional->condition;
      if (const auto value = condition.assigned())
        first.push_back(hal::Fill{.destination = condition.handle(),
                                  .value = *value,
                                  .value_bytes = 4,
                                  .width = 1,
                                  .owner = commands.conditional->condition});
    }
    for (const auto& body : step.bodies) {
      TRY(std::shared_ptr<const Prepared> inner, prepare_part(body, disabled, first));
      commands.bodies.push_back(std::move(inner));
    }
    commands.end = static_cast<uint32_t>(prepared->commands.size());
    prepared->steps.push_back(std::move(commands));
  }
  return prepared;
}

/// One run, lane by lane.
class Emission {
 public:
  Emission(const Prepared& prepared, Lanes& lanes, const Ticket& before)
      : plan_(*prepared.plan), lanes_(lanes), reached_(plan_.lanes()), ends_(plan_.steps().size()) {
    first_.reserve(prepared.first.size() + prepared.commands.size());
    first_ = prepared.first;
    begin_ = {before.semaphore, before.value + first_.size()};
    base_ = before.value;
    for (Reached& each : reached_) each.seen.resize(plan_.lanes());
    reached_[0].begun = true;
    reached_[0].last = begin_.value;
  }

  void append(uint32_t lane, hal::Command command) {
    if (lane) {
      reached_[lane].last = lanes_.enqueue(lane, std::move(command));
    } else {
      first_.push_back(std::move(command));
      reached_[0].last = base_ + first_.size();
    }
  }

  /// Makes the lane wait for what the step comes after.
  void enter(uint32_t index) {
    const Step& step = plan_.steps()[index];
    Reached& lane = reached_[step.lane];
    if (!lane.begun) {
      lane.begun = true;
      if (begin_.value) append(step.lane, hal::Wait{begin_.semaphore, begin_.value});
    }
    for (uint32_t each : step.after) await(step.lane, plan_.steps()[each].lane, ends_[each]);
  }

  void leave(uint32_t index) { ends_[index] = reached_[plan_.steps()[index].lane].last; }
  Ticket here(uint32_t lane) const { return {progress(lane), reached_[lane].last}; }

  /// The first lane waits for all others.
  std::vector<hal::Command> finish() {
    for (uint32_t lane = 1; lane < reached_.size(); ++lane) await(0, lane, reached_[lane].last);
    return std::move(first_);
  }

 private:
  struct Reached {
    bool begun = false;
    uint64_t last = 0;           ///< number of the lane's last command
    std::vector<uint64_t> seen;  ///< of each other lane: what this one has waited for
  };

  std::shared_ptr<hal::Semaphore> progress(uint32_t lane) const {
    return lane ? lanes_.last(lane).semaphore : begin_.semaphore;
  }

  void await(uint32_t lane, uint32_t other, uint64_t number) {
    if (lane == other || reached_[lane].seen[other] >= number) return;
    reached_[lane].seen[other] = number;
    append(lane, hal::Wait{progress(other), number});
  }

  const Plan& plan_;
  Lanes& lanes_;
  std::vector<Reached> reached_;
  std::vector<uint64_t> ends_;  ///< of each step: its last command's number on its lane
  std::vector<hal::Command> first_;
  Ticket begin_;
  uint64_t base_ = 0;
};

}  // namespace

Result<std::shared_ptr<Prepared>> prepare(const std::shared_ptr<const Plan>& plan,
                                          const std::unordered_set<const Node*>& disabled) {
  std::vector<hal::Command> first;
  TRY(std::shared_ptr<Prepared> prepared, prepare_part(plan, disabled, first));
  prepared->first = std::move(first);
  return prepared;
}

namespace {

/// take(command) -> hal::Command: a copy, or the command itself.
template <typename Take>
std::vector<hal::Command> emit_with(const std::shared_ptr<const Prepared>& prepared,
                                    const std::shared_ptr<Lanes>& lanes, const Ticket& before,
                                    std::vector<Recorded>& recorded, Take take) {
  Emission emission(*prepared, *lanes, before);
  const std::vector<Step>& steps = prepared->plan->steps();
  for (uint32_t i = 0; i < steps.size(); ++i) {
    const Prepared::StepCommands& step = prepared->steps[i];
    emission.enter(i);
    for (uint32_t k = step.begin; k < step.end; ++k) emission.append(steps[i].lane, take(k));
    if (step.conditional)
      for (hal::Command& command : conditional_commands(prepared, lanes, i))
        emission.append(steps[i].lane, std::move(command));
    emission.leave(i);
    if (step.records) recorded.push_back({step.records, emission.here(steps[i].lane), step.time});
  }
  return emission.finish();
}

}  // namespace

std::vector<hal::Command> emit(const std::shared_ptr<const Prepared>& prepared, const std::shared_ptr<Lanes>& lanes,
                               const Ticket& before, std::vector<Recorded>& recorded) {
  return emit_with(prepared, lanes, before, recorded, [&](uint32_t k) { return prepared->commands[k]; });
}

std::vector<hal::Command> emit_once(const std::shared_ptr<Prepared>& prepared, const std::shared_ptr<Lanes>& lanes,
                                    const Ticket& before, std::vector<Recorded>& recorded) {
  return emit_with(prepared, lanes, before, recorded, [&](uint32_t k) { return std::move(prepared->commands[k]); });
}

}  // namespace cupola::runtime
