#include "runtime/executable_graph.h"

#include <algorithm>
#include <map>

#include "runtime/capture.h"
#include "runtime/event.h"
#include "runtime/graph_memory.h"
#include "runtime/runtime.h"

namespace cupola::runtime {
namespace {

using Problem = InstantiationProblem;

/// "Conditional bodies may contain kernel, empty, child graph, memset, memcpy and conditional nodes."
bool allowed_in_body(const Work& work) {
  return std::holds_alternative<KernelWork>(work) || std::holds_alternative<EmptyWork>(work) ||
         std::holds_alternative<ChildWork>(work) || std::holds_alternative<FillWork>(work) ||
         std::holds_alternative<CopyWork>(work) || std::holds_alternative<ConditionalWork>(work);
}

Result<> check_nodes(const Graph& graph, bool in_body, Problem& problem) {
  for (const auto& node : graph.nodes()) {
    if (in_body && !allowed_in_body(node->work)) {
      problem = {Problem::Kind::NotSupported, node.get()};
      return fail(ErrorCode::NotSupported,
                  "the body of a conditional node may have kernel, empty, child graph, memset, memcpy and conditional "
                  "nodes only");
    }
    if (const auto* kernel = std::get_if<KernelWork>(&node->work)) {
      problem = {Problem::Kind::Error, node.get()};
      TRY(prepare_launch(*kernel->function, kernel->shape));
      problem = {};
    }
    const bool body = in_body || std::holds_alternative<ConditionalWork>(node->work);
    for (const auto& inner : graphs_within(node->work)) TRY(check_nodes(*inner, body, problem));
  }
  return {};
}

Result<> check_conditions(const Graph& graph, Problem& problem) {
  for (const auto& condition : graph.conditions) {
    if (condition->taken()) continue;
    problem = {Problem::Kind::ConditionUnused, nullptr};
    return fail(ErrorCode::InvalidValue, "the conditional handle {:#x} belongs to no node", condition->handle());
  }
  return {};
}

Result<> check_flags(uint64_t flags) {
  using E = ExecutableGraph;
  if (flags & ~(E::kAutoFree | E::kUpload | E::kDeviceLaunch | E::kUseNodePriority))
    return fail(ErrorCode::InvalidValue, "the instantiation flags {:#x} are not valid", flags);
  if ((flags & E::kDeviceLaunch) && (flags & E::kAutoFree))
    return fail(ErrorCode::InvalidValue, "a graph for the device cannot free its memory on launch");
  if (flags & E::kDeviceLaunch) return fail(ErrorCode::NotSupported, "launching graphs from kernels is not supported");
  return {};
}

}  // namespace

Result<std::shared_ptr<ExecutableGraph>> ExecutableGraph::make(const std::shared_ptr<Graph>& graph, Context& context,
                                                               uint64_t flags, Problem& problem) {
  TRY(check_flags(flags));
  const bool has_memory = graph->has_memory();
  if (has_memory && !graph->only_instance.expired())
    return fail(ErrorCode::NotSupported, "a graph with memory nodes can have only one executable graph at a time");
  Node* in_cycle = nullptr;
  if (auto order = Plan::make(*graph, &in_cycle); !order) {
    problem = {Problem::Kind::InvalidStructure, in_cycle};
    return fail(order.error());
  }
  TRY(check_nodes(*graph, false, problem));
  TRY(check_conditions(*graph, problem));
  auto made = std::shared_ptr<ExecutableGraph>(new ExecutableGraph(context, flags));
  made->graph_ = graph->clone(false);
  made->name_nodes(*graph, *made->graph_);
  {
    Lock lock(made->mutex_);
    made->add_contexts_of(*made->graph_);
  }
  TRY(made->plan_, Plan::make(*made->graph_, nullptr));
  TRY(made->lanes_, Lanes::make(*made->plan_, context, false));
  if (has_memory) graph->only_instance = made;
  return made;
}

ExecutableGraph::~ExecutableGraph() {
  Lock lock(mutex_);
  if (last_.reached()) return;
  // What runs needs both until its end; user objects too go only then.
  last_.semaphore->when(last_.value, [graph = graph_, lanes = lanes_] {});
}

void ExecutableGraph::name_nodes(const Graph& given, const Graph& own) {
  for (size_t i = 0; i < given.nodes().size(); ++i) {
    const Node& from = *given.nodes()[i];
    Node& to = *own.nodes()[i];
    nodes_.emplace(from.id(), &to);
    const auto from_graphs = graphs_within(from.work), to_graphs = graphs_within(to.work);
    for (size_t k = 0; k < from_graphs.size(); ++k) name_nodes(*from_graphs[k], *to_graphs[k]);
  }
}

void ExecutableGraph::add_contexts_of(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    add_contexts_of(node->work);
    for (const auto& inner : graphs_within(node->work)) add_contexts_of(*inner);
  }
}

