// Which changes an executable graph takes: "CUDA Driver API, cuGraphExecUpdate" and the cuGraphExec...SetParams.

#include <algorithm>
#include <cstring>

#include "runtime/executable_graph.h"
#include "runtime/runtime.h"

namespace cupola::runtime {
namespace {

using Kind = UpdateOutcome::Kind;
constexpr int kPriority = 8;  // CU_LAUNCH_ATTRIBUTE_PRIORITY

bool same_priority(const KernelWork& a, const KernelWork& b) {
  const auto priority_of = [](const KernelWork& work) {
    int priority = 0;
    if (const LaunchAttributes::Value* const value = work.attributes.find(kPriority))
      std::memcpy(&priority, value->data(), sizeof priority);
    return priority;
  };
  return priority_of(a) == priority_of(b);
}

enum class Side { Pageable, Host, Device, Managed };

/// What the memory is, for "the same kind of allocation".
Side side_of(hal::Address address) {
  const auto range = Runtime::get().addresses.find(address);
  if (!range) return Side::Pageable;
  if (range->is_host()) return Side::Host;
  return range->kind == MemoryKind::Managed ? Side::Managed : Side::Device;
}

bool same_side(hal::Address a, hal::Address b) {
  const Side of_a = side_of(a), of_b = side_of(b);
  const auto is_host = [](Side side) { return side == Side::Pageable || side == Side::Host; };
  return of_a == of_b || (is_host(of_a) && is_host(of_b));
}

bool same_box(const hal::Copy& a, const hal::Copy& b) {
  return a.destination == b.destination && a.source == b.source && a.width == b.width && a.height == b.height &&
         a.depth == b.depth && a.destination_pitch == b.destination_pitch && a.source_pitch == b.source_pitch &&
         a.destination_slice == b.destination_slice && a.source_slice == b.source_slice;
}

Kind compare(const KernelWork& own, const KernelWork& given, uint64_t flags) {
  if (&own.function->context() != &given.function->context()) return Kind::UnsupportedFunctionChange;
  if (own.shape.cooperative != given.shape.cooperative) return Kind::AttributesChanged;
  if ((flags & ExecutableGraph::kUseNodePriority) && !same_priority(own, given)) return Kind::AttributesChanged;
  return Kind::Success;
}

Kind compare(const CopyWork& own, const CopyWork& given, uint64_t) {
  const hal::Copy &from = own.command, &to = given.command;
  if (same_box(from, to) && own.destination == given.destination && own.source == given.source) return Kind::Success;
  const bool flat = from.height == 1 && from.depth == 1 && to.height == 1 && to.depth == 1;
  if (!flat || !same_side(from.destination, to.destination) || !same_side(from.source, to.source))
    return Kind::ParametersChanged;
  return Kind::Success;
}

Kind compare(const FillWork& own, const FillWork& given, uint64_t) {
  const hal::Fill &from = own.command, &to = given.command;
  const bool same_size = from.width == to.width && from.height == to.height && from.value_bytes == to.value_bytes;
  const bool one_row = from.height == 1 && to.height == 1;
  if (!one_row && (!same_size || from.pitch != to.pitch)) return Kind::ParametersChanged;
  return same_side(from.destination, to.destination) ? Kind::Success : Kind::ParametersChanged;
}

Kind compare(const AllocWork& own, const AllocWork& given, uint64_t) {
  return own.allocation == given.allocation ? Kind::Success : Kind::ParametersChanged;
}
Kind compare(const FreeWork& own, const FreeWork& given, uint64_t) {
  return own.allocation == given.allocation ? Kind::Success : Kind::ParametersChanged;
}

Kind compare(const ConditionalWork& own, const ConditionalWork& given, uint64_t) {
  const bool same =
      own.kind == given.kind && own.condition == given.condition && own.bodies.size() == given.bodies.size();
  return same ? Kind::Success : Kind::ParametersChanged;
}

Kind compare(const HostWork&, const HostWork&, uint64_t) {
  return Kind::Success;
}
Kind compare(const ChildWork&, const ChildWork&, uint64_t) {
  return Kind::Success;
}
Kind compare(const EmptyWork&, const EmptyWork&, uint64_t) {
  return Kind::Success;
}
Kind compare(const WaitWork&, const WaitWork&, uint64_t) {
  return Kind::Success;
}
Kind compare(const RecordWork&, const RecordWork&, uint64_t) {
  return Kind::Success;
}
Kind compare(const MemoryOpsWork& own, const MemoryOpsWork& given, uint64_t) {
  constexpr unsigned kComparison = 3;  // of a wait's flags these may change; all of a write's may not
  const auto same = [](const MemoryOp& from, const MemoryOp& to) {
    const unsigned fixed = from.kind == MemoryOp::Kind::Wait ? ~kComparison : ~0u;
    return from.kind == to.kind && from.bytes == to.bytes && (from.flags & fixed) == (to.flags & fixed);
  };
  return own.context == given.context && std::ranges::equal(own.ops, given.ops, same) ? Kind::Success
                                                                                      : Kind::ParametersChanged;
}

std::vector<Node*> sinks_of(const Graph& graph) {
  std::vector<Node*> found;
  for (const auto& node : graph.nodes())
    if (node->dependents().empty()) found.push_back(node.get());
  return found;
}

class Pairing {
 public:
  Pairing(uint64_t flags, std::vector<std::pair<Node*, const Node*>>& pairs) : flags_(flags), pairs_(pairs) {}

