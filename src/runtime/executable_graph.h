#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "base/mutex.h"
#include "runtime/graph_plan.h"

namespace cupola::runtime {

/// Why a graph cannot be instantiated, by CUDA's numbers (CUgraphInstantiateResult).
struct InstantiationProblem {
  enum class Kind { None = 0, Error, InvalidStructure, NotSupported, SeveralContexts, ConditionUnused };
  Kind kind = Kind::None;
  Node* node = nullptr;
};

/// What became of an update, by CUDA's numbers (CUgraphExecUpdateResult).
struct UpdateOutcome {
  enum class Kind {
    Success = 0,
    Error,
    TopologyChanged,
    NodeTypeChanged,
    FunctionChanged,
    ParametersChanged,
    NotSupported,
    UnsupportedFunctionChange,
    AttributesChanged
  };
  Kind kind = Kind::Success;
  const Node* node = nullptr;  ///< of the graph that was given
  const Node* from = nullptr;  ///< the dependency that does not match
};

/// A graph that can be launched: a copy of the graph as it was, its plan, and the queues that it needs. Its launches
/// follow one another. Any thread.
class ExecutableGraph {
 public:
  static constexpr uint64_t kAutoFree = 1, kUpload = 2, kDeviceLaunch = 4, kUseNodePriority = 8;

  /// Errors ("CUDA Driver API, cuGraphInstantiate"): InvalidValue for a cycle, unknown flags and a condition without a
  /// node; NotSupported for a second instance of a graph with memory nodes, and for launches from the device.
  static Result<std::shared_ptr<ExecutableGraph>> make(const std::shared_ptr<Graph>& graph, Context& context,
                                                       uint64_t flags, InstantiationProblem& problem);
  /// What runs, runs on.
  ~ExecutableGraph();

  Context& context() const { return context_; }
  uint64_t flags() const { return flags_; }

  /// After everything in the stream, and after the launch before. Errors: InvalidValue for memory that is gone, or that
  /// is allocated twice or freed twice; the context's fault.
  Result<> launch(Stream& stream) EXCLUDES(mutex_);

  /// The node that was made from one of the graph. Error: InvalidValue.
  Result<Node*> node_for(const Node& given) const;

  /// Gives the node new work for launches to come. Errors: InvalidValue for work of another kind, and for changes that
  /// an update would refuse.
  Result<> set_work(const Node& given, Work work) EXCLUDES(mutex_);
  /// The same for a child graph node, with the nodes of a graph of the same shape.
  Result<> set_child(const Node& given, const Graph& graph) EXCLUDES(mutex_);

  /// Only kernels, copies and fills can be switched off. Error: InvalidValue.
  Result<> set_enabled(const Node& given, bool enabled) EXCLUDES(mutex_);
  Result<bool> enabled(const Node& given) const EXCLUDES(mutex_);

  /// Takes over what the nodes of a graph of the same shape do; all or nothing.
  UpdateOutcome update(const Graph& graph) EXCLUDES(mutex_);

 private:
  ExecutableGraph(Context& context, uint64_t flags) : context_(context), flags_(flags) {}
  void name_nodes(const Graph& given, const Graph& own);
  void add_contexts_of(const Graph& graph) REQUIRES(mutex_);
  void add_contexts_of(const Work& work) REQUIRES(mutex_);
  void take_over(Node& own, const Work& given) REQUIRES(mutex_);
  std::vector<std::shared_ptr<Stream>> default_streams_of_peers(const Stream& stream) const EXCLUDES(mutex_);
  Result<> take_memory() REQUIRES(mutex_);

  Context& context_;
  const uint64_t flags_;
  std::shared_ptr<Graph> graph_;  ///< its nodes' work is guarded by mutex_
  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<Lanes> lanes_;
  std::unordered_map<uint64_t, Node*> nodes_;  ///< by the id of the node given
  mutable Mutex mutex_;
  std::unordered_set<const Node*> disabled_ GUARDED_BY(mutex_);
  /// Those that kernels, and the memory of copies and fills, belong to or did, with their devices.
  std::map<const Context*, const Device*> contexts_ GUARDED_BY(mutex_);
  Ticket last_ GUARDED_BY(mutex_);  ///< of the last launch
};

/// What the two works of paired nodes have between them: Success when the first may become the second in an executable
/// graph of these flags.
UpdateOutcome::Kind compare_works(const Work& own, const Work& given, uint64_t flags);

/// The nodes of `given` and those of `own` that they stand for, as "CUDA Driver API, cuGraphExecUpdate" pairs them:
/// from the nodes that nothing depends on along the dependencies, in the order of both. Graphs within are paired too.
UpdateOutcome pair_nodes(const Graph& own, const Graph& given, uint64_t flags,
                         std::vector<std::pair<Node*, const Node*>>& pairs);

}  // namespace cupola::runtime
