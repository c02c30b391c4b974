// Graphs of the runtime API: memory nodes. Oracle: "CUDA Runtime API, Graph Management" and "CUDA C++ Programming
// Guide, CUDA Graphs"; what the kernels compute is done again on the host. Public names only, so that the program can
// be built for a GPU too.

#include "graph_nodes.h"

namespace {

cudaMemAllocNodeParams allocation(size_t bytes) {
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  params.bytesize = bytes;
  return params;
}

unsigned long long number(cudaGraphMemAttributeType attribute) {
  unsigned long long value = ~0ull;
  CUDA_OK(cudaDeviceGetGraphMemAttribute(0, attribute, &value));
  return value;
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
  EXPECT_CUDA(cudaGraphInstantiate(&second, graph, 0), cudaErrorNotSupported);
  EXPECT_CUDA(cudaGraphClone(&clone, graph), cudaErrorNotSupported);
  EXPECT_CUDA(cudaGraphDestroyNode(release), cudaErrorNotSupported);
  EXPECT_CUDA(cudaGraphRemoveDependencies(graph, &alloc, &fill, nullptr, 1), cudaErrorNotSupported);
  EXPECT_EQUAL(number(cudaGraphMemAttrUsedMemCurrent), 0ull);
  EXPECT(number(cudaGraphMemAttrReservedMemHigh) >= 1u << 20);
  unsigned long long zero = 0;
  EXPECT(number(cudaGraphMemAttrUsedMemHigh) >= 1u << 20);
  CUDA_OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
  EXPECT_EQUAL(number(cudaGraphMemAttrUsedMemHigh), 0ull);
  EXPECT_CUDA(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero), cudaErrorInvalidValue);
  (void)cudaGetLastError();
}

// "Free unused memory that was cached on the specified device for use with graphs back to the OS."
CASE(unused_memory_goes_back) {
  {
    Graph graph;
    cudaMemAllocNodeParams params = allocation(8 << 20);
    cudaGraphNode_t alloc = nullptr, release = nullptr;
    CUDA_OK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params));
    CUDA_OK(cudaGraphAddMemFreeNode(&release, graph, &alloc, 1, params.dptr));
    Exec exec(graph);
    run(exec);
    EXPECT(number(cudaGraphMemAttrReservedMemCurrent) >= 8u << 20);
  }
  CUDA_OK(cudaDeviceGraphMemTrim(0));
  EXPECT_EQUAL(number(cudaGraphMemAttrReservedMemCurrent), 0ull);
  EXPECT(number(cudaGraphMemAttrReservedMemHigh) >= 8u << 20);
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
  EXPECT_EQUAL(number(cudaGraphMemAttrUsedMemCurrent), 0ull);
}

CHECK_MAIN()
