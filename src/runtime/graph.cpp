#include "runtime/graph.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "runtime/runtime.h"

namespace cupola::runtime {
namespace {

std::atomic<uint64_t> next_node = 1;

bool contains(const std::vector<Dependency>& list, const Node* node) {
  return std::ranges::any_of(list, [node](const Dependency& each) { return each.node == node; });
}

Result<> refuse_memory_nodes(const Graph& graph, const char* what) {
  if (!graph.has_memory()) return {};
  return fail(ErrorCode::NotSupported, "a {} of a graph with memory nodes cannot be removed", what);
}

/// The same work, with own copies of the graphs within it.
Work copy_of(const Work& work) {
  if (const auto* child = std::get_if<ChildWork>(&work)) return ChildWork{child->graph->clone(false)};
  if (const auto* conditional = std::get_if<ConditionalWork>(&work)) {
    ConditionalWork copy = *conditional;
    for (std::shared_ptr<Graph>& body : copy.bodies) body = body->clone(false);
    return copy;
  }
  return work;
}

}  // namespace

std::atomic<uint64_t> Graph::next_id_ = 1;

std::vector<std::shared_ptr<Graph>> graphs_within(const Work& work) {
  if (const auto* child = std::get_if<ChildWork>(&work)) return {child->graph};
  if (const auto* conditional = std::get_if<ConditionalWork>(&work)) return conditional->bodies;
  return {};
}

Node::Node(Graph& graph, Work work) : work(std::move(work)), graph_(graph), id_(next_node.fetch_add(1)), source_(id_) {}

bool Node::has_memory() const {
  if (std::holds_alternative<AllocWork>(work) || std::holds_alternative<FreeWork>(work)) return true;
  return std::ranges::any_of(graphs_within(work), [](const auto& graph) { return graph->has_memory(); });
}

std::shared_ptr<Graph> Graph::make(bool is_public) {
  auto graph = std::shared_ptr<Graph>(new Graph);
  if (!is_public) return graph;
  graph->public_ = true;
  Runtime::get().graphs.add(graph);
  return graph;
}

Graph::~Graph() {
  for (const auto& node : nodes_) {
    if (public_) Runtime::get().graph_nodes.remove(node.get());
    for (const auto& inner : graphs_within(node->work)) inner->withdraw();
  }
  for (const auto& [object, count] : user_objects_) object->release(count);
}

void Graph::publish() {
  public_ = true;
  for (const auto& node : nodes_) {
    Runtime::get().graph_nodes.add(node);
    for (const auto& inner : graphs_within(node->work)) adopt(*node, inner);
  }
}

void Graph::withdraw() {
  if (!public_) return;
  public_ = false;
  Runtime::get().graphs.remove(this);
  for (const auto& node : nodes_) {
    Runtime::get().graph_nodes.remove(node.get());
    for (const auto& inner : graphs_within(node->work)) inner->withdraw();
  }
}

void Graph::adopt(Node& node, const std::shared_ptr<Graph>& inner) {
  inner->owner_ = &node;
  if (!node.graph().public_ || inner->public_) return;
  Runtime::get().graphs.add(inner);
  inner->publish();
}

std::vector<Node*> Graph::roots() const {
  std::vector<Node*> found;
  for (const auto& node : nodes_)
    if (node->dependencies().empty()) found.push_back(node.get());
  return found;
}

Result<> Graph::check_member(const Node* node) const {
  if (node && &node->graph() == this) return {};
  return fail(ErrorCode::InvalidValue, "{} is no node of this graph", static_cast<const void*>(node));
}

Result<Node*> Graph::add(Work work, std::span<const Dependency> dependencies) {
  std::unordered_set<const Node*> seen;
  for (const Dependency& each : dependencies) {
    TRY(check_member(each.node));
    if (!seen.insert(each.node).second) return fail(ErrorCode::InvalidValue, "a dependency is given twice");
  }
  auto node = std::make_shared<Node>(*this, std::move(work));
  node->dependencies_.assign(dependencies.begin(), dependencies.end());
  for (const Dependency& each : dependencies) each.node->dependents_.push_back({node.get(), each.data});
  nodes_.push_back(node);
  if (public_) Runtime::get().graph_nodes.add(node);
  for (const auto& inner : graphs_within(node->work)) adopt(*node, inner);
  return node.get();
}

Result<> Graph::add_edge(Node& from, Node& to, EdgeData data) {
  TRY(check_member(&from));
  TRY(check_member(&to));
  if (&from == &to) return fail(ErrorCode::InvalidValue, "a node cannot depend on itself");
  if (contains(to.dependencies_, &from)) return fail(ErrorCode::InvalidValue, "the dependency is already there");
  to.dependencies_.push_back({&from, data});
  from.dependents_.push_back({&to, data});
  return {};
}

Result<> Graph::remove_edge(Node& from, Node& to) {
  TRY(check_member(&from));
  TRY(check_member(&to));
  TRY(refuse_memory_nodes(*this, "dependency"));
  if (!contains(to.dependencies_, &from)) return fail(ErrorCode::InvalidValue, "there is no such dependency");
  std::erase_if(to.dependencies_, [&](const Dependency& each) { return each.node == &from; });
  std::erase_if(from.dependents_, [&](const Dependency& each) { return each.node == &to; });
  return {};
}

Result<> Graph::remove(Node& node) {
  TRY(check_member(&node));
  TRY(refuse_memory_nodes(*this, "node"));
  for (const Dependency& each : node.dependencies_)
    std::erase_if(each.node->dependents_, [&](const Dependency& back) { return back.node == &node; });
  for (const Dependency& each : node.dependents_)
    std::erase_if(each.node->dependencies_, [&](const Dependency& back) { return back.node == &node; });
  for (const auto& inner : graphs_within(node.work)) inner->withdraw();
  Runtime::get().graph_nodes.remove(&node);
  std::erase_if(nodes_, [&](const auto& each) { return each.get() == &node; });
  return {};
}

std::shared_ptr<Graph> Graph::clone(bool is_public) const {
  auto graph = std::shared_ptr<Graph>(new Graph);
  graph->conditions = conditions;
  std::unordered_map<const Node*, Node*> clones;
  for (const auto& node : nodes_) {
    auto copy = std::make_shared<Node>(*graph, copy_of(node->work));
    copy->source_ = node->id_;
    copy->as_given = node->as_given;
    for (const auto& inner : graphs_within(copy->work)) inner->owner_ = copy.get();
    clones.emplace(node.get(), copy.get());
    graph->nodes_.push_back(std::move(copy));
  }
  const auto translated = [&](const std::vector<Dependency>& list) {
    std::vector<Dependency> result;
    for (const Dependency& each : list) result.push_back({clones.at(each.node), each.data});
    return result;
  };
  for (const auto& node : nodes_) {
    Node& copy = *clones.at(node.get());
    copy.dependencies_ = translated(node->dependencies_);
    copy.dependents_ = translated(node->dependents_);
  }
  for (const auto& [object, count] : user_objects_) {
    object->retain(count);
    graph->retain(object, count);
  }
  if (is_public) {
    Runtime::get().graphs.add(graph);
    graph->publish();
  }
  return graph;
}

Node* Graph::clone_of(uint64_t id) const {
  for (const auto& node : nodes_)
    if (node->source_ == id && node->id_ != id) return node.get();
  return nullptr;
}

bool Graph::has_memory() const {
  return std::ranges::any_of(nodes_, [](const auto& node) { return node->has_memory(); });
}

void Graph::retain(std::shared_ptr<UserObject> object, uint64_t count) {
  for (auto& [held, held_count] : user_objects_) {
    if (held != object) continue;
    held_count += count;
    return;
  }
  user_objects_.emplace_back(std::move(object), count);
}

void Graph::release(const UserObject& object, uint64_t count) {
  const auto found =
      std::ranges::find_if(user_objects_, [&](const auto& entry) { return entry.first.get() == &object; });
  if (found == user_objects_.end()) return;
  count = std::min(count, found->second);
  const std::shared_ptr<UserObject> held = found->first;
  found->second -= count;
  if (found->second == 0) user_objects_.erase(found);
  held->release(count);
}

Result<std::vector<Node*>> in_order(const Graph& graph, Node** in_cycle) {
  std::unordered_map<const Node*, size_t> waiting;
  std::vector<Node*> order;
  for (const auto& node : graph.nodes()) {
    waiting[node.get()] = node->dependencies().size();
    if (node->dependencies().empty()) order.push_back(node.get());
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const Dependency& next : order[i]->dependents())
      if (--waiting[next.node] == 0) order.push_back(next.node);
  }
  if (order.size() == graph.nodes().size()) return order;
  for (const auto& node : graph.nodes()) {
    if (waiting[node.get()] == 0) continue;
    if (in_cycle) *in_cycle = node.get();
    break;
  }
  return fail(ErrorCode::InvalidValue, "the dependencies of the graph form a cycle");
}

Result<> keep_attributes(Work& work, const Work& before) {
  auto* const kernel = std::get_if<KernelWork>(&work);
  const auto* const own = std::get_if<KernelWork>(&before);
  if (!kernel || !own) return {};
  kernel->attributes = own->attributes;
  kernel->shape.cooperative = own->shape.cooperative;
  return check_launch(*kernel->function, kernel->shape);
}

}  // namespace cupola::runtime
