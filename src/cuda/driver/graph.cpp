// Graphs: making, asking, edges. "CUDA Driver API, Graph Management".

#include "runtime/graph.h"

#include <algorithm>

#include "cuda/driver/api.h"
#include "cuda/driver/graph_nodes.h"
#include "runtime/graph_condition.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

/// Gives out a list as cuGraphGetNodes documents it: only its length without an array; else as many as fit, nulls
/// behind the last, and how many they were.
Result<> give_nodes(const std::vector<Node*>& nodes, CUgraphNode* out, size_t* count) {
  TRY(given(count, "the pointer to the number of nodes"));
  if (out) {
    for (size_t i = 0; i < *count; ++i) out[i] = i < nodes.size() ? handle_of<CUgraphNode>(nodes[i]) : nullptr;
    *count = std::min(*count, nodes.size());
  } else {
    *count = nodes.size();
  }
  return {};
}

CUgraphEdgeData edge_data(const EdgeData& data) {
  return {data.from_port, data.to_port, data.type, {}};
}

/// The same for neighbours with the data of their edges, which may be left out only where it says nothing.
Result<> give_neighbours(const std::vector<Dependency>& list, CUgraphNode* out, CUgraphEdgeData* data, size_t* count) {
  std::vector<Node*> nodes;
  for (const Dependency& each : list) {
    if (out && !data && each.data != EdgeData{})
      return fail(ErrorCode::LossyQuery, "an edge has data that the call does not ask for");
    nodes.push_back(each.node);
  }
  TRY(give_nodes(nodes, out, count));
  if (!out || !data) return {};
  for (size_t i = 0; i < *count; ++i) data[i] = edge_data(list[i].data);
  return {};
}

struct Edge {
  Node *from, *to;
  EdgeData data;
};

Result<> give_edges(const Graph& graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, size_t* count) {
  TRY(given(count, "numEdges"));
  if (!from != !to) return fail(ErrorCode::InvalidValue, "from and to must both be given, or both be null");
  std::vector<Edge> edges;
  for (const auto& node : graph.nodes())
    for (const Dependency& each : node->dependents()) edges.push_back({node.get(), each.node, each.data});
  if (!from) {
    *count = edges.size();
    return {};
  }
  for (size_t i = 0; i < *count; ++i) {
    if (i < edges.size() && !data && edges[i].data != EdgeData{})
      return fail(ErrorCode::LossyQuery, "an edge has data that the call does not ask for");
    from[i] = i < edges.size() ? handle_of<CUgraphNode>(edges[i].from) : nullptr;
    to[i] = i < edges.size() ? handle_of<CUgraphNode>(edges[i].to) : nullptr;
    if (data) data[i] = i < edges.size() ? edge_data(edges[i].data) : CUgraphEdgeData{};
  }
  *count = std::min(*count, edges.size());
  return {};
}

struct EdgeEnds {
  std::shared_ptr<Graph> graph;
  std::vector<Dependency> from, to;
};

Result<EdgeEnds> edge_ends(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* data,
                           size_t count) {
  EdgeEnds ends;
  TRY(ends.graph, Runtime::get().graph(graph));
  TRY(ends.from, dependencies_of(from, data, count));
  TRY(ends.to, dependencies_of(to, nullptr, count));
  return ends;
}

Result<> add_edges(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* data,
                   size_t count) {
  TRY(EdgeEnds ends, edge_ends(graph, from, to, data, count));
  for (size_t i = 0; i < count; ++i) TRY(ends.graph->add_edge(*ends.from[i].node, *ends.to[i].node, ends.from[i].data));
  return {};
}

Result<> remove_edges(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* data,
                      size_t count) {
  TRY(EdgeEnds ends, edge_ends(graph, from, to, data, count));
  for (size_t i = 0; i < count; ++i) TRY(ends.graph->remove_edge(*ends.from[i].node, *ends.to[i].node));
  return {};
}

/// True when the node is in this graph, or in one within it.
bool holds(const Graph& graph, const Node& node) {
  for (const Graph* outer = &node.graph(); outer; outer = outer->owner() ? &outer->owner()->graph() : nullptr)
    if (outer == &graph) return true;
  return false;
}

/// The clone of a node in a graph or a graph within it.
Node* find_clone(const Graph& graph, uint64_t id) {
  if (Node* found = graph.clone_of(id)) return found;
  for (const auto& node : graph.nodes())
    for (const auto& inner : graphs_within(node->work))
      if (Node* found = find_clone(*inner, id)) return found;
  return nullptr;
}

}  // namespace

CUresult cuGraphCreate(CUgraph* phGraph, unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(given(phGraph, "phGraph"));
    if (flags != 0) return fail(ErrorCode::InvalidValue, "flags are {:#x}; they must be 0", flags);
    *phGraph = handle_of<CUgraph>(Graph::make(true).get());
    return {};
  });
}