void ExecutableGraph::add_contexts_of(const Work& work) {
  const auto add = [&](const Context& context) REQUIRES(mutex_) { contexts_.emplace(&context, &context.device()); };
  const auto add_owner = [&](hal::Address address) REQUIRES(mutex_) {
    const auto range = Runtime::get().addresses.find(address);
    if (range && range->context && !range->is_host()) add(*range->context);
  };
  if (const auto* kernel = std::get_if<KernelWork>(&work)) add(kernel->function->context());
  if (const auto* fill = std::get_if<FillWork>(&work)) add_owner(fill->command.destination);
  if (const auto* copy = std::get_if<CopyWork>(&work)) {
    add_owner(copy->command.destination);
    add_owner(copy->command.source);
  }
}

/// The work that a node takes over; graphs within stay its own, with works of their own.
void ExecutableGraph::take_over(Node& own, const Work& given) {
  if (!graphs_within(own.work).empty()) return;
  own.work = given;
  add_contexts_of(given);
}

std::vector<std::shared_ptr<Stream>> ExecutableGraph::default_streams_of_peers(const Stream& stream) const {
  std::vector<std::shared_ptr<Stream>> streams;
  Lock lock(mutex_);
  for (const auto& [peer, device] : contexts_) {
    if (device == &stream.context().device()) continue;
    const auto context = Runtime::get().context(peer);
    if (!context || !(*context)->active()) continue;
    if (auto legacy = (*context)->legacy_stream()) streams.push_back(*std::move(legacy));
  }
  return streams;
}

Result<Node*> ExecutableGraph::node_for(const Node& given) const {
  const auto found = nodes_.find(given.id());
  if (found != nodes_.end()) return found->second;
  return fail(ErrorCode::InvalidValue, "{} is no node of the graph that was instantiated",
              static_cast<const void*>(&given));
}

/// Sees to it that memory is allocated once and freed once, and keeps account of it.
Result<> ExecutableGraph::take_memory() {
  std::map<GraphAllocation*, bool> allocated;
  const auto state_of = [&](GraphAllocation& allocation) -> bool& {
    return allocated.try_emplace(&allocation, allocation.allocated()).first->second;
  };
  std::vector<std::pair<GraphAllocation*, bool>> changes;  // in order: the most that was used counts
  for (const Step& step : plan_->steps()) {
    if (!step.node) continue;
    if (const auto* alloc = std::get_if<AllocWork>(&step.node->work)) {
      bool& state = state_of(*alloc->allocation);
      if (state && !(flags_ & kAutoFree))
        return fail(ErrorCode::InvalidValue,
                    "the memory at {:#x} that the graph allocates was not freed since the last launch: free it, or "
                    "instantiate the graph with auto-free on launch",
                    alloc->allocation->address());
      state = true;
      changes.emplace_back(alloc->allocation.get(), true);
    } else if (const auto* freed = std::get_if<FreeWork>(&step.node->work)) {
      bool& state = state_of(*freed->allocation);
      if (!state)
        return fail(ErrorCode::InvalidValue, "the memory at {:#x} that the graph frees is not allocated",
                    freed->allocation->address());
      state = false;
      changes.emplace_back(freed->allocation.get(), false);
    }
  }
  for (const auto& [allocation, state] : changes) allocation->set_allocated(state);
  return {};
}

Result<> ExecutableGraph::launch(Stream& stream) {
  TRY(stream.context().check());
  if (const std::shared_ptr<Capture> capture = stream.capture()) {
    // As an H200 (driver 580) has it.
    return capture->refuse(ErrorCode::StreamCaptureUnsupported,
                           "a launch of a graph has no node: add the graph with cuGraphAddChildGraphNode");
  }
  // In a NULL stream the graph has a place in those of all devices that its kernels and the memory it copies belong to,
  // as a copy between devices has; what else is submitted to these devices is not ordered with it.
  std::vector<std::shared_ptr<Stream>> peers;
  if (stream.kind() == Stream::Kind::Legacy) peers = default_streams_of_peers(stream);
  for (const auto& peer : peers) stream.wait(peer->mark());
  std::vector<Recorded> recorded;
  Ticket done;
  {
    Lock lock(mutex_);
    TRY(std::shared_ptr<Prepared> prepared, prepare(plan_, disabled_));
    TRY(take_memory());
    const Ticket previous = last_;
    last_ = stream.enqueue_between([&](const Ticket& before) {
      std::vector<hal::Command> commands;
      if (!previous.reached()) commands.push_back(hal::Wait{previous.semaphore, previous.value});
      const Ticket begin{before.semaphore, before.value + commands.size()};
      std::vector<hal::Command> run = emit_once(prepared, lanes_, begin, recorded);
      if (commands.empty()) return run;
      std::ranges::move(run, std::back_inserter(commands));
      return commands;
    });
    for (Recorded& each : recorded) each.event->recorded(std::move(each.ticket), std::move(each.time));
    done = last_;
  }
  lanes_->start();  // without the lock: what is done at once calls what waits for it
  stream.start();
  for (const auto& peer : peers) peer->wait(done);
  return {};
}

