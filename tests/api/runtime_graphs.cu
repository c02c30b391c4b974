// Graphs of the runtime API: how they run, their shape, what they own. Oracle: "CUDA Runtime API, Graph Management" and
// "CUDA C++ Programming Guide, CUDA Graphs"; what the kernels compute is done again on the host. Public names only, so
// that the program can be built for a GPU too.

#include "graph_nodes.h"

#include <string>

namespace {

__global__ void sum(int* out, const int* values, int count) {
  int total = 0;
  for (int i = 0; i < count; ++i) total += values[i];
  *out = total;
}

}  // namespace

// ---- running ----

CASE(linear) {
  Device memory(2);
  int host = -1;
  Graph graph;
  cudaGraphNode_t fill = add_memset(graph, {}, memory, 4, 1);
  cudaGraphNode_t first = add_kernel(graph, {fill}, digit, memory, 1);
  cudaGraphNode_t second = add_kernel(graph, {first}, digit, memory, 2);
  add_copy(graph, {second}, &host, memory, 4);
  Exec exec(graph);
  run(exec, 3);
  EXPECT_EQUAL(host, 412);
}

CASE(diamond) {
  Device values(2), out(1);
  Graph graph;
  cudaGraphNode_t top = add_memset(graph, {}, values, 0, 2);
  cudaGraphNode_t left = add_kernel(graph, {top}, put, values, 20);
  cudaGraphNode_t right = add_kernel(graph, {top}, put, values + 1, 22);
  int *to = out, count = 2;
  const int* from = values;
  void* arguments[] = {&to, &from, &count};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(sum);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaGraphNode_t bottom = nullptr, both[] = {left, right};
  CUDA_OK(cudaGraphAddKernelNode(&bottom, graph, both, 2, &params));
  Exec exec(graph);
  run(exec, 5);
  EXPECT_EQUAL(out.value(), 42);
}

// More branches than a plan has lanes, of several nodes each, joined and forked again.
CASE(many_branches) {
  constexpr int kBranches = 12;
  Device values(kBranches), out(1);
  Graph graph;
  std::vector<cudaGraphNode_t> ends;
  for (int i = 0; i < kBranches; ++i) {
    cudaGraphNode_t node = add_memset(graph, {}, values + i, static_cast<unsigned>(i), 1);
    for (int k = 1; k <= 3; ++k) node = add_kernel(graph, {node}, digit, values + i, k);
    ends.push_back(node);
  }
  cudaGraphNode_t join = nullptr;
  CUDA_OK(cudaGraphAddEmptyNode(&join, graph, ends.data(), ends.size()));
  for (int i = 0; i < kBranches; ++i) add_kernel(graph, {join}, digit, values + i, 4);
  Exec exec(graph);
  run(exec, 10);
  for (int i = 0; i < kBranches; ++i) EXPECT_EQUAL_AT(i, values.value(static_cast<size_t>(i)), i * 10000 + 1234);
}

// "Each launch is ordered behind both any previous work in hStream and any previous launches of hGraphExec."
CASE(launches_are_in_order) {
  Device memory(1);
  Graph graph;
  add_kernel(graph, {}, digit, memory, 7);
  Exec exec(graph);
  Stream first, second;
  check::Gate gate;
  gate.close(first);
  CUDA_OK(cudaGraphLaunch(exec, first));
  CUDA_OK(cudaGraphLaunch(exec, second));
  launch(second, digit, memory, 8);
  EXPECT(gate.holds(second));
  gate.release();
  CUDA_OK(cudaStreamSynchronize(second));
  EXPECT_EQUAL(memory.value(), 778);
}

CASE(host_nodes) {
  int calls = 0;
  Graph graph;
  cudaHostNodeParams params{increment, &calls}, got{};
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &params));
  CUDA_OK(cudaGraphHostNodeGetParams(node, &got));
  EXPECT(got.fn == increment && got.userData == &calls);
  Exec exec(graph);
  run(exec, 4);
  EXPECT_EQUAL(calls, 4);
  int other = 0;
  params.userData = &other;
  CUDA_OK(cudaGraphExecHostNodeSetParams(exec, node, &params));
  run(exec, 2);
  EXPECT_EQUAL(calls, 4);
  EXPECT_EQUAL(other, 2);
  CUDA_OK(cudaGraphHostNodeSetParams(node, &params));
  params.fn = nullptr;
  EXPECT_CUDA(cudaGraphHostNodeSetParams(node, &params), cudaErrorInvalidValue);
}

