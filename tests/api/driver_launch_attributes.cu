// Attributes of launches, kernel nodes and streams. "CUDA Driver API, CUlaunchAttributeID". Oracle where the
// documentation is silent: an H200 (driver 580).

#include <utility>
#include <vector>

#include "api.h"
#include "driver.h"
#include "driver_graph_nodes.h"

namespace {

__global__ void count(int* counter) {
  ++*counter;
}

/// One launch of `count` with the attribute.
struct Launch {
  explicit Launch(CUlaunchAttributeID id, CUlaunchAttributeValue value = {}) {
    check::use_context();
    CUDA_OK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(count)));
    CU_OK(cuMemAlloc(&counter, sizeof(int)));
    CU_OK(cuMemsetD32(counter, 0, 1));
    attribute.id = id;
    attribute.value = value;
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  ~Launch() { CU_OK(cuMemFree(counter)); }
  Launch(const Launch&) = delete;

  CUresult run() {
    void* parameters[] = {&counter};
    return cuLaunchKernelEx(&config, function, parameters, nullptr);
  }
  int count_so_far() {
    int value = -1;
    CU_OK(cuMemcpyDtoH(&value, counter, sizeof value));
    return value;
  }

  CUfunction function = nullptr;
  CUdeviceptr counter = 0;
  CUlaunchAttribute attribute = {};
  CUlaunchConfig config = {};
};

enum class At { Launch, Node, Stream };

/// Sets the attribute in one of the three ways.
CUresult set(At where, CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
  Launch launch(id, value);
  if (where == At::Launch) {
    const CUresult code = launch.run();
    EXPECT_EQUAL(launch.count_so_far(), code == CUDA_SUCCESS ? 1 : 0);
    return code;
  }
  CUresult code = CUDA_SUCCESS;
  if (where == At::Stream) {
    CUstream stream = nullptr;
    CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    code = cuStreamSetAttribute(stream, id, &value);
    CU_OK(cuStreamDestroy(stream));
    return code;
  }
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  void* parameters[] = {&launch.counter};
  kernel.func = launch.function;
  kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
  kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.kernelParams = parameters;
  CU_OK(cuGraphCreate(&graph, 0));
  CU_OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
  code = cuGraphKernelNodeSetAttribute(node, id, &value);
  CU_OK(cuGraphDestroy(graph));
  return code;
}

template <typename Member>
CUlaunchAttributeValue valued(Member CUlaunchAttributeValue::* member, Member value) {
  CUlaunchAttributeValue all = {};
  all.*member = value;
  return all;
}

CUlaunchAttributeValue with_event(CUevent event) {
  CUlaunchAttributeValue value = {};
  value.programmaticEvent.event = event;
  return value;
}

CUlaunchAttributeValue window(float hit_ratio, CUaccessProperty miss) {
  CUlaunchAttributeValue value = {};
  value.accessPolicyWindow.hitRatio = hit_ratio;
  value.accessPolicyWindow.missProp = miss;
  return value;
}

}  // namespace

CASE(who_has_which_attribute) {
  constexpr unsigned kLaunch = 1, kNode = 2, kStream = 4;
  struct Row {
    CUlaunchAttributeID id;
    unsigned owners;
    CUlaunchAttributeValue value;
  };
  CUevent event = nullptr;
  check::use_context();
  CU_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  const Row rows[] = {
      {CU_LAUNCH_ATTRIBUTE_IGNORE, kLaunch, {}},
      {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, kLaunch | kNode | kStream, window(1, CU_ACCESS_PROPERTY_STREAMING)},
      {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, kLaunch | kNode, valued(&CUlaunchAttributeValue::cooperative, 1)},
      {CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, kStream,
       valued(&CUlaunchAttributeValue::syncPolicy, CU_SYNC_POLICY_SPIN)},
      {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, kLaunch | kNode, {}},
      {CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, kLaunch | kNode, {}},
      {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, kLaunch,
       valued(&CUlaunchAttributeValue::programmaticStreamSerializationAllowed, 1)},
      {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, kLaunch, with_event(event)},
      {CU_LAUNCH_ATTRIBUTE_PRIORITY, kLaunch | kNode | kStream, valued(&CUlaunchAttributeValue::priority, -1)},
      {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, kLaunch | kNode | kStream, {}},
      {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, kLaunch | kNode | kStream,
       valued(&CUlaunchAttributeValue::memSyncDomain, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE)},
      {CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, kLaunch, {}},
      {CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, kLaunch, with_event(event)},
      {CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, kLaunch | kNode,
       valued(&CUlaunchAttributeValue::sharedMemCarveout, 50u)},
      {CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, kLaunch | kNode, {}},
      {static_cast<CUlaunchAttributeID>(100), 0, {}},
  };
  for (const Row& row : rows) {
    const auto expected = [&](unsigned owner) { return row.owners & owner ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; };
    EXPECT_EQUAL(set(At::Launch, row.id, row.value), expected(kLaunch));
    EXPECT_EQUAL(set(At::Node, row.id, row.value), expected(kNode));
    EXPECT_EQUAL(set(At::Stream, row.id, row.value), expected(kStream));
  }
  CU_OK(cuEventDestroy(event));
}

