#pragma once

#include "cuda/driver/api.h"
#include "runtime/graph.h"

// Between the parameters of graph nodes as cuda.h has them and the runtime's Work.

namespace cupola::driver {

/// What a node shall do, and the parameters as they were given where they are more than that.
struct Described {
  Work work;
  std::vector<std::byte> as_given;
};

/// Errors: what the call that would run the work says of its parameters.
Result<Described> describe(const CUDA_KERNEL_NODE_PARAMS& params);
Result<Described> describe(const CUDA_KERNEL_NODE_PARAMS_v1& params);
Result<Described> describe(const CUDA_MEMCPY3D& params);
Result<Described> describe(const CUDA_MEMSET_NODE_PARAMS& params);
Result<Described> describe(const CUDA_HOST_NODE_PARAMS& params);
Result<Described> describe(const CUDA_EVENT_RECORD_NODE_PARAMS& params);
Result<Described> describe(const CUDA_EVENT_WAIT_NODE_PARAMS& params);
Result<Described> describe(const CUDA_CHILD_GRAPH_NODE_PARAMS& params);
Result<Described> describe(const CUDA_MEM_ALLOC_NODE_PARAMS& params);
Result<Described> describe(const CUDA_MEM_FREE_NODE_PARAMS& params);
Result<Described> describe(const CUDA_CONDITIONAL_NODE_PARAMS& params);
Result<Described> describe(const CUDA_BATCH_MEM_OP_NODE_PARAMS& params);

/// The parameters of a node. Pointers in them are the node's, and valid until it changes. Error: InvalidValue for a
/// node of another type.
Result<> write(Node& node, CUDA_KERNEL_NODE_PARAMS& params);
Result<> write(Node& node, CUDA_KERNEL_NODE_PARAMS_v1& params);
Result<> write(Node& node, CUDA_MEMCPY3D& params);
Result<> write(Node& node, CUDA_MEMSET_NODE_PARAMS& params);
Result<> write(Node& node, CUDA_HOST_NODE_PARAMS& params);
Result<> write(Node& node, CUDA_EVENT_RECORD_NODE_PARAMS& params);
Result<> write(Node& node, CUDA_EVENT_WAIT_NODE_PARAMS& params);
Result<> write(Node& node, CUDA_CHILD_GRAPH_NODE_PARAMS& params);
Result<> write(Node& node, CUDA_MEM_ALLOC_NODE_PARAMS& params);
Result<> write(Node& node, CUDA_MEM_FREE_NODE_PARAMS& params);
Result<> write(Node& node, CUDA_CONDITIONAL_NODE_PARAMS& params);
Result<> write(Node& node, CUDA_BATCH_MEM_OP_NODE_PARAMS& params);

CUgraphNodeType type_of(const Work& work);

/// Errors: InvalidValue for a missing array, a node that is not there, and edge data that is not valid.
Result<std::vector<Dependency>> dependencies_of(const CUgraphNode* nodes, const CUgraphEdgeData* data, size_t count);

/// Adds the node. Errors: Graph::add's; InvalidValue for memory that the graph frees already.
Result<Node*> add_node(CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData* data, size_t count,
                       Described described);

/// Gives a node of a graph new work of the same type. Error: InvalidValue.
Result<> replace(Node& node, Described described);

}  // namespace cupola::driver