CASE(events) {
  Device memory(1);
  cudaEvent_t start, end, got = nullptr;
  CUDA_OK(cudaEventCreate(&start));
  CUDA_OK(cudaEventCreate(&end));
  Graph graph;
  cudaGraphNode_t record = nullptr, record_end = nullptr, wait = nullptr;
  CUDA_OK(cudaGraphAddEventRecordNode(&record, graph, nullptr, 0, start));
  cudaGraphNode_t kernel = add_kernel(graph, {record}, put, memory, 5);
  CUDA_OK(cudaGraphAddEventRecordNode(&record_end, graph, &kernel, 1, end));
  CUDA_OK(cudaGraphEventRecordNodeGetEvent(record_end, &got));
  EXPECT(got == end);
  Exec exec(graph);
  Stream stream;
  check::Gate gate;
  gate.close(stream);
  CUDA_OK(cudaGraphLaunch(exec, stream));
  EXPECT(gate.holds(stream));
  EXPECT_CUDA(cudaEventQuery(end), cudaErrorNotReady);
  gate.release();
  CUDA_OK(cudaEventSynchronize(end));
  EXPECT_EQUAL(memory.value(), 5);
  float milliseconds = -1;
  CUDA_OK(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds >= 0 && milliseconds < 20000);
  // Other events, in what was instantiated and in the graph.
  cudaEvent_t late;
  CUDA_OK(cudaEventCreateWithFlags(&late, cudaEventDisableTiming));
  CUDA_OK(cudaGraphExecEventRecordNodeSetEvent(exec, record_end, late));
  check::Gate late_gate;
  late_gate.close(stream);
  CUDA_OK(cudaGraphLaunch(exec, stream));
  EXPECT(late_gate.holds(stream));
  EXPECT_CUDA(cudaEventQuery(late), cudaErrorNotReady);
  CUDA_OK(cudaEventQuery(end));
  late_gate.release();
  CUDA_OK(cudaEventSynchronize(late));
  CUDA_OK(cudaGraphEventRecordNodeSetEvent(record_end, late));
  CUDA_OK(cudaGraphEventRecordNodeGetEvent(record_end, &got));
  EXPECT(got == late);
  // A wait node holds the graph until what was recorded before the launch.
  Graph waiting;
  CUDA_OK(cudaGraphAddEventWaitNode(&wait, waiting, nullptr, 0, start));
  CUDA_OK(cudaGraphEventWaitNodeSetEvent(wait, end));
  CUDA_OK(cudaGraphEventWaitNodeGetEvent(wait, &got));
  EXPECT(got == end);
  add_kernel(waiting, {wait}, digit, memory, 6);
  Exec waits(waiting);
  check::Gate second_gate;
  second_gate.close(stream);
  launch(stream, put, memory, 9);
  CUDA_OK(cudaEventRecord(end, stream));
  Stream other;
  CUDA_OK(cudaGraphLaunch(waits, other));
  EXPECT(second_gate.holds(other));
  second_gate.release();
  CUDA_OK(cudaStreamSynchronize(other));
  EXPECT_EQUAL(memory.value(), 96);
  // Told to wait for an event that has happened, it does not wait for the other.
  CUDA_OK(cudaGraphExecEventWaitNodeSetEvent(waits, wait, late));
  check::Gate third_gate;
  third_gate.close(stream);
  CUDA_OK(cudaEventRecord(end, stream));
  CUDA_OK(cudaGraphLaunch(waits, other));
  CUDA_OK(cudaStreamSynchronize(other));
  EXPECT(third_gate.holds(stream));
  EXPECT_CUDA(cudaEventQuery(end), cudaErrorNotReady);
  third_gate.release();
  CUDA_OK(cudaStreamSynchronize(stream));
  CUDA_OK(cudaEventDestroy(late));
  CUDA_OK(cudaEventDestroy(start));
  CUDA_OK(cudaEventDestroy(end));
}

