// Graphs of the runtime API. Oracle: "CUDA Runtime API, Graph Management" and "CUDA C++ Programming Guide, CUDA
// Graphs"; what the kernels compute is done again on the host. Public names only, so that the program can be built for
// a GPU too (with -rdc=true: kernels set conditions).

#include "api.h"

#include <initializer_list>
#include <string>

namespace {

using Nodes = std::initializer_list<cudaGraphNode_t>;

__global__ void put(int* at, int value) {
  *at = value;
}
__global__ void put_other(int* at, int value) {
  *at = value + 1000;
}
/// Order matters: each call appends a decimal digit.
__global__ void digit(int* at, int value) {
  *at = *at * 10 + value;
}
__global__ void sum(int* out, const int* values, int count) {
  int total = 0;
  for (int i = 0; i < count; ++i) total += values[i];
  *out = total;
}
__global__ void countdown(cudaGraphConditionalHandle handle, int* left) {
  *left -= 1;
  cudaGraphSetConditional(handle, *left > 0 ? 1 : 0);
}
__global__ void choose(cudaGraphConditionalHandle handle, const int* value) {
  cudaGraphSetConditional(handle, static_cast<unsigned>(*value));
}

__device__ int symbol[4];

/// A kernel of (int*, int) in a graph.
struct Call {
  void* function;
  int* at;
  int value;
  void* arguments[2];
  cudaKernelNodeParams params{};

  Call(void (*kernel)(int*, int), int* to, int number)
      : function(reinterpret_cast<void*>(kernel)), at(to), value(number), arguments{&at, &value} {
    params.func = function;
    params.gridDim = dim3(1);
    params.blockDim = dim3(1);
    params.kernelParams = arguments;
  }
  Call(const Call&) = delete;
};

cudaGraphNode_t add_kernel(cudaGraph_t graph, Nodes after, void (*kernel)(int*, int), int* at, int value) {
  Call call(kernel, at, value);
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddKernelNode(&node, graph, after.begin(), after.size(), &call.params));
  return node;
}

cudaGraphNode_t add_empty(cudaGraph_t graph, Nodes after) {
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddEmptyNode(&node, graph, after.begin(), after.size()));
  return node;
}

cudaGraphNode_t add_memset(cudaGraph_t graph, Nodes after, void* at, unsigned value, size_t ints) {
  cudaMemsetParams params{at, 0, value, 4, ints, 1};
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddMemsetNode(&node, graph, after.begin(), after.size(), &params));
  return node;
}

cudaGraphNode_t add_copy(cudaGraph_t graph, Nodes after, void* to, const void* from, size_t bytes) {
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddMemcpyNode1D(&node, graph, after.begin(), after.size(), to, from, bytes, cudaMemcpyDefault));
  return node;
}

struct Graph {
  cudaGraph_t graph = nullptr;
  Graph() { CUDA_OK(cudaGraphCreate(&graph, 0)); }
  ~Graph() {
    if (graph) CUDA_OK(cudaGraphDestroy(graph));
  }
  Graph(const Graph&) = delete;
  operator cudaGraph_t() const { return graph; }
};

struct Exec {
  cudaGraphExec_t exec = nullptr;
  explicit Exec(cudaGraph_t graph, unsigned long long flags = 0) { CUDA_OK(cudaGraphInstantiate(&exec, graph, flags)); }
  ~Exec() {
    if (exec) CUDA_OK(cudaGraphExecDestroy(exec));
  }
  Exec(const Exec&) = delete;
  operator cudaGraphExec_t() const { return exec; }
};

struct Stream {
  cudaStream_t stream = nullptr;
  explicit Stream(unsigned flags = cudaStreamNonBlocking) { CUDA_OK(cudaStreamCreateWithFlags(&stream, flags)); }
  ~Stream() { CUDA_OK(cudaStreamDestroy(stream)); }
  Stream(const Stream&) = delete;
  operator cudaStream_t() const { return stream; }
};