  bool graphs(const Graph& own, const Graph& given) {
    if (own.nodes().size() != given.nodes().size()) return refuse(Kind::TopologyChanged, nullptr);
    const std::vector<Node*> own_sinks = sinks_of(own), given_sinks = sinks_of(given);
    if (given_sinks.size() != own_sinks.size())
      return refuse(Kind::TopologyChanged, given_sinks.empty() ? nullptr : given_sinks.back());
    for (size_t i = 0; i < own_sinks.size(); ++i)
      if (!pair(*own_sinks[i], *given_sinks[i])) return false;
    return true;
  }

  UpdateOutcome outcome;

 private:
  bool refuse(Kind kind, const Node* node, const Node* from = nullptr) {
    outcome = {kind, node, from};
    return false;
  }

  bool pair(Node& first_own, const Node& first_given) {
    std::vector<std::pair<Node*, const Node*>> open{{&first_own, &first_given}};
    known_[&first_given] = &first_own;
    taken_.insert(&first_own);
    while (!open.empty()) {
      const auto [own, given] = open.back();
      open.pop_back();
      if (!works(*own, *given)) return false;
      if (own->dependencies().size() != given->dependencies().size()) return refuse(Kind::TopologyChanged, given);
      for (size_t i = 0; i < own->dependencies().size(); ++i) {
        Node* own_before = own->dependencies()[i].node;
        const Node* given_before = given->dependencies()[i].node;
        const auto found = known_.find(given_before);
        if (found == known_.end() && taken_.insert(own_before).second) {
          known_[given_before] = own_before;
          open.emplace_back(own_before, given_before);
        } else if (found == known_.end() || found->second != own_before) {
          return refuse(Kind::TopologyChanged, given, given_before);
        }
      }
    }
    return true;
  }

  bool works(Node& own, const Node& given) {
    if (own.work.index() != given.work.index()) return refuse(Kind::NodeTypeChanged, &given);
    if (const Kind kind = compare_works(own.work, given.work, flags_); kind != Kind::Success)
      return refuse(kind, &given);
    pairs_.emplace_back(&own, &given);
    const auto own_graphs = graphs_within(own.work), given_graphs = graphs_within(given.work);
    for (size_t i = 0; i < own_graphs.size(); ++i)
      if (!graphs(*own_graphs[i], *given_graphs[i])) return false;
    return true;
  }

  const uint64_t flags_;
  std::vector<std::pair<Node*, const Node*>>& pairs_;
  std::unordered_map<const Node*, Node*> known_;
  std::unordered_set<const Node*> taken_;
};

}  // namespace

UpdateOutcome::Kind compare_works(const Work& own, const Work& given, uint64_t flags) {
  if (own.index() != given.index()) return Kind::NodeTypeChanged;
  return std::visit([&]<typename W>(const W& work) { return compare(work, std::get<W>(given), flags); }, own);
}

UpdateOutcome pair_nodes(const Graph& own, const Graph& given, uint64_t flags,
                         std::vector<std::pair<Node*, const Node*>>& pairs) {
  Pairing pairing(flags, pairs);
  pairing.graphs(own, given);
  return pairing.outcome;
}

}  // namespace cupola::runtime