CASE(children) {
  Device memory(1);
  Graph child, parent;
  cudaGraphNode_t inner = add_kernel(child, {}, digit, memory, 2);
  cudaGraphNode_t inner_end = add_kernel(child, {inner}, digit, memory, 3);
  cudaGraphNode_t first = add_memset(parent, {}, memory, 1, 1), node = nullptr, found = nullptr;
  CUDA_OK(cudaGraphAddChildGraphNode(&node, parent, &first, 1, child));
  add_kernel(parent, {node}, digit, memory, 4);
  cudaGraph_t embedded = nullptr;
  CUDA_OK(cudaGraphChildGraphNodeGetGraph(node, &embedded));
  EXPECT(embedded != child.graph);
  EXPECT_EQUAL(node_count(embedded), 2u);
  CUDA_OK(cudaGraphNodeFindInClone(&found, inner_end, embedded));
  EXPECT(found != inner_end);
  cudaGraphNodeType type{};
  CUDA_OK(cudaGraphNodeGetType(node, &type));
  EXPECT_EQUAL(type, cudaGraphNodeTypeGraph);
  Exec exec(parent);
  run(exec, 2);
  EXPECT_EQUAL(memory.value(), 1234);
  // The same shape with other parameters can take its place.
  Graph other;
  cudaGraphNode_t other_inner = add_kernel(other, {}, digit, memory, 8);
  add_kernel(other, {other_inner}, digit, memory, 9);
  CUDA_OK(cudaGraphExecChildGraphNodeSetParams(exec, node, other));
  run(exec);
  EXPECT_EQUAL(memory.value(), 1894);
  Graph longer;
  add_kernel(longer, {}, digit, memory, 8);
  EXPECT_CUDA(cudaGraphExecChildGraphNodeSetParams(exec, node, longer), cudaErrorGraphExecUpdateFailure);
  (void)cudaGetLastError();
}

CASE(destroyed_while_running) {
  Device memory(1);
  Stream stream;
  check::Gate gate;
  gate.close(stream);
  {
    Graph graph;
    cudaGraphNode_t a = add_kernel(graph, {}, put, memory, 3);
    cudaGraphNode_t b = add_empty(graph, {a}), c = add_empty(graph, {a}), d = nullptr, both[] = {b, c};
    CUDA_OK(cudaGraphAddEmptyNode(&d, graph, both, 2));
    add_kernel(graph, {d}, digit, memory, 4);
    Exec exec(graph);
    CUDA_OK(cudaGraphLaunch(exec, stream));
  }
  EXPECT(gate.holds(stream));
  gate.release();
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQUAL(memory.value(), 34);
}

CASE(upload_and_flags) {
  Device memory(1);
  Graph graph;
  add_kernel(graph, {}, put, memory, 3);
  Stream stream;
  cudaGraphExec_t exec = nullptr;
  CUDA_OK(cudaGraphInstantiateWithFlags(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  unsigned long long flags = 99;
  CUDA_OK(cudaGraphExecGetFlags(exec, &flags));
  EXPECT_EQUAL(flags, static_cast<unsigned long long>(cudaGraphInstantiateFlagAutoFreeOnLaunch));
  CUDA_OK(cudaGraphUpload(exec, stream));
  CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQUAL(memory.value(), 3);
  CUDA_OK(cudaGraphExecDestroy(exec));
  cudaGraphInstantiateParams params{};
  params.flags = cudaGraphInstantiateFlagUpload;
  params.uploadStream = stream;
  CUDA_OK(cudaGraphInstantiateWithParams(&exec, graph, &params));
  EXPECT_EQUAL(params.result_out, cudaGraphInstantiateSuccess);
  CUDA_OK(cudaGraphExecGetFlags(exec, &flags));
  EXPECT_EQUAL(flags, 0ull);
  CUDA_OK(cudaGraphExecDestroy(exec));
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph, 0x100), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphInstantiate(nullptr, graph, 0), cudaErrorInvalidValue);
}

// ---- the shape of graphs ----

