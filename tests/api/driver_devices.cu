// Several devices, as CUPOLA_DEVICE_COUNT asks for: what programs for several GPUs do with them. Oracle: "CUDA Driver
// API", Device Management, Peer Context Memory Access, Unified Addressing, Stream and Event Management.

#include <unistd.h>

#include <array>
#include <set>
#include <vector>

#include "driver.h"

namespace {

constexpr int kDevices = 3;

/// The devices, each with a context, none of them current.
struct Machine {
  std::array<CUdevice, kDevices> devices{};
  std::array<CUcontext, kDevices> contexts{};

  Machine() {
    setenv("CUPOLA_DEVICE_COUNT", "3", 1);
    CU_OK(cuInit(0));
    for (int i = 0; i < kDevices; ++i) {
      CU_OK(cuDeviceGet(&devices[i], i));
      CU_OK(cuCtxCreate(&contexts[i], nullptr, 0, devices[i]));
      CU_OK(cuCtxPopCurrent(nullptr));
    }
  }

  void use(int i) const { CU_OK(cuCtxSetCurrent(contexts[i])); }
};

constexpr size_t kWords = 1 << 16;

CUdeviceptr filled(const Machine& machine, int device, unsigned word) {
  machine.use(device);
  CUdeviceptr memory = 0;
  CU_OK(cuMemAlloc(&memory, kWords * 4));
  CU_OK(cuMemsetD32(memory, word, kWords));
  CU_OK(cuCtxSynchronize());  // the fill returns before it is done
  return memory;
}

std::vector<unsigned> words_at(CUdeviceptr memory) {
  std::vector<unsigned> words(kWords);
  CU_OK(cuMemcpyDtoH(words.data(), memory, kWords * 4));
  return words;
}

// Words at `to` get those at `from` added.
constexpr const char* kAdd = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 to, .param .u64 from) {
  .reg .b64 %d<4>;
  .reg .b32 %r<6>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  mul.wide.u32 %d2, %r3, 4;
  ld.param.u64 %d0, [to];
  ld.param.u64 %d1, [from];
  add.u64 %d0, %d0, %d2;
  add.u64 %d1, %d1, %d2;
  ld.global.u32 %r4, [%d0];
  ld.global.u32 %r5, [%d1];
  add.u32 %r4, %r4, %r5;
  st.global.u32 [%d0], %r4;
  ret;
}
)";

CUfunction add_kernel() {
  CUmodule module = nullptr;
  CUfunction add = nullptr;
  CU_OK(cuModuleLoadData(&module, kAdd));
  CU_OK(cuModuleGetFunction(&add, module, "add"));
  return add;
}

}  // namespace

