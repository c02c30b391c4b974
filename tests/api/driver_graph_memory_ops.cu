// Graph nodes that wait for values in memory and write them, and captures that become such nodes. Oracle: "CUDA Driver
// API, Graph Management": cuGraphAddBatchMemOpNode and relatives; "Stream Memory Operations".

#include "driver_graph_nodes.h"
#include "driver_words.h"

namespace {

CUDA_BATCH_MEM_OP_NODE_PARAMS batch(CUstreamBatchMemOpParams* ops, unsigned count) {
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = {};
  params.ctx = check::use_context();
  params.count = count;
  params.paramArray = ops;
  return params;
}

CUgraphNode add(CUgraph graph, CUgraphNode after, CUstreamBatchMemOpParams* ops, unsigned count) {
  const CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(ops, count);
  CUgraphNode node = nullptr;
  CU_OK(cuGraphAddBatchMemOpNode(&node, graph, &after, after ? 1 : 0, &params));
  return node;
}

CUgraphNodeType type_of(CUgraphNode node) {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  CU_OK(cuGraphNodeGetType(node, &type));
  return type;
}

}  // namespace

// A kernel writes what the node waits for; the node's write lets the kernel after it see it. Twice, as waits are for
// each launch anew.
CASE(a_node_waits_and_writes) {
  Words words;
  Memory memory(1);
  Graph graph;
  CUgraphNode first = add_kernel(graph, nullptr, put, memory.at, 4);
  CUstreamBatchMemOpParams ops[] = {wait_for(words.device, 5, CU_STREAM_WAIT_VALUE_GEQ), store(words.device + 4, 77),
                                    store64(words.device + 8, 1ull << 40)};
  CUgraphNode node = add(graph, first, ops, 3);
  ops[0].waitValue.value = 0;  // "the paramArray inside nodeParams is copied"
  EXPECT_EQUAL(type_of(node), CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  add_kernel(graph, node, digit, memory.at, 2);
  Exec exec(graph);
  Stream stream;
  for (int round = 0; round < 2; ++round) {
    std::memset(words.host, 0, 64);
    CU_OK(cuGraphLaunch(exec, stream));
    check::Gate::pause(20);
    EXPECT_CUDA(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    EXPECT_EQUAL(words.get(1), 0u);
    words.set(0, 6);
    CU_OK(cuStreamSynchronize(stream));
    EXPECT(words.get(1) == 77 && words.get(2) == 0 && words.get(3) == 256);
    EXPECT_EQUAL(memory.value(), 42);
  }
}

CASE(parameters) {
  Words words;
  Graph graph;
  CUstreamBatchMemOpParams ops[] = {wait_for(words.device, 0), store(words.device + 4, 1)};
  CUgraphNode node = add(graph, nullptr, ops, 2);
  CUDA_BATCH_MEM_OP_NODE_PARAMS got = {};
  CU_OK(cuGraphBatchMemOpNodeGetParams(node, &got));
  EXPECT(got.ctx == check::use_context() && got.count == 2 && got.flags == 0);
  EXPECT(got.paramArray[0].operation == CU_STREAM_MEM_OP_WAIT_VALUE_32);
  EXPECT(got.paramArray[0].waitValue.address == words.device);
  EXPECT(got.paramArray[0].waitValue.flags == CU_STREAM_WAIT_VALUE_EQ);
  EXPECT(got.paramArray[1].operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 && got.paramArray[1].writeValue.value == 1);
  CUstreamBatchMemOpParams other[] = {store64(words.device + 8, 9)};
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(other, 1);  // in the graph everything may change
  CU_OK(cuGraphBatchMemOpNodeSetParams(node, &params));
  CU_OK(cuGraphBatchMemOpNodeGetParams(node, &got));
  EXPECT(got.count == 1 && got.paramArray[0].operation == CU_STREAM_MEM_OP_WRITE_VALUE_64);
  EXPECT(got.paramArray[0].writeValue.value64 == 9);
  Exec exec(graph);
  run(exec);
  EXPECT(words.get(2) == 9 && words.get(1) == 0);
}

// "Addresses, values and the kind of comparison may change in an executable graph"; the number and the operations not.
CASE(parameters_of_an_executable_graph) {
  Words words;
  Graph graph;
  CUstreamBatchMemOpParams ops[] = {wait_for(words.device, 1), store(words.device + 4, 1)};
  CUgraphNode node = add(graph, nullptr, ops, 2);
  Exec exec(graph);
  CUstreamBatchMemOpParams other[] = {wait_for(words.device + 12, 7, CU_STREAM_WAIT_VALUE_GEQ),
                                      store(words.device + 8, 5)};
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(other, 2);
  CU_OK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
  words.set(3, 8);
  run(exec);
  EXPECT(words.get(2) == 5 && words.get(1) == 0);
  params.count = 1;
  EXPECT_CUDA(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params), CUDA_ERROR_INVALID_VALUE);
  CUstreamBatchMemOpParams wider[] = {wait_for(words.device, 0), store64(words.device + 8, 5)};
  params = batch(wider, 2);
  EXPECT_CUDA(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params), CUDA_ERROR_INVALID_VALUE);
}