CASE(queries) {
  Device memory(1);
  Graph graph;
  cudaGraphNode_t a = add_empty(graph, {}), b = add_empty(graph, {a}), c = add_empty(graph, {a});
  cudaGraphNode_t nodes[8] = {}, from[8] = {}, to[8] = {};
  size_t count = 8;
  CUDA_OK(cudaGraphGetNodes(graph, nodes, &count));
  EXPECT_EQUAL(count, 3u);
  EXPECT(nodes[3] == nullptr);
  count = 1;
  CUDA_OK(cudaGraphGetRootNodes(graph, nodes, &count));
  EXPECT_EQUAL(count, 1u);
  EXPECT(nodes[0] == a);
  CUDA_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  EXPECT_EQUAL(count, 2u);
  count = 8;
  cudaGraphEdgeData data[8];
  std::memset(data, 0xff, sizeof data);
  CUDA_OK(cudaGraphGetEdges(graph, from, to, data, &count));
  EXPECT_EQUAL(count, 2u);
  EXPECT(from[0] == a && from[1] == a && to[0] != to[1] && (to[0] == b || to[0] == c));
  EXPECT(data[0].type == 0 && data[1].from_port == 0);
  CUDA_OK(cudaGraphNodeGetDependencies(b, nullptr, nullptr, &count));
  EXPECT_EQUAL(count, 1u);
  count = 8;
  CUDA_OK(cudaGraphNodeGetDependentNodes(a, nodes, nullptr, &count));
  EXPECT_EQUAL(count, 2u);
  CUDA_OK(cudaGraphAddDependencies(graph, &b, &c, nullptr, 1));
  CUDA_OK(cudaGraphNodeGetDependencies(c, nullptr, nullptr, &count));
  EXPECT_EQUAL(count, 2u);
  EXPECT_CUDA(cudaGraphAddDependencies(graph, &b, &c, nullptr, 1), cudaErrorInvalidValue);
  CUDA_OK(cudaGraphRemoveDependencies(graph, &a, &c, nullptr, 1));
  EXPECT_CUDA(cudaGraphRemoveDependencies(graph, &a, &c, nullptr, 1), cudaErrorInvalidValue);
  CUDA_OK(cudaGraphDestroyNode(b));
  EXPECT_EQUAL(node_count(graph), 2u);
  CUDA_OK(cudaGraphNodeGetDependencies(c, nullptr, nullptr, &count));
  EXPECT_EQUAL(count, 0u);
  cudaGraphNodeType type{};
  CUDA_OK(cudaGraphNodeGetType(c, &type));
  EXPECT_EQUAL(type, cudaGraphNodeTypeEmpty);
}