struct Device {
  int* at = nullptr;
  explicit Device(size_t ints) {
    CUDA_OK(cudaMalloc(&at, ints * sizeof(int)));
    CUDA_OK(cudaMemset(at, 0, ints * sizeof(int)));
    CUDA_OK(cudaStreamSynchronize(nullptr));  // a fill of device memory is asynchronous
  }
  ~Device() { CUDA_OK(cudaFree(at)); }
  Device(const Device&) = delete;
  operator int*() const { return at; }
  int value(size_t i = 0) const {
    int result = -1;
    CUDA_OK(cudaMemcpy(&result, at + i, sizeof result, cudaMemcpyDeviceToHost));
    return result;
  }
};

void run(cudaGraphExec_t exec, int times = 1) {
  Stream stream;
  for (int i = 0; i < times; ++i) CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
}

void launch(cudaStream_t stream, void (*kernel)(int*, int), int* at, int value) {
  (void)cudaGetLastError();  // of a refusal before
  kernel<<<1, 1, 0, stream>>>(at, value);
  CUDA_OK(cudaGetLastError());
}

size_t node_count(cudaGraph_t graph) {
  size_t count = 0;
  CUDA_OK(cudaGraphGetNodes(graph, nullptr, &count));
  return count;
}

void increment(void* counter) {
  ++*static_cast<int*>(counter);
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
  EXPECT_CUDA(cudaStreamQuery(second), cudaErrorNotReady);
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
  EXPECT_CUDA(cudaEventQuery(end), cudaErrorNotReady);
  gate.release();
  CUDA_OK(cudaEventSynchronize(end));
  EXPECT_EQUAL(memory.value(), 5);
  float milliseconds = -1;
  CUDA_OK(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds >= 0 && milliseconds < 20000);
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
  EXPECT_CUDA(cudaStreamQuery(other), cudaErrorNotReady);
  second_gate.release();
  CUDA_OK(cudaStreamSynchronize(other));
  EXPECT_EQUAL(memory.value(), 96);
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
  EXPECT(cudaGraphExecChildGraphNodeSetParams(exec, node, longer) != cudaSuccess);
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
  EXPECT_CUDA(cudaStreamQuery(stream), cudaErrorNotReady);
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
  if (cudaGraphAddDependencies(graph, &b, &a, nullptr, 1) == cudaSuccess) {
    cudaGraphExec_t exec = nullptr;
    cudaGraphInstantiateParams params{};
    EXPECT_CUDA(cudaGraphInstantiateWithParams(&exec, graph, &params), cudaErrorInvalidValue);
    EXPECT_EQUAL(params.result_out, cudaGraphInstantiateInvalidStructure);
  }
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
  EXPECT(cudaGraphDebugDotPrint(graph, "/nonexistent/folder/graph.dot", 0) != cudaSuccess);
  (void)cudaGetLastError();
}

// ---- parameters ----

CASE(kernel_parameters) {
  Device memory(2);
  Graph graph;
  cudaGraphNode_t node = add_kernel(graph, {}, put, memory, 41);
  cudaKernelNodeParams got{};
  CUDA_OK(cudaGraphKernelNodeGetParams(node, &got));
  EXPECT(got.func == reinterpret_cast<void*>(put));
  EXPECT(got.gridDim.x == 1 && got.blockDim.z == 1 && got.sharedMemBytes == 0);
  EXPECT(got.kernelParams != nullptr);
  if (got.kernelParams) {
    EXPECT(*static_cast<int**>(got.kernelParams[0]) == memory.at);
    EXPECT_EQUAL(*static_cast<int*>(got.kernelParams[1]), 41);
  }
  Exec exec(graph);
  Call other(put_other, memory + 1, 7);
  CUDA_OK(cudaGraphExecKernelNodeSetParams(exec, node, &other.params));
  run(exec);
  EXPECT_EQUAL(memory.value(0), 0);
  EXPECT_EQUAL(memory.value(1), 1007);
  CUDA_OK(cudaGraphKernelNodeSetParams(node, &other.params));
  CUDA_OK(cudaGraphKernelNodeGetParams(node, &got));
  EXPECT(got.func == reinterpret_cast<void*>(put_other));
  other.params.blockDim = dim3(4096);
  EXPECT(cudaGraphKernelNodeSetParams(node, &other.params) != cudaSuccess);
  cudaMemsetParams wrong{memory, 0, 0, 4, 1, 1};
  EXPECT_CUDA(cudaGraphMemsetNodeSetParams(node, &wrong), cudaErrorInvalidValue);
  (void)cudaGetLastError();
}