CASE(values_out_of_range) {
  struct Row {
    At where;
    CUlaunchAttributeID id;
    CUlaunchAttributeValue value;
    CUresult code;
  };
  CUlaunchAttributeValue pair = {}, map = {};
  pair.clusterDim.x = 2;
  pair.clusterDim.y = pair.clusterDim.z = 1;
  map.memSyncDomainMap.default_ = 5;
  const auto policy = valued(&CUlaunchAttributeValue::syncPolicy, static_cast<CUsynchronizationPolicy>(5));
  const auto preference =
      valued(&CUlaunchAttributeValue::clusterSchedulingPolicyPreference, static_cast<CUclusterSchedulingPolicy>(5));
  const auto domain = valued(&CUlaunchAttributeValue::memSyncDomain, static_cast<CUlaunchMemSyncDomain>(5));
  const auto carveout = valued(&CUlaunchAttributeValue::sharedMemCarveout, 101u);
  const auto nvlink = valued(&CUlaunchAttributeValue::nvlinkUtilCentricScheduling, 5u);
  const Row rows[] = {
      {At::Launch, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, window(2, CU_ACCESS_PROPERTY_NORMAL),
       CUDA_ERROR_INVALID_VALUE},
      {At::Stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, window(1, CU_ACCESS_PROPERTY_PERSISTING),
       CUDA_ERROR_INVALID_VALUE},
      {At::Stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, policy, CUDA_ERROR_INVALID_VALUE},
      {At::Launch, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, pair, CUDA_ERROR_INVALID_CLUSTER_SIZE},
      {At::Node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, pair, CUDA_ERROR_INVALID_CLUSTER_SIZE},
      {At::Launch, CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, preference, CUDA_ERROR_INVALID_VALUE},
      {At::Launch, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, map, CUDA_ERROR_INVALID_VALUE},
      {At::Node, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, domain, CUDA_ERROR_INVALID_VALUE},
      {At::Launch, CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, pair, CUDA_ERROR_INVALID_CLUSTER_SIZE},
      {At::Node, CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, carveout, CUDA_ERROR_INVALID_VALUE},
      {At::Launch, CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, nvlink, CUDA_ERROR_INVALID_VALUE},
  };
  for (const Row& row : rows) EXPECT_EQUAL(set(row.where, row.id, row.value), row.code);
}