CASE(as_many_as_asked_for) {
  const Machine machine;
  int count = 0;
  CU_OK(cuDeviceGetCount(&count));
  EXPECT_EQUAL(count, kDevices);
  std::set<std::string> places, names;
  size_t together = 0;
  for (const CUdevice device : machine.devices) {
    char place[32];
    CUuuid uuid;
    size_t bytes = 0;
    CU_OK(cuDeviceGetPCIBusId(place, sizeof place, device));
    CU_OK(cuDeviceGetUuid_v2(&uuid, device));
    CU_OK(cuDeviceTotalMem(&bytes, device));
    places.insert(place);
    names.insert(std::string(uuid.bytes, sizeof uuid.bytes));
    together += bytes;
  }
  EXPECT_EQUAL(places.size(), size_t{kDevices});
  EXPECT_EQUAL(names.size(), size_t{kDevices});
  EXPECT(together <= static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  machine.use(2);
  CUdevice current = -1;
  CU_OK(cuCtxGetDevice(&current));
  EXPECT_EQUAL(current, machine.devices[2]);
}

// "CUDA C++ Programming Guide, CUDA Environment Variables".
CASE(hidden_and_reordered) {
  setenv("CUPOLA_DEVICE_COUNT", "4", 1);
  setenv("CUDA_VISIBLE_DEVICES", "3,1", 1);
  CU_OK(cuInit(0));
  int count = 0;
  CU_OK(cuDeviceGetCount(&count));
  EXPECT_EQUAL(count, 2);
  char first[32], second[32];
  CU_OK(cuDeviceGetPCIBusId(first, sizeof first, 0));
  CU_OK(cuDeviceGetPCIBusId(second, sizeof second, 1));
  EXPECT(std::string(first) > second);
}

CASE(peers_reach_each_other) {
  const Machine machine;
  for (const CUdevice from : machine.devices)
    for (const CUdevice to : machine.devices) {
      int can = -1;
      CU_OK(cuDeviceCanAccessPeer(&can, from, to));
      EXPECT_EQUAL(can, from == to ? 0 : 1);
      if (from == to) continue;
      CU_OK(cuDeviceGetP2PAttribute(&can, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, from, to));
      EXPECT_EQUAL(can, 1);
    }
  machine.use(0);
  EXPECT_CUDA(cuCtxEnablePeerAccess(machine.contexts[0], 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  EXPECT_CUDA(cuCtxDisablePeerAccess(machine.contexts[1]), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  CU_OK(cuCtxEnablePeerAccess(machine.contexts[1], 0));
  EXPECT_CUDA(cuCtxEnablePeerAccess(machine.contexts[1], 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  CU_OK(cuCtxEnablePeerAccess(machine.contexts[2], 0));
  machine.use(1);
  CU_OK(cuCtxEnablePeerAccess(machine.contexts[0], 0));  // each way by itself
  machine.use(0);
  CU_OK(cuCtxDisablePeerAccess(machine.contexts[1]));
  EXPECT_CUDA(cuCtxDisablePeerAccess(machine.contexts[1]), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

CASE(memory_knows_its_device) {
  const Machine machine;
  for (int i = 0; i < kDevices; ++i) {
    const CUdeviceptr memory = filled(machine, i, 1);
    machine.use((i + 1) % kDevices);
    int ordinal = -1;
    CUcontext context = nullptr;
    CU_OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
    CU_OK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
    EXPECT_EQUAL(ordinal, i);
    EXPECT_EQUAL(context, machine.contexts[i]);
  }
}

CASE(copies_between_devices) {
  const Machine machine;
  const CUdeviceptr a = filled(machine, 0, 0x1111), b = filled(machine, 1, 0x2222), c = filled(machine, 2, 0x3333);
  CU_OK(cuMemcpyPeer(b, machine.contexts[1], a, machine.contexts[0], kWords * 4));
  EXPECT_EQUAL(words_at(b), std::vector<unsigned>(kWords, 0x1111));
  machine.use(1);
  CU_OK(cuMemcpyDtoD(a, c, kWords * 4));
  EXPECT_EQUAL(words_at(a), std::vector<unsigned>(kWords, 0x3333));
}

// A stream of one device waits for an event of another, whose work has not begun yet when it is asked to.
CASE(streams_wait_for_events_of_other_devices) {
  const Machine machine;
  const CUdeviceptr a = filled(machine, 0, 0), b = filled(machine, 1, 0), gate = filled(machine, 0, 0);
  machine.use(0);
  CUstream writer = nullptr, reader = nullptr;
  CUevent written = nullptr;
  CU_OK(cuStreamCreate(&writer, CU_STREAM_NON_BLOCKING));
  CU_OK(cuEventCreate(&written, CU_EVENT_DISABLE_TIMING));
  CU_OK(cuStreamWaitValue32(writer, gate, 1, CU_STREAM_WAIT_VALUE_EQ));
  CU_OK(cuMemsetD32Async(a, 42, kWords, writer));
  CU_OK(cuEventRecord(written, writer));
  machine.use(1);
  CU_OK(cuStreamCreate(&reader, CU_STREAM_NON_BLOCKING));
  CU_OK(cuStreamWaitEvent(reader, written, 0));
  CU_OK(cuMemcpyDtoDAsync(b, a, kWords * 4, reader));
  EXPECT_CUDA(cuStreamQuery(reader), CUDA_ERROR_NOT_READY);
  const unsigned open = 1;
  CU_OK(cuMemcpyHtoD(gate, &open, 4));
  CU_OK(cuStreamSynchronize(reader));
  EXPECT_EQUAL(words_at(b), std::vector<unsigned>(kWords, 42));
}

// "CUDA C++ Programming Guide, Peer-to-Peer Memory Copy": a copy in the NULL stream between the memories of two devices
// comes after what was issued to either, and before what follows. The destination's device is held up by a gate, which
// a third device opens.
CASE(copies_in_the_default_stream_have_a_place_on_both_devices) {
  const Machine machine;
  const CUdeviceptr a = filled(machine, 0, 42), b = filled(machine, 1, 0), c = filled(machine, 1, 0),
                    gate = filled(machine, 2, 0);
  machine.use(1);
  CU_OK(cuStreamWaitValue32(nullptr, gate, 1, CU_STREAM_WAIT_VALUE_EQ));
  CU_OK(cuMemsetD32Async(b, 1, kWords, nullptr));
  machine.use(0);
  CU_OK(cuMemcpyDtoDAsync(b, a, kWords * 4, nullptr));
  EXPECT_CUDA(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  machine.use(1);
  CU_OK(cuMemcpyDtoDAsync(c, b, kWords * 4, nullptr));
  machine.use(2);
  const unsigned open = 1;
  CU_OK(cuMemcpyHtoD(gate, &open, 4));
  machine.use(1);
  EXPECT_EQUAL(words_at(b), std::vector<unsigned>(kWords, 42));
  EXPECT_EQUAL(words_at(c), std::vector<unsigned>(kWords, 42));
}

// One module in every context; a kernel reads and writes what belongs to the others.
CASE(kernels_use_memory_of_other_devices) {
  const Machine machine;
  std::array<CUdeviceptr, kDevices> memory{};
  for (int i = 0; i < kDevices; ++i) memory[i] = filled(machine, i, 1u << i);
  for (int i = 0; i < kDevices; ++i) {
    machine.use(i);
    CUdeviceptr from = memory[(i + 1) % kDevices];
    void* arguments[] = {&memory[i], &from};
    CU_OK(cuLaunchKernel(add_kernel(), kWords / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    CU_OK(cuCtxSynchronize());
  }
  EXPECT_EQUAL(words_at(memory[0]), std::vector<unsigned>(kWords, 3));
  EXPECT_EQUAL(words_at(memory[1]), std::vector<unsigned>(kWords, 6));
  EXPECT_EQUAL(words_at(memory[2]), std::vector<unsigned>(kWords, 7));
}

// A graph in the NULL stream of one device has its place in that of another, to which its kernel belongs.
CASE(graphs_in_the_default_stream_have_a_place_on_the_devices_of_their_kernels) {
  const Machine machine;
  CUdeviceptr a = filled(machine, 0, 40), b = filled(machine, 1, 0);
  const CUdeviceptr c = filled(machine, 1, 0), gate = filled(machine, 2, 0);
  machine.use(1);
  void* arguments[] = {&b, &a};
  CUDA_KERNEL_NODE_PARAMS parameters{};
  parameters.func = add_kernel();
  parameters.gridDimX = kWords / 256, parameters.gridDimY = parameters.gridDimZ = 1;
  parameters.blockDimX = 256, parameters.blockDimY = parameters.blockDimZ = 1;
  parameters.kernelParams = arguments;
  machine.use(0);
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  CU_OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
  CU_OK(cuGraphInstantiate(&exec, graph, 0));
  machine.use(1);
  CU_OK(cuStreamWaitValue32(nullptr, gate, 1, CU_STREAM_WAIT_VALUE_EQ));
  CU_OK(cuMemsetD32Async(b, 2, kWords, nullptr));
  machine.use(0);
  CU_OK(cuGraphLaunch(exec, nullptr));
  EXPECT_CUDA(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  machine.use(1);
  CU_OK(cuMemcpyDtoDAsync(c, b, kWords * 4, nullptr));
  machine.use(2);
  const unsigned open = 1;
  CU_OK(cuMemcpyHtoD(gate, &open, 4));
  machine.use(1);
  EXPECT_EQUAL(words_at(c), std::vector<unsigned>(kWords, 42));
  CU_OK(cuGraphExecDestroy(exec));
  CU_OK(cuGraphDestroy(graph));
}

// The same of a graph that was made where its kernel belongs, launched in the NULL stream of another device.
CASE(graphs_keep_their_place_in_whichever_stream_they_are_launched) {
  const Machine machine;
  CUdeviceptr a = filled(machine, 0, 40), b = filled(machine, 1, 0);
  const CUdeviceptr gate = filled(machine, 2, 0);
  machine.use(1);
  void* arguments[] = {&b, &a};
  CUDA_KERNEL_NODE_PARAMS parameters{};
  parameters.func = add_kernel();
  parameters.gridDimX = kWords / 256, parameters.gridDimY = parameters.gridDimZ = 1;
  parameters.blockDimX = 256, parameters.blockDimY = parameters.blockDimZ = 1;
  parameters.kernelParams = arguments;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  CU_OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
  CU_OK(cuGraphInstantiate(&exec, graph, 0));
  CU_OK(cuStreamWaitValue32(nullptr, gate, 1, CU_STREAM_WAIT_VALUE_EQ));
  CU_OK(cuMemsetD32Async(b, 2, kWords, nullptr));
  machine.use(0);
  CU_OK(cuGraphLaunch(exec, nullptr));
  EXPECT_CUDA(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  machine.use(2);
  const unsigned open = 1;
  CU_OK(cuMemcpyHtoD(gate, &open, 4));
  machine.use(1);
  EXPECT_EQUAL(words_at(b), std::vector<unsigned>(kWords, 42));
  CU_OK(cuGraphExecDestroy(exec));
  CU_OK(cuGraphDestroy(graph));
}

// A copy of a graph comes after what was issued to its source's device, which is another one than when the graph was
// made.
CASE(graphs_in_the_default_stream_have_a_place_on_the_devices_of_their_copies) {
  const Machine machine;
  const CUdeviceptr a = filled(machine, 0, 1), b = filled(machine, 1, 2), c = filled(machine, 1, 3),
                    gate = filled(machine, 2, 0);
  machine.use(1);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = c, copy.dstDevice = b;
  copy.WidthInBytes = kWords * 4, copy.Height = copy.Depth = 1;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  CU_OK(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, machine.contexts[1]));
  CU_OK(cuGraphInstantiate(&exec, graph, 0));
  copy.srcDevice = a;
  CU_OK(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, machine.contexts[1]));
  machine.use(0);
  CU_OK(cuStreamWaitValue32(nullptr, gate, 1, CU_STREAM_WAIT_VALUE_EQ));
  CU_OK(cuMemsetD32Async(a, 42, kWords, nullptr));
  machine.use(1);
  CU_OK(cuGraphLaunch(exec, nullptr));
  EXPECT_CUDA(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  machine.use(2);
  const unsigned open = 1;
  CU_OK(cuMemcpyHtoD(gate, &open, 4));
  machine.use(1);
  EXPECT_EQUAL(words_at(b), std::vector<unsigned>(kWords, 42));
  CU_OK(cuGraphExecDestroy(exec));
  CU_OK(cuGraphDestroy(graph));
}

// A fault ends the context that it happened in; devices beside it go on.
CASE(a_fault_stays_on_its_device) {
  const Machine machine;
  const CUdeviceptr good = filled(machine, 1, 5);
  machine.use(0);
  CUmodule module = nullptr;
  CUfunction trap = nullptr;
  CU_OK(cuModuleLoadData(&module, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry stop() { trap; }\n"));
  CU_OK(cuModuleGetFunction(&trap, module, "stop"));
  CU_OK(cuLaunchKernel(trap, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT(cuCtxSynchronize() != CUDA_SUCCESS);
  machine.use(1);
  CU_OK(cuCtxSynchronize());
  EXPECT_EQUAL(words_at(good), std::vector<unsigned>(kWords, 5));
}

// "CUDA Runtime API", cudaDeviceReset: the current device's; its context remains current.
CASE(a_reset_is_of_the_current_device) {
  setenv("CUPOLA_DEVICE_COUNT", "3", 1);
  CU_OK(cuInit(0));
  int failures = 0;
  CU_OK(cuLogsRegisterCallback([](void* to, CUlogLevel, char*, size_t) { ++*static_cast<int*>(to); }, &failures,
                               nullptr));
  std::array<void*, kDevices> memory{};
  for (int i = 0; i < kDevices; ++i) {
    CUcontext primary = nullptr;
    CU_OK(cuDevicePrimaryCtxRetain(&primary, i));
    CU_OK(cuCtxSetCurrent(primary));
    CUDA_OK(cudaMalloc(&memory[static_cast<size_t>(i)], 1024));
    if (i == 1) CUDA_OK(cudaDeviceReset());
    int current = -1;
    CUDA_OK(cudaGetDevice(&current));
    EXPECT_EQUAL(current, i);
  }
  for (int i = 0; i < kDevices; ++i) {
    cudaPointerAttributes attributes{};
    CUDA_OK(cudaPointerGetAttributes(&attributes, memory[static_cast<size_t>(i)]));
    EXPECT_EQUAL_AT(i, attributes.type, i == 1 ? cudaMemoryTypeUnregistered : cudaMemoryTypeDevice);
  }
  EXPECT_EQUAL(failures, 0);
}

CHECK_ISOLATED_MAIN()