CASE(nodes_refuse) {
  Words words;
  Graph graph;
  CUstreamBatchMemOpParams op = store(words.device, 1);
  CUgraphNode node = nullptr, empty = nullptr;
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(&op, 1);
  EXPECT_CUDA(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddBatchMemOpNode(nullptr, graph, nullptr, 0, &params), CUDA_ERROR_INVALID_VALUE);
  params.count = 257;
  EXPECT_CUDA(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params), CUDA_ERROR_INVALID_VALUE);
  params = batch(&op, 1);
  params.flags = 1;
  EXPECT_CUDA(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params), CUDA_ERROR_INVALID_VALUE);
  params = batch(nullptr, 1);
  EXPECT_CUDA(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params), CUDA_ERROR_INVALID_VALUE);
  params = batch(&op, 1);
  op.operation = static_cast<CUstreamBatchMemOpType>(99);
  EXPECT_CUDA(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params), CUDA_ERROR_INVALID_VALUE);
  op = store(words.device, 1);
  CU_OK(cuGraphAddEmptyNode(&empty, graph, nullptr, 0));
  EXPECT_CUDA(cuGraphBatchMemOpNodeGetParams(empty, &params), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphBatchMemOpNodeSetParams(empty, &params), CUDA_ERROR_INVALID_VALUE);
  size_t count = 0;
  CU_OK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQUAL(count, 1u);
}

CASE(general_parameters) {
  Words words;
  Graph graph;
  CUstreamBatchMemOpParams op = store(words.device, 3), other = store(words.device + 4, 4);
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  params.memOp = batch(&op, 1);
  CUgraphNode node = nullptr;
  CU_OK(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  Exec exec(graph);
  run(exec);
  EXPECT_EQUAL(words.get(0), 3u);
  params.memOp = batch(&other, 1);
  CU_OK(cuGraphExecNodeSetParams(exec, node, &params));
  run(exec);
  EXPECT_EQUAL(words.get(1), 4u);
  CU_OK(cuGraphNodeSetParams(node, &params));
  CUDA_BATCH_MEM_OP_NODE_PARAMS got = {};
  CU_OK(cuGraphBatchMemOpNodeGetParams(node, &got));
  EXPECT(got.paramArray[0].writeValue.address == words.device + 4);
}

CASE(captured_operations_become_nodes) {
  Words words;
  Memory memory(1);
  Stream stream;
  CUstreamBatchMemOpParams ops[] = {store(words.device + 8, 2), store(words.device + 12, 3)};
  CU_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CU_OK(cuStreamWaitValue32(stream, words.device, 1, CU_STREAM_WAIT_VALUE_GEQ));
  CU_OK(cuStreamWriteValue32(stream, words.device + 4, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
  CU_OK(cuStreamBatchMemOp(stream, 2, ops, 0));
  CU_OK(cuStreamWriteValue64(stream, words.device + 16, 4, CU_STREAM_WRITE_VALUE_DEFAULT));
  CU_OK(cuStreamWaitValue64(stream, words.device + 16, 4, CU_STREAM_WAIT_VALUE_EQ));
  CUgraph graph = nullptr;
  CU_OK(cuStreamEndCapture(stream, &graph));
  EXPECT(words.get(1) == 0 && words.get(2) == 0);
  CUgraphNode nodes[8] = {};
  size_t count = 8;
  CU_OK(cuGraphGetNodes(graph, nodes, &count));
  EXPECT_EQUAL(count, 5u);
  for (size_t i = 0; i < count; ++i) EXPECT_EQUAL_AT(i, type_of(nodes[i]), CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  Exec exec(graph);
  CU_OK(cuGraphLaunch(exec, stream));
  check::Gate::pause(10);
  EXPECT_EQUAL(words.get(1), 0u);
  words.set(0, 1);
  CU_OK(cuStreamSynchronize(stream));
  EXPECT(words.get(1) == 1 && words.get(2) == 2 && words.get(3) == 3 && words.get(4) == 4);
  CU_OK(cuGraphDestroy(graph));
}

CHECK_MAIN()