CASE(events_of_launches) {
  check::use_context();
  CUevent event = nullptr, timed = nullptr;
  CU_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  CU_OK(cuEventCreate(&timed, CU_EVENT_DEFAULT));
  for (const auto id : {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT}) {
    EXPECT_EQUAL(set(At::Launch, id, with_event(nullptr)), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQUAL(set(At::Launch, id, with_event(timed)), CUDA_ERROR_NOT_SUPPORTED);
  }
  Launch launch(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, with_event(event));
  CU_OK(cuStreamCreate(&launch.config.hStream, CU_STREAM_NON_BLOCKING));
  check::Gate gate;
  CU_OK(cuLaunchHostFunc(launch.config.hStream, check::Gate::wait, &gate));
  CU_OK(launch.run());
  EXPECT(gate.holds(launch.config.hStream));
  EXPECT_CUDA(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  gate.release();
  CU_OK(cuEventSynchronize(event));
  CU_OK(cuStreamSynchronize(launch.config.hStream));
  EXPECT_EQUAL(launch.count_so_far(), 1);
  CU_OK(cuStreamDestroy(launch.config.hStream));
  CU_OK(cuEventDestroy(event));
  CU_OK(cuEventDestroy(timed));
}

// Oracle: an H200 (driver 580). Of two of a kind, the last one counts.
CASE(a_launch_has_an_event_of_each_kind) {
  Launch launch(CU_LAUNCH_ATTRIBUTE_IGNORE);
  CU_OK(cuStreamCreate(&launch.config.hStream, CU_STREAM_NON_BLOCKING));
  constexpr auto kTrigger = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
  constexpr auto kCompletion = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
  for (const auto& [first, second] : {std::pair(kTrigger, kCompletion), std::pair(kCompletion, kTrigger)}) {
    CUevent events[2] = {};
    CUlaunchAttribute attributes[2] = {};
    for (int i = 0; i < 2; ++i) {
      CU_OK(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
      attributes[i].id = i == 0 ? first : second;
      attributes[i].value = with_event(events[i]);
    }
    launch.config.attrs = attributes;
    launch.config.numAttrs = 2;
    check::Gate gate;
    CU_OK(cuLaunchHostFunc(launch.config.hStream, check::Gate::wait, &gate));
    CU_OK(launch.run());
    EXPECT(gate.holds(launch.config.hStream));
    for (CUevent event : events) EXPECT_CUDA(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    gate.release();
    for (CUevent event : events) {
      CU_OK(cuEventSynchronize(event));
      CU_OK(cuEventDestroy(event));
    }
  }
  CU_OK(cuStreamSynchronize(launch.config.hStream));
  EXPECT_EQUAL(launch.count_so_far(), 2);
  CU_OK(cuStreamDestroy(launch.config.hStream));
}

CASE(flags_of_events_of_launches) {
  check::use_context();
  CUevent event = nullptr;
  CU_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  for (int flags : {1, 2, 4, 0x10, -1}) {
    // "Does not accept CU_EVENT_RECORD_EXTERNAL"; the code is an H200's (driver 580).
    const CUresult code = flags == CU_EVENT_RECORD_EXTERNAL ? CUDA_ERROR_ILLEGAL_STATE : CUDA_ERROR_INVALID_VALUE;
    CUlaunchAttributeValue trigger = with_event(event), completion = with_event(event);
    trigger.programmaticEvent.flags = flags;
    completion.launchCompletionEvent.flags = flags;
    EXPECT_EQUAL(set(At::Launch, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, trigger), code);
    EXPECT_EQUAL(set(At::Launch, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, completion), code);
  }
  CU_OK(cuEventDestroy(event));
}

CASE(kept_values) {
  check::use_context();
  CUstream stream = nullptr, other = nullptr;
  CU_OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -100));  // brought into the range
  CU_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  int least = 0, greatest = 0, priority = 1;
  CU_OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  CUlaunchAttributeValue value = {};
  CU_OK(cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  EXPECT_EQUAL(value.priority, greatest);
  CU_OK(cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));
  EXPECT(value.memSyncDomainMap.default_ == 0 && value.memSyncDomainMap.remote == 1);
  value = {};
  value.priority = -1;
  CU_OK(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  CU_OK(cuStreamGetPriority(stream, &priority));
  EXPECT_EQUAL(priority, -1);
  CU_OK(cuStreamCopyAttributes(other, stream));
  CU_OK(cuStreamGetPriority(other, &priority));
  EXPECT_EQUAL(priority, -1);
  CU_OK(cuStreamDestroy(stream));
  CU_OK(cuStreamDestroy(other));
}

CASE(a_captured_launch_keeps_them) {
  Launch launch(CU_LAUNCH_ATTRIBUTE_PRIORITY, valued(&CUlaunchAttributeValue::priority, -2));
  CU_OK(cuStreamCreate(&launch.config.hStream, CU_STREAM_NON_BLOCKING));
  CUgraph graph = nullptr;
  CU_OK(cuStreamBeginCapture(launch.config.hStream, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU_OK(launch.run());
  CU_OK(cuStreamEndCapture(launch.config.hStream, &graph));
  CUgraphNode node = nullptr;
  size_t nodes = 1;
  CU_OK(cuGraphGetNodes(graph, &node, &nodes));
  EXPECT_EQUAL(nodes, size_t{1});
  CUlaunchAttributeValue value = {};
  CU_OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  EXPECT_EQUAL(value.priority, -2);
  CU_OK(cuGraphDestroy(graph));
  CU_OK(cuStreamDestroy(launch.config.hStream));
}

CASE(cooperative_nodes_stay_within_the_device) {
  Launch launch(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, valued(&CUlaunchAttributeValue::cooperative, 1));
  void* parameters[] = {&launch.counter};
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  kernel.func = launch.function;
  kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
  kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.kernelParams = parameters;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  CU_OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
  CU_OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &launch.attribute.value));
  CU_OK(cuGraphInstantiate(&exec, graph, 0));
  kernel.gridDimX = 1u << 30;
  EXPECT_CUDA(cuGraphExecKernelNodeSetParams(exec, node, &kernel), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  CU_OK(cuGraphLaunch(exec, nullptr));
  CU_OK(cuStreamSynchronize(nullptr));
  EXPECT_EQUAL(launch.count_so_far(), 1);
  CU_OK(cuGraphExecDestroy(exec));
  CU_OK(cuGraphDestroy(graph));
}

CHECK_MAIN()