CASE(kernel_attributes) {
  Device memory(1);
  Graph graph;
  cudaGraphNode_t a = add_kernel(graph, {}, put, memory, 1), b = add_kernel(graph, {a}, put, memory, 2);
  int least = 0, greatest = 0;
  CUDA_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaLaunchAttributeValue value{}, got{};
  value.priority = greatest;
  CUDA_OK(cudaGraphKernelNodeSetAttribute(a, cudaLaunchAttributePriority, &value));
  CUDA_OK(cudaGraphKernelNodeGetAttribute(a, cudaLaunchAttributePriority, &got));
  EXPECT_EQUAL(got.priority, greatest);
  CUDA_OK(cudaGraphKernelNodeCopyAttributes(b, a));
  CUDA_OK(cudaGraphKernelNodeGetAttribute(b, cudaLaunchAttributePriority, &got));
  EXPECT_EQUAL(got.priority, greatest);
  value = {};
  value.cooperative = 1;
  CUDA_OK(cudaGraphKernelNodeSetAttribute(b, cudaLaunchAttributeCooperative, &value));
  Exec exec(graph, cudaGraphInstantiateFlagUseNodePriority);
  run(exec);
  EXPECT_EQUAL(memory.value(), 2);
}

CASE(copy_and_fill_parameters) {
  Device memory(8);
  check::Managed<int> managed(8);
  Graph graph;
  cudaMemsetParams fill{memory, 0, 0x01020304, 4, 8, 1}, got{};
  cudaGraphNode_t filled = nullptr, copied = nullptr;
  CUDA_OK(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
  CUDA_OK(cudaGraphMemsetNodeGetParams(filled, &got));
  EXPECT(got.dst == memory.at && got.value == 0x01020304 && got.elementSize == 4 && got.width == 8 && got.height == 1);
  CUDA_OK(cudaGraphAddMemcpyNode1D(&copied, graph, &filled, 1, managed, memory, 32, cudaMemcpyDefault));
  cudaMemcpy3DParms copy{};
  CUDA_OK(cudaGraphMemcpyNodeGetParams(copied, &copy));
  EXPECT(copy.srcPtr.ptr == memory.at && copy.extent.width == 32 && copy.extent.height == 1 && copy.extent.depth == 1);
  Exec exec(graph);
  fill.value = 5;
  CUDA_OK(cudaGraphExecMemsetNodeSetParams(exec, filled, &fill));
  CUDA_OK(cudaGraphExecMemcpyNodeSetParams1D(exec, copied, managed + 4, memory, 16, cudaMemcpyDefault));
  run(exec);
  EXPECT_EQUAL(managed[3], 0);
  EXPECT_EQUAL(managed[4], 5);
  // "For 1d memsets, changes in height are explicitly rejected."
  cudaMemsetParams two_rows{memory, 16, 5, 4, 2, 2};
  EXPECT(cudaGraphExecMemsetNodeSetParams(exec, filled, &two_rows) != cudaSuccess);
  fill.elementSize = 3;
  EXPECT_CUDA(cudaGraphMemsetNodeSetParams(filled, &fill), cudaErrorInvalidValue);
  (void)cudaGetLastError();
}

CASE(symbols_in_nodes) {
  int host[4] = {1, 2, 3, 4}, back[4] = {};
  Graph graph;
  cudaGraphNode_t in = nullptr, out = nullptr;
  CUDA_OK(cudaGraphAddMemcpyNodeToSymbol(&in, graph, nullptr, 0, symbol, host, 16, 0, cudaMemcpyHostToDevice));
  CUDA_OK(cudaGraphAddMemcpyNodeFromSymbol(&out, graph, &in, 1, back, symbol, 8, 8, cudaMemcpyDeviceToHost));
  Exec exec(graph);
  run(exec);
  EXPECT(back[0] == 3 && back[1] == 4 && back[2] == 0);
  int other[4] = {9, 8, 7, 6};
  CUDA_OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, in, symbol, other, 16, 0, cudaMemcpyHostToDevice));
  run(exec);
  EXPECT(back[0] == 7 && back[1] == 6);
  EXPECT(cudaGraphAddMemcpyNodeToSymbol(&in, graph, nullptr, 0, symbol, host, 16, 4, cudaMemcpyHostToDevice) !=
         cudaSuccess);
  (void)cudaGetLastError();
}