CUresult cuGraphDestroy(CUgraph hGraph) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Graph> graph, Runtime::get().graph(hGraph));
    if (graph->owner()) return fail(ErrorCode::InvalidValue, "the graph belongs to a node, and ends with it");
    graph->withdraw();
    return {};
  });
}

CUresult cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph) {
  return api_call([&]() -> Result<> {
    TRY(given(phGraphClone, "phGraphClone"));
    TRY(std::shared_ptr<Graph> original, Runtime::get().graph(originalGraph));
    if (original->has_memory()) return fail(ErrorCode::NotSupported, "a graph with memory nodes cannot be cloned");
    *phGraphClone = handle_of<CUgraph>(original->clone(true).get());
    return {};
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph) {
  return api_call([&]() -> Result<> {
    TRY(given(phNode, "phNode"));
    TRY(std::shared_ptr<Node> original, Runtime::get().graph_node(hOriginalNode));
    TRY(std::shared_ptr<Graph> clone, Runtime::get().graph(hClonedGraph));
    Node* const found = holds(*clone, *original) ? nullptr : find_clone(*clone, original->id());
    if (!found) return fail(ErrorCode::InvalidValue, "the graph has no clone of the node");
    *phNode = handle_of<CUgraphNode>(found);
    return {};
  });
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, size_t* numNodes) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Graph> graph, Runtime::get().graph(hGraph));
    std::vector<Node*> all;
    for (const auto& node : graph->nodes()) all.push_back(node.get());
    return give_nodes(all, nodes, numNodes);
  });
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode* rootNodes, size_t* numRootNodes) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Graph> graph, Runtime::get().graph(hGraph));
    return give_nodes(graph->roots(), rootNodes, numRootNodes);
  });
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edgeData,
                            size_t* numEdges) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Graph> graph, Runtime::get().graph(hGraph));
    return give_edges(*graph, from, to, edgeData, numEdges);
  });
}
CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, size_t* numEdges) {
  return forwarded([&] { return cuGraphGetEdges_v2(hGraph, from, to, nullptr, numEdges); });
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode* dependencies, CUgraphEdgeData* edgeData,
                                       size_t* numDependencies) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(hNode));
    return give_neighbours(node->dependencies(), dependencies, edgeData, numDependencies);
  });
}
CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode* dependencies, size_t* numDependencies) {
  return forwarded([&] { return cuGraphNodeGetDependencies_v2(hNode, dependencies, nullptr, numDependencies); });
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode* dependentNodes, CUgraphEdgeData* edgeData,
                                         size_t* numDependentNodes) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(hNode));
    return give_neighbours(node->dependents(), dependentNodes, edgeData, numDependentNodes);
  });
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode* dependentNodes, size_t* numDependentNodes) {
  return forwarded([&] { return cuGraphNodeGetDependentNodes_v2(hNode, dependentNodes, nullptr, numDependentNodes); });
}

CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* edgeData, size_t numDependencies) {
  return api_call([&] { return add_edges(hGraph, from, to, edgeData, numDependencies); });
}
CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                size_t numDependencies) {
  return api_call([&] { return add_edges(hGraph, from, to, nullptr, numDependencies); });
}
CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* edgeData, size_t numDependencies) {
  return api_call([&] { return remove_edges(hGraph, from, to, edgeData, numDependencies); });
}
CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t numDependencies) {
  return api_call([&] { return remove_edges(hGraph, from, to, nullptr, numDependencies); });
}

CUresult cuGraphDestroyNode(CUgraphNode hNode) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(hNode));
    return node->graph().remove(*node);
  });
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) {
  return api_call([&]() -> Result<> {
    TRY(given(type, "type"));
    TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(hNode));
    *type = type_of(node->work);
    return {};
  });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* pHandle_out, CUgraph hGraph, CUcontext ctx,
                                        unsigned int defaultLaunchValue, unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(given(pHandle_out, "pHandle_out"));
    if (flags & ~static_cast<unsigned>(CU_GRAPH_COND_ASSIGN_DEFAULT))
      return fail(ErrorCode::InvalidValue, "the flags {:#x} are not valid", flags);
    TRY(std::shared_ptr<Graph> graph, Runtime::get().graph(hGraph));
    auto context = ctx ? Runtime::get().context(ctx) : current_context();
    if (!context) return fail(context.error());
    TRY(std::shared_ptr<GraphCondition> condition,
        GraphCondition::make(**context, defaultLaunchValue, flags & CU_GRAPH_COND_ASSIGN_DEFAULT));
    *pHandle_out = condition->handle();
    graph->conditions.push_back(std::move(condition));
    return {};
  });
}