Result<> ExecutableGraph::set_work(const Node& given, Work work) {
  TRY(Node* const node, node_for(given));
  Lock lock(mutex_);
  TRY(keep_attributes(work, node->work));
  switch (compare_works(node->work, work, flags_)) {
    case UpdateOutcome::Kind::Success:
      if (const auto* kernel = std::get_if<KernelWork>(&work)) TRY(prepare_launch(*kernel->function, kernel->shape));
      take_over(*node, work);
      return {};
    case UpdateOutcome::Kind::NodeTypeChanged:
      return fail(ErrorCode::InvalidValue, "the node is of another type than the parameters");
    case UpdateOutcome::Kind::AttributesChanged:
      return fail(ErrorCode::InvalidValue, "a cooperative launch or priority cannot change in an executable graph");
    case UpdateOutcome::Kind::UnsupportedFunctionChange:
      return fail(ErrorCode::InvalidValue, "the kernel belongs to another context than the node's");
    case UpdateOutcome::Kind::ParametersChanged:
    case UpdateOutcome::Kind::Error:
    case UpdateOutcome::Kind::TopologyChanged:
    case UpdateOutcome::Kind::FunctionChanged:
    case UpdateOutcome::Kind::NotSupported:
      break;
  }
  return fail(
      ErrorCode::InvalidValue,
      "the kind of memory, the shape of copies and fills of several rows and the number and kinds of operations on "
      "memory cannot change in an executable graph");
}

Result<> ExecutableGraph::set_child(const Node& given, const Graph& graph) {
  TRY(Node* const node, node_for(given));
  Lock lock(mutex_);
  const auto* child = std::get_if<ChildWork>(&node->work);
  if (!child) return fail(ErrorCode::InvalidValue, "the node is no child graph node");
  std::vector<std::pair<Node*, const Node*>> pairs;
  const UpdateOutcome outcome = pair_nodes(*child->graph, graph, flags_, pairs);
  if (outcome.kind != UpdateOutcome::Kind::Success)
    return fail(ErrorCode::GraphExecUpdateFailure,
                "the graph differs from the node's by more than an update may change (reason {})",
                static_cast<int>(outcome.kind));
  for (const auto& [own, other] : pairs)
    if (const auto* kernel = std::get_if<KernelWork>(&other->work))
      TRY(prepare_launch(*kernel->function, kernel->shape));
  for (const auto& [own, other] : pairs) take_over(*own, other->work);
  return {};
}

namespace {

Result<> check_switch(const Node& node) {
  const Work& work = node.work;
  if (std::holds_alternative<KernelWork>(work) || std::holds_alternative<CopyWork>(work) ||
      std::holds_alternative<FillWork>(work))
    return {};
  return fail(ErrorCode::InvalidValue, "only kernel, memcpy and memset nodes can be switched on and off");
}

}  // namespace

Result<> ExecutableGraph::set_enabled(const Node& given, bool enabled) {
  TRY(Node* const node, node_for(given));
  Lock lock(mutex_);
  TRY(check_switch(*node));
  enabled ? void(disabled_.erase(node)) : void(disabled_.insert(node));
  return {};
}

Result<bool> ExecutableGraph::enabled(const Node& given) const {
  TRY(Node* const node, node_for(given));
  Lock lock(mutex_);
  TRY(check_switch(*node));
  return !disabled_.contains(node);
}

UpdateOutcome ExecutableGraph::update(const Graph& graph) {
  Lock lock(mutex_);
  std::vector<std::pair<Node*, const Node*>> pairs;
  UpdateOutcome outcome = pair_nodes(*graph_, graph, flags_, pairs);
  if (outcome.kind != UpdateOutcome::Kind::Success) return outcome;
  for (const auto& [own, given] : pairs) {
    if (const auto* kernel = std::get_if<KernelWork>(&given->work))
      if (!prepare_launch(*kernel->function, kernel->shape)) return {UpdateOutcome::Kind::ParametersChanged, given};
  }
  for (const auto& [own, given] : pairs) take_over(*own, given->work);
  return outcome;
}

}  // namespace cupola::runtime