CASE(copies_of_volumes) {
  constexpr size_t kWidth = 5, kHeight = 4, kDepth = 3;
  unsigned char host[kDepth][kHeight][kWidth], back[kDepth][kHeight][kWidth] = {};
  for (size_t i = 0; i < sizeof host; ++i) host[0][0][i] = static_cast<unsigned char>(i * 7);
  cudaPitchedPtr box{};
  CUDA_OK(cudaMalloc3D(&box, make_cudaExtent(kWidth, kHeight, kDepth)));
  Graph graph;
  cudaMemcpy3DParms in{}, out{};
  in.srcPtr = make_cudaPitchedPtr(host, kWidth, kWidth, kHeight);
  in.dstPtr = box;
  in.extent = make_cudaExtent(kWidth, kHeight, kDepth);
  in.kind = cudaMemcpyHostToDevice;
  out.srcPtr = box;
  out.dstPtr = make_cudaPitchedPtr(back, kWidth, kWidth, kHeight);
  out.extent = in.extent;
  out.kind = cudaMemcpyDeviceToHost;
  cudaGraphNode_t first = nullptr, second = nullptr;
  CUDA_OK(cudaGraphAddMemcpyNode(&first, graph, nullptr, 0, &in));
  CUDA_OK(cudaGraphAddMemcpyNode(&second, graph, &first, 1, &out));
  cudaMemcpy3DParms got{};
  CUDA_OK(cudaGraphMemcpyNodeGetParams(first, &got));
  EXPECT(got.srcPtr.ptr == host && got.extent.depth == kDepth && got.kind == cudaMemcpyHostToDevice);
  Exec exec(graph);
  run(exec);
  EXPECT(std::memcmp(host, back, sizeof host) == 0);
  CUDA_OK(cudaFree(box.ptr));
}

CASE(enabling_nodes) {
  Device memory(1);
  Graph graph;
  cudaGraphNode_t a = add_kernel(graph, {}, put, memory, 1), b = add_kernel(graph, {a}, digit, memory, 2);
  cudaGraphNode_t c = add_kernel(graph, {b}, digit, memory, 3), empty = add_empty(graph, {c});
  Exec exec(graph);
  unsigned enabled = 99;
  CUDA_OK(cudaGraphNodeGetEnabled(exec, b, &enabled));
  EXPECT_EQUAL(enabled, 1u);
  CUDA_OK(cudaGraphNodeSetEnabled(exec, b, 0));
  CUDA_OK(cudaGraphNodeGetEnabled(exec, b, &enabled));
  EXPECT_EQUAL(enabled, 0u);
  run(exec);
  EXPECT_EQUAL(memory.value(), 13);
  CUDA_OK(cudaGraphNodeSetEnabled(exec, b, 1));
  run(exec);
  EXPECT_EQUAL(memory.value(), 123);
  EXPECT_CUDA(cudaGraphNodeSetEnabled(exec, empty, 0), cudaErrorInvalidValue);
}

