#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/graph_work.h"
#include "runtime/user_object.h"

// Graphs: work and the order between it, described once and run often. "CUDA Driver API, Graph Management"; the rules
// quoted below are from there. Graphs are not synchronised: CUDA asks the program not to use one from two threads at
// the same time. Executable graphs and captures are.

namespace cupola::runtime {

class ExecutableGraph;
class Node;

/// How an edge leaves and enters its nodes; zeros are a full dependency. Kept and reported: a full dependency is never
/// less than what another kind asks for.
struct EdgeData {
  uint8_t from_port = 0, to_port = 0, type = 0;
  std::array<uint8_t, 5> reserved{};
  friend bool operator==(const EdgeData&, const EdgeData&) = default;
};

struct Dependency {
  Node* node = nullptr;
  EdgeData data;
};

/// A node of one graph; its address is its handle. The graph owns it.
class Node {
 public:
  Node(Graph& graph, Work work);

  Graph& graph() const { return graph_; }
  uint64_t id() const { return id_; }          ///< unique in the process
  uint64_t source() const { return source_; }  ///< the id of the node it was cloned from, else its own

  const std::vector<Dependency>& dependencies() const { return dependencies_; }
  const std::vector<Dependency>& dependents() const { return dependents_; }
  bool has_memory() const;

  Work work;
  std::vector<std::byte> as_given;       ///< the API's own description of the work, where the work does not say it all
  std::vector<void*> argument_pointers;  ///< what the API hands out for a kernel's parameters

 private:
  friend class Graph;
  Graph& graph_;
  const uint64_t id_;
  uint64_t source_;
  std::vector<Dependency> dependencies_, dependents_;
};

/// Nodes, the edges between them (at most one from a node to another), and the user objects that they need. One thread
/// at a time, as said above; its handle and those of its nodes are looked up by any. A node lives until it is removed
/// or its graph ends.
class Graph {
 public:
  /// An empty graph. A public one and its nodes are found by handle, until withdraw().
  static std::shared_ptr<Graph> make(bool is_public);
  ~Graph();

  uint64_t id() const { return id_; }
  /// The node that it belongs to, as child graph or body of a conditional node; null for others.
  Node* owner() const { return owner_; }

  /// Nodes in the order in which they were added.
  const std::vector<std::shared_ptr<Node>>& nodes() const { return nodes_; }
  std::vector<Node*> roots() const;

  /// Errors: InvalidValue for a dependency that is given twice or is no node of this graph.
  Result<Node*> add(Work work, std::span<const Dependency> dependencies);

  /// Errors: InvalidValue for nodes of other graphs, a node that shall depend on itself and an edge that is already
  /// there. A longer cycle is found when the graph is instantiated, as documented.
  Result<> add_edge(Node& from, Node& to, EdgeData data);
  /// Error: InvalidValue when there is no such edge; NotSupported in a graph with memory nodes.
  Result<> remove_edge(Node& from, Node& to);
  /// Error: NotSupported in a graph with memory nodes.
  Result<> remove(Node& node);

  /// A graph of the same nodes and edges in the same order, child graphs and user objects included.
  std::shared_ptr<Graph> clone(bool is_public) const;
  /// The node that is the clone of one of this id; null when there is none.
  Node* clone_of(uint64_t id) const;

  /// True when it, or a graph within it, allocates or frees memory.
  bool has_memory() const;

  /// Takes it, its nodes and the graphs within it out of what is found by handle.
  void withdraw();

  /// Makes `inner` the own graph of the node, found by handle when this graph is.
  static void adopt(Node& node, const std::shared_ptr<Graph>& inner);

  void retain(std::shared_ptr<UserObject> object, uint64_t count);
  /// Gives back as many as it holds, up to `count`.
  void release(const UserObject& object, uint64_t count);
  const std::vector<std::pair<std::shared_ptr<UserObject>, uint64_t>>& user_objects() const { return user_objects_; }

  std::vector<std::shared_ptr<GraphCondition>> conditions;  ///< made for this graph
  std::weak_ptr<ExecutableGraph> only_instance;             ///< of a graph with memory nodes

 private:
  Graph() = default;
  void publish();
  Result<> check_member(const Node* node) const;

  static std::atomic<uint64_t> next_id_;
  const uint64_t id_ = next_id_.fetch_add(1);
  bool public_ = false;
  Node* owner_ = nullptr;
  std::vector<std::shared_ptr<Node>> nodes_;
  std::vector<std::pair<std::shared_ptr<UserObject>, uint64_t>> user_objects_;
};

/// The graphs that the node owns: a child graph or the bodies of a conditional node.
std::vector<std::shared_ptr<Graph>> graphs_within(const Work& work);

/// The nodes so that each comes after those it depends on, and otherwise in the order in which they were added. Error:
/// InvalidValue, with a node of it in `in_cycle`, when the edges form a cycle.
Result<std::vector<Node*>> in_order(const Graph& graph, Node** in_cycle);

/// For work that takes the place of other work: a kernel's attributes are no parameters, they stay. Errors: those of
/// check_launch.
Result<> keep_attributes(Work& work, const Work& before);

}  // namespace cupola::runtime
