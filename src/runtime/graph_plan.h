#pragma once

#include <map>
#include <memory>
#include <unordered_set>
#include <vector>

#include "hal/queue.h"
#include "runtime/graph.h"
#include "runtime/graph_condition.h"
#include "runtime/stream.h"

// How a graph runs. Its nodes, and those of its child graphs, are cut into chains, and each chain is given a lane: a
// queue on which its commands follow one another. Lane 0 is the stream that the graph is launched on, so that a chain
// needs nothing else; further lanes are queues of the graph's own, at most kMostLanes in all. A dependency between
// lanes is a hal::Wait for the other lane's progress. Lanes fill in topological order, so that no lane waits for what
// stands behind its own wait.

namespace cupola::runtime {

inline constexpr uint32_t kMostLanes = 5;

class Plan;

/// A node's turn. A child graph has none; its nodes have theirs, and a last one that all of them come before.
struct Step {
  Node* node = nullptr;  ///< null for the end of a child graph
  std::vector<uint32_t> after;
  uint32_t lane = 0;
  std::vector<std::shared_ptr<const Plan>> bodies;  ///< of a conditional node
};

/// The order of a graph's commands. Never changes; what the nodes do may.
class Plan {
 public:
  /// Error: InvalidValue for a cycle, with a node of it in `in_cycle`.
  static Result<std::shared_ptr<const Plan>> make(const Graph& graph, Node** in_cycle);

  const std::vector<Step>& steps() const { return steps_; }
  uint32_t lanes() const { return lanes_; }

 private:
  Result<std::vector<uint32_t>> flatten(const Graph& graph, const std::vector<uint32_t>& entry, Node** in_cycle);
  void assign_lanes();

  std::vector<Step> steps_;
  uint32_t lanes_ = 1;
};

/// The queues of a plan, and of the bodies within it. Used by one launch at a time.
class Lanes {
 public:
  /// `own_first` is true for bodies, which no stream runs.
  static Result<std::shared_ptr<Lanes>> make(const Plan& plan, Context& context, bool own_first);

  uint64_t enqueue(uint32_t lane, hal::Command command);
  /// A point behind everything that was enqueued; not of the stream's lane.
  Ticket last(uint32_t lane) const { return {queues_[lane].queue->progress(), queues_[lane].submitted}; }
  const std::shared_ptr<Lanes>& body(uint32_t step, size_t which) const { return bodies_.at(step)[which]; }
  void start() const;

 private:
  struct Lane {
    std::unique_ptr<hal::Queue> queue;  ///< null for the stream's
    uint64_t submitted = 0;
  };
  std::vector<Lane> queues_;
  std::map<uint32_t, std::vector<std::shared_ptr<Lanes>>> bodies_;  ///< by step
};

/// What one launch will enqueue, checked and copied from the nodes, so that they may change from then on.
struct Prepared {
  struct StepCommands {
    uint32_t begin = 0, end = 0;                          ///< among the commands
    std::shared_ptr<Event> records;                       ///< an event that is recorded at the end, or null
    std::shared_ptr<std::atomic<uint64_t>> time;          ///< of that event
    std::shared_ptr<const ConditionalWork> conditional;   ///< or null
    std::vector<std::shared_ptr<const Prepared>> bodies;  ///< of the conditional node
  };
  std::shared_ptr<const Plan> plan;
  std::vector<hal::Command> first;     ///< before everything: the conditions' values
  std::vector<hal::Command> commands;  ///< of the steps, in their order
  std::vector<StepCommands> steps;
};

/// Errors: as copy() and fill() have them, for memory that is not there any more.
Result<std::shared_ptr<Prepared>> prepare(const std::shared_ptr<const Plan>& plan,
                                          const std::unordered_set<const Node*>& disabled);

/// An event and the point in a queue at which it happens.
struct Recorded {
  std::shared_ptr<Event> event;
  Ticket ticket;
  std::shared_ptr<std::atomic<uint64_t>> time;
};

/// Enqueues one run on all lanes but the first, and returns what belongs on the first after `before`. Starts nothing.
std::vector<hal::Command> emit(const std::shared_ptr<const Prepared>& prepared, const std::shared_ptr<Lanes>& lanes,
                               const Ticket& before, std::vector<Recorded>& recorded);
/// The same for the only run: its commands are moved from.
std::vector<hal::Command> emit_once(const std::shared_ptr<Prepared>& prepared, const std::shared_ptr<Lanes>& lanes,
                                    const Ticket& before, std::vector<Recorded>& recorded);

}  // namespace cupola::runtime