CASE(nodes_of_any_type) {
  Device memory(4);
  int host = -1;
  Graph graph;
  cudaGraphNodeParams fill = {cudaGraphNodeTypeMemset}, kernel = {cudaGraphNodeTypeKernel},
                      copy = {cudaGraphNodeTypeMemcpy};
  fill.memset.dst = memory;
  fill.memset.value = 6;
  fill.memset.elementSize = 4;
  fill.memset.width = 4;
  fill.memset.height = 1;
  Call call(digit, memory, 5);
  kernel.kernel.func = call.function;
  kernel.kernel.gridDim = kernel.kernel.blockDim = dim3(1);
  kernel.kernel.kernelParams = call.arguments;
  copy.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(memory.at, 4, 4, 1);
  copy.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(&host, 4, 4, 1);
  copy.memcpy.copyParams.extent = make_cudaExtent(4, 1, 1);
  copy.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
  cudaGraphNode_t a = nullptr, b = nullptr, c = nullptr;
  CUDA_OK(cudaGraphAddNode(&a, graph, nullptr, nullptr, 0, &fill));
  CUDA_OK(cudaGraphAddNode(&b, graph, &a, nullptr, 1, &kernel));
  CUDA_OK(cudaGraphAddNode(&c, graph, &b, nullptr, 1, &copy));
  Exec exec(graph);
  run(exec);
  EXPECT_EQUAL(host, 65);
  call.value = 4;
  CUDA_OK(cudaGraphExecNodeSetParams(exec, b, &kernel));
  run(exec);
  EXPECT_EQUAL(host, 64);
  call.value = 3;
  CUDA_OK(cudaGraphNodeSetParams(b, &kernel));
  Exec again(graph);
  run(again);
  EXPECT_EQUAL(host, 63);
  EXPECT_CUDA(cudaGraphNodeSetParams(b, &fill), cudaErrorInvalidValue);
}

// ---- memory nodes ----

namespace {

cudaMemAllocNodeParams allocation(size_t bytes) {
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  params.bytesize = bytes;
  return params;
}

}  // namespace

CASE(memory_within_a_graph) {
  int host = 0;
  Graph graph;
  cudaMemAllocNodeParams params = allocation(1 << 20), got{};
  cudaGraphNode_t alloc = nullptr, release = nullptr;
  CUDA_OK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params));
  EXPECT(params.dptr != nullptr);
  CUDA_OK(cudaGraphMemAllocNodeGetParams(alloc, &got));
  EXPECT(got.dptr == params.dptr && got.bytesize == params.bytesize);
  auto* memory = static_cast<int*>(params.dptr);
  cudaGraphNode_t fill = add_memset(graph, {alloc}, memory, 3, 1 << 18);
  cudaGraphNode_t kernel = add_kernel(graph, {fill}, digit, memory, 4);
  cudaGraphNode_t copy = add_copy(graph, {kernel}, &host, memory, 4);
  CUDA_OK(cudaGraphAddMemFreeNode(&release, graph, &copy, 1, memory));
  void* freed = nullptr;
  CUDA_OK(cudaGraphMemFreeNodeGetParams(release, &freed));
  EXPECT(freed == memory);
  // "an attempt to free an allocation twice in the same graph", "an address that was not returned by an allocation
  // node"
  cudaGraphNode_t again = nullptr;
  EXPECT_CUDA(cudaGraphAddMemFreeNode(&again, graph, &release, 1, memory), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddMemFreeNode(&again, graph, &release, 1, &host), cudaErrorInvalidValue);
  Exec exec(graph);
  run(exec, 3);
  EXPECT_EQUAL(host, 34);
  // "Only one instantiation of the graph may exist at any point in time. The graph cannot be cloned. Nodes and edges of
  // the graph cannot be deleted."
  cudaGraphExec_t second = nullptr;
  cudaGraph_t clone = nullptr;
  EXPECT(cudaGraphInstantiate(&second, graph, 0) != cudaSuccess);
  EXPECT(cudaGraphClone(&clone, graph) != cudaSuccess);
  EXPECT(cudaGraphDestroyNode(release) != cudaSuccess);
  EXPECT(cudaGraphRemoveDependencies(graph, &alloc, &fill, nullptr, 1) != cudaSuccess);
  unsigned long long used = 1, reserved = 0;
  CUDA_OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  EXPECT_EQUAL(used, 0ull);
  CUDA_OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &reserved));
  EXPECT(reserved >= 1u << 20);
  unsigned long long zero = 0;
  CUDA_OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
  EXPECT(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero) != cudaSuccess);
  CUDA_OK(cudaDeviceGraphMemTrim(0));
  (void)cudaGetLastError();
}