CASE(refused_shapes) {
  Graph graph, other;
  cudaGraphNode_t a = add_empty(graph, {}), b = add_empty(graph, {a}), foreign = add_empty(other, {}), node = nullptr;
  EXPECT_CUDA(cudaGraphAddEmptyNode(&node, graph, &foreign, 1), cudaErrorInvalidValue);
  cudaGraphNode_t twice[] = {a, a};
  EXPECT_CUDA(cudaGraphAddEmptyNode(&node, graph, twice, 2), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddEmptyNode(&node, graph, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddEmptyNode(&node, nullptr, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddDependencies(graph, &a, &foreign, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphCreate(&graph.graph, 1), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphCreate(nullptr, 0), cudaErrorInvalidValue);
  // "cudaGraphInstantiateInvalidStructure: Instantiation failed due to invalid structure, such as cycles"
  CUDA_OK(cudaGraphAddDependencies(graph, &b, &a, nullptr, 1));
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiateParams params{};
  EXPECT_CUDA(cudaGraphInstantiateWithParams(&exec, graph, &params), cudaErrorInvalidValue);
  EXPECT_EQUAL(params.result_out, cudaGraphInstantiateInvalidStructure);
  (void)cudaGetLastError();
}

CASE(clones) {
  Device memory(1);
  Graph graph;
  cudaGraphNode_t a = add_kernel(graph, {}, put, memory, 1), b = add_kernel(graph, {a}, digit, memory, 2);
  Graph clone;
  CUDA_OK(cudaGraphDestroy(clone.graph));
  CUDA_OK(cudaGraphClone(&clone.graph, graph));
  cudaGraphNode_t cloned_b = nullptr, late = add_empty(graph, {});
  CUDA_OK(cudaGraphNodeFindInClone(&cloned_b, b, clone));
  EXPECT(cloned_b != b);
  cudaGraphNode_t found = nullptr;
  EXPECT_CUDA(cudaGraphNodeFindInClone(&found, late, clone), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphNodeFindInClone(&found, b, graph), cudaErrorInvalidValue);
  Call changed(digit, memory, 7);
  CUDA_OK(cudaGraphKernelNodeSetParams(cloned_b, &changed.params));
  Exec of_graph(graph), of_clone(clone);
  run(of_graph);
  EXPECT_EQUAL(memory.value(), 12);
  run(of_clone);
  EXPECT_EQUAL(memory.value(), 17);
}

CASE(dot) {
  Device memory(1);
  Graph graph;
  cudaGraphNode_t a = add_kernel(graph, {}, put, memory, 1);
  add_memset(graph, {a}, memory, 0, 1);
  const std::string path = "/tmp/cupola_graph_" + std::to_string(getpid()) + ".dot";
  CUDA_OK(cudaGraphDebugDotPrint(graph, path.c_str(), cudaGraphDebugDotFlagsVerbose));
  std::string text(1 << 16, '\0');
  FILE* file = std::fopen(path.c_str(), "r");
  EXPECT(file != nullptr);
  if (!file) return;
  text.resize(std::fread(&text[0], 1, text.size(), file));
  std::fclose(file);
  std::remove(path.c_str());
  EXPECT(text.find("digraph") == 0 && text.find("->") != std::string::npos);
  EXPECT_CUDA(cudaGraphDebugDotPrint(graph, "/nonexistent/folder/graph.dot", 0), cudaErrorOperatingSystem);
  (void)cudaGetLastError();
}

// ---- user objects ----

CASE(user_objects) {
  static int destroyed;
  destroyed = 0;
  const cudaHostFn_t destroy = [](void* count) { ++*static_cast<int*>(count); };
  cudaUserObject_t object = nullptr, other = nullptr;
  CUDA_OK(cudaUserObjectCreate(&object, &destroyed, destroy, 1, cudaUserObjectNoDestructorSync));
  CUDA_OK(cudaUserObjectRetain(object, 2));
  CUDA_OK(cudaUserObjectRelease(object, 2));
  EXPECT_EQUAL(destroyed, 0);
  Stream stream;
  check::Gate gate;
  {
    Graph graph;
    add_empty(graph, {});
    CUDA_OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    Exec exec(graph);
    gate.close(stream);
    CUDA_OK(cudaGraphLaunch(exec, stream));
  }
  // "the reference is kept until the executions are complete"
  EXPECT(gate.holds(stream));
  EXPECT_EQUAL(destroyed, 0);
  gate.release();
  CUDA_OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < 2000 && destroyed == 0; ++i) check::Gate::pause(1);
  EXPECT_EQUAL(destroyed, 1);
  CUDA_OK(cudaUserObjectCreate(&other, &destroyed, destroy, 2, cudaUserObjectNoDestructorSync));
  {
    Graph graph;
    CUDA_OK(cudaGraphRetainUserObject(graph, other, 1, 0));
    CUDA_OK(cudaGraphReleaseUserObject(graph, other, 1));
    CUDA_OK(cudaGraphReleaseUserObject(graph, other, 1));  // more than it holds: as an H200 (driver 580) answers
  }
  CUDA_OK(cudaUserObjectRelease(other, 2));
  for (int i = 0; i < 2000 && destroyed == 1; ++i) check::Gate::pause(1);
  EXPECT_EQUAL(destroyed, 2);
  EXPECT_CUDA(cudaUserObjectCreate(&other, &destroyed, destroy, 0, cudaUserObjectNoDestructorSync),
              cudaErrorInvalidValue);
  EXPECT_CUDA(cudaUserObjectCreate(&other, &destroyed, destroy, 1, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaUserObjectCreate(&other, &destroyed, nullptr, 1, cudaUserObjectNoDestructorSync),
              cudaErrorInvalidValue);
}

CHECK_MAIN()