CASE(memory_that_outlives_the_launch) {
  Graph graph;
  cudaMemAllocNodeParams params = allocation(4096);
  cudaGraphNode_t alloc = nullptr;
  CUDA_OK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params));
  auto* memory = static_cast<int*>(params.dptr);
  add_kernel(graph, {alloc}, put, memory, 77);
  Stream stream;
  {
    Exec exec(graph);
    CUDA_OK(cudaGraphLaunch(exec, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    int host = 0;
    CUDA_OK(cudaMemcpy(&host, memory, 4, cudaMemcpyDeviceToHost));
    EXPECT_EQUAL(host, 77);
    // It was not freed since the last launch.
    EXPECT_CUDA(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue);
    CUDA_OK(cudaFree(memory));
    CUDA_OK(cudaGraphLaunch(exec, stream));
    CUDA_OK(cudaFreeAsync(memory, stream));
    CUDA_OK(cudaGraphLaunch(exec, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
  }
  CUDA_OK(cudaFree(memory));
  Exec automatic(graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  CUDA_OK(cudaGraphLaunch(automatic, stream));
  CUDA_OK(cudaGraphLaunch(automatic, stream));
  // Another graph may free it.
  Graph freeing;
  cudaGraphNode_t release = nullptr;
  CUDA_OK(cudaGraphAddMemFreeNode(&release, freeing, nullptr, 0, memory));
  Exec frees(freeing);
  CUDA_OK(cudaGraphLaunch(frees, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  unsigned long long used = 1;
  CUDA_OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  EXPECT_EQUAL(used, 0ull);
}

// ---- conditional nodes ----

namespace {

cudaGraphNode_t add_conditional(cudaGraph_t graph, Nodes after, cudaGraphConditionalHandle handle,
                                cudaGraphConditionalNodeType type, unsigned size, cudaGraph_t* bodies) {
  cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
  params.conditional.handle = handle;
  params.conditional.type = type;
  params.conditional.size = size;
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddNode(&node, graph, after.begin(), nullptr, after.size(), &params));
  for (unsigned i = 0; i < size; ++i) bodies[i] = params.conditional.phGraph_out[i];
  return node;
}

cudaGraphNode_t add_choice(cudaGraph_t graph, Nodes after, void* kernel, cudaGraphConditionalHandle handle, int* at) {
  void* arguments[] = {&handle, &at};
  cudaKernelNodeParams params{};
  params.func = kernel;
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddKernelNode(&node, graph, after.begin(), after.size(), &params));
  return node;
}

void* kernel_of(void (*kernel)(cudaGraphConditionalHandle, const int*)) {
  return reinterpret_cast<void*>(kernel);
}

void set(int* device, int value) {
  CUDA_OK(cudaMemcpy(device, &value, sizeof value, cudaMemcpyHostToDevice));
}

}  // namespace

CASE(if_nodes) {
  Device value(1), out(1);
  Graph graph;
  cudaGraphConditionalHandle handle{};
  CUDA_OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
  cudaGraphNode_t chosen = add_choice(graph, {}, kernel_of(choose), handle, value);
  cudaGraph_t bodies[2] = {};
  cudaGraphNode_t node = add_conditional(graph, {chosen}, handle, cudaGraphCondTypeIf, 2, bodies);
  add_kernel(bodies[0], {}, put, out, 1);
  add_kernel(bodies[1], {}, put, out, 2);
  add_kernel(graph, {node}, digit, out, 5);
  cudaGraphNodeType type{};
  CUDA_OK(cudaGraphNodeGetType(node, &type));
  EXPECT_EQUAL(type, cudaGraphNodeTypeConditional);
  Exec exec(graph);
  for (int taken : {1, 0, 7}) {
    set(value, taken);
    run(exec);
    EXPECT_EQUAL_AT(taken, out.value(), taken ? 15 : 25);
  }
}

CASE(while_nodes) {
  Device left(1), turns(1);
  Graph graph;
  cudaGraphConditionalHandle handle{};
  CUDA_OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraph_t body = nullptr;
  add_conditional(graph, {}, handle, cudaGraphCondTypeWhile, 1, &body);
  cudaGraphNode_t first = add_kernel(body, {}, digit, turns, 1);
  void* arguments[2];
  int* at = left;
  arguments[0] = &handle;
  arguments[1] = &at;
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(countdown);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaGraphNode_t last = nullptr;
  CUDA_OK(cudaGraphAddKernelNode(&last, body, &first, 1, &params));
  Exec exec(graph);
  for (int launches = 0; launches < 2; ++launches) {
    set(left, 4);
    set(turns, 0);
    run(exec);
    EXPECT_EQUAL(turns.value(), 1111);
    EXPECT_EQUAL(left.value(), 0);
  }
}

CASE(switch_and_nested_nodes) {
  Device value(1), again(1), out(1);
  Graph graph;
  cudaGraphConditionalHandle outer{}, inner{};
  CUDA_OK(cudaGraphConditionalHandleCreate(&outer, graph, 0, cudaGraphCondAssignDefault));
  CUDA_OK(cudaGraphConditionalHandleCreate(&inner, graph, 0, cudaGraphCondAssignDefault));
  cudaGraphNode_t chosen = add_choice(graph, {}, kernel_of(choose), outer, value);
  cudaGraph_t bodies[3] = {}, nested = nullptr;
  add_conditional(graph, {chosen}, outer, cudaGraphCondTypeSwitch, 3, bodies);
  for (int i = 0; i < 2; ++i) add_kernel(bodies[i], {}, put, out, 10 + i);
  cudaGraphNode_t first = add_kernel(bodies[2], {}, put, out, 3);
  cudaGraphNode_t second = add_choice(bodies[2], {first}, kernel_of(choose), inner, again);
  add_conditional(bodies[2], {second}, inner, cudaGraphCondTypeIf, 1, &nested);
  add_kernel(nested, {}, digit, out, 4);
  Exec exec(graph);
  const int expected[] = {10, 11, 34, -1};
  set(again, 1);
  for (int i = 0; i < 4; ++i) {
    set(value, i);
    set(out, -1);
    run(exec);
    EXPECT_EQUAL_AT(i, out.value(), expected[i]);
  }
  set(value, 2);
  set(again, 0);
  run(exec);
  EXPECT_EQUAL(out.value(), 3);
}

CASE(refused_conditions) {
  Graph graph;
  cudaGraphConditionalHandle handle{};
  CUDA_OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
  cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 2;
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params), cudaErrorInvalidValue);
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiateParams instantiate{};
  EXPECT(cudaGraphInstantiateWithParams(&exec, graph, &instantiate) != cudaSuccess);
  EXPECT_EQUAL(instantiate.result_out, cudaGraphInstantiateConditionalHandleUnused);
  (void)cudaGetLastError();
}

// ---- updates ----

namespace {

cudaGraphExecUpdateResultInfo update(cudaGraphExec_t exec, cudaGraph_t graph, cudaError_t expected) {
  cudaGraphExecUpdateResultInfo info{};
  EXPECT_CUDA(cudaGraphExecUpdate(exec, graph, &info), expected);
  (void)cudaGetLastError();
  return info;
}

}  // namespace

CASE(update_of_parameters) {
  Device memory(2);
  int host = 0;
  auto fill = [&](cudaGraph_t graph, void (*kernel)(int*, int), int value, int* at) {
    cudaGraphNode_t a = add_memset(graph, {}, at, 1, 1);
    cudaGraphNode_t b = add_kernel(graph, {a}, kernel, at, value), c = add_empty(graph, {a});
    cudaGraphNode_t both[] = {b, c}, d = nullptr;
    CUDA_OK(cudaGraphAddMemcpyNode1D(&d, graph, both, 2, &host, at, 4, cudaMemcpyDeviceToHost));
  };
  Graph first, second;
  fill(first, digit, 2, memory);
  fill(second, put_other, 3, memory + 1);
  Exec exec(first);
  run(exec);
  EXPECT_EQUAL(host, 12);
  EXPECT_EQUAL(update(exec, second, cudaSuccess).result, cudaGraphExecUpdateSuccess);
  run(exec);
  EXPECT_EQUAL(host, 1003);
}

CASE(refused_updates) {
  Device memory(16);
  Graph first;
  cudaGraphNode_t a = add_kernel(first, {}, put, memory, 1), b = add_memset(first, {a}, memory, 0, 1);
  (void)b;
  Exec exec(first);
  {
    Graph fewer;
    add_kernel(fewer, {}, put, memory, 1);
    EXPECT_EQUAL(update(exec, fewer, cudaErrorGraphExecUpdateFailure).result, cudaGraphExecUpdateErrorTopologyChanged);
  }
  {
    Graph unordered;
    add_kernel(unordered, {}, put, memory, 1);
    add_memset(unordered, {}, memory, 0, 1);
    EXPECT_EQUAL(update(exec, unordered, cudaErrorGraphExecUpdateFailure).result,
                 cudaGraphExecUpdateErrorTopologyChanged);
  }
  {
    Graph other_type;
    cudaGraphNode_t x = add_kernel(other_type, {}, put, memory, 1), y = add_kernel(other_type, {x}, put, memory, 1);
    const cudaGraphExecUpdateResultInfo info = update(exec, other_type, cudaErrorGraphExecUpdateFailure);
    EXPECT_EQUAL(info.result, cudaGraphExecUpdateErrorNodeTypeChanged);
    EXPECT(info.errorNode == y);
  }
  {
    Graph two_rows;
    cudaGraphNode_t x = add_kernel(two_rows, {}, put, memory, 1), y = nullptr;
    cudaMemsetParams params{memory, 32, 0, 4, 2, 2};
    CUDA_OK(cudaGraphAddMemsetNode(&y, two_rows, &x, 1, &params));
    const cudaGraphExecUpdateResultInfo info = update(exec, two_rows, cudaErrorGraphExecUpdateFailure);
    EXPECT_EQUAL(info.result, cudaGraphExecUpdateErrorParametersChanged);
    EXPECT(info.errorNode == y);
  }
  // Nothing has changed.
  run(exec);
  EXPECT_EQUAL(memory.value(), 0);
}

CASE(update_pairs_by_edges) {
  Device memory(2);
  auto fill = [&](cudaGraph_t graph, bool swapped) {
    cudaGraphNode_t a = add_kernel(graph, {}, put, memory, 1), b = add_memset(graph, {}, memory + 1, 0, 1);
    cudaGraphNode_t both[] = {swapped ? b : a, swapped ? a : b}, end = nullptr;
    CUDA_OK(cudaGraphAddEmptyNode(&end, graph, both, 2));
    return end;
  };
  Graph first, second;
  fill(first, false);
  fill(second, true);
  Exec exec(first);
  EXPECT_EQUAL(update(exec, second, cudaErrorGraphExecUpdateFailure).result, cudaGraphExecUpdateErrorNodeTypeChanged);
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
    EXPECT_CUDA(cudaGraphReleaseUserObject(graph, other, 1), cudaErrorInvalidValue);
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
