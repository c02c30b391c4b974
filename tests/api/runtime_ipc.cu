// Device memory of another process. Oracle: "CUDA Runtime API, Device Management": cudaIpcGetMemHandle and relatives.
// Each case has a process of its own, so that it can fork before it uses CUDA, and its first handle moves memory.

#include "child.h"
#include "driver.h"

#undef cuIpcOpenMemHandle

namespace {

using check::Child, check::Way;

constexpr size_t kBytes = 3 << 20;

/// Checks the bytes and answers by changing them.
int open_and_answer(const Way& parent) {
  cudaIpcMemHandle_t handle;
  if (!parent.receive(handle)) return 10;
  void *block = nullptr, *again = nullptr;
  if (cudaIpcOpenMemHandle(&block, handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) return 11;
  // "If the memory handle has already been opened by the current context, the reference count on the handle is
  // incremented by 1 and the existing device pointer is returned."
  if (cudaIpcOpenMemHandle(&again, handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess || again != block) return 12;
  if (!check::all_bytes(block, kBytes, 0x5a)) return 13;
  if (cudaMemset(block, 0xa5, kBytes) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) return 14;
  if (cudaFree(block) == cudaSuccess) return 15;  // it is not this process's to free
  if (cudaIpcCloseMemHandle(again) != cudaSuccess || cudaIpcCloseMemHandle(block) != cudaSuccess) return 16;
  if (cudaIpcCloseMemHandle(block) == cudaSuccess) return 17;
  return 0;
}

/// What was open before a reset counts no more, even where something else is at its address.
int open_after_a_reset(const Way& parent) {
  cudaIpcMemHandle_t first, second;
  if (!parent.receive(first) || !parent.receive(second)) return 10;
  void *lost = nullptr, *block = nullptr, *again = nullptr;
  if (cudaIpcOpenMemHandle(&lost, first, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) return 11;
  if (cudaDeviceReset() != cudaSuccess) return 12;
  if (cudaIpcOpenMemHandle(&block, second, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) return 13;
  if (cudaIpcOpenMemHandle(&again, second, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess || again != block) return 14;
  if (cudaIpcCloseMemHandle(block) != cudaSuccess) return 15;
  cudaPointerAttributes attributes;
  if (cudaPointerGetAttributes(&attributes, block) != cudaSuccess) return 16;
  if (attributes.type != cudaMemoryTypeDevice || !check::all_bytes(block, kBytes, 0x5a)) return 17;
  return cudaIpcCloseMemHandle(block) == cudaSuccess && cudaIpcCloseMemHandle(block) != cudaSuccess ? 0 : 18;
}

/// The same by the driver API.
int open_by(CUresult (*open)(CUdeviceptr*, CUipcMemHandle, unsigned), const Way& parent) {
  CUipcMemHandle handle;
  if (!parent.receive(handle)) return 10;
  check::use_context();
  CUdeviceptr block = 0;
  CU_OK(open(&block, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  if (!block || !check::all_bytes(reinterpret_cast<void*>(block), kBytes, 0x5a)) return 13;
  if (cuMemsetD8(block, 0xa5, kBytes) != CUDA_SUCCESS || cuCtxSynchronize() != CUDA_SUCCESS) return 14;
  return cuIpcCloseMemHandle(block) == CUDA_SUCCESS ? 0 : 16;
}

/// As programs built for CUDA 4 to 10 do.
int open_by_the_first_version(const Way& parent) {
  return open_by(cuIpcOpenMemHandle, parent);
}
int open_by_the_second_version(const Way& parent) {
  return open_by(cuIpcOpenMemHandle_v2, parent);
}

/// Exports memory, and ends once it is opened.
int export_and_end(const Way& parent) {
  void* block = nullptr;
  cudaIpcMemHandle_t handle;
  if (cudaMalloc(&block, kBytes) != cudaSuccess || cudaMemset(block, 0x3c, kBytes) != cudaSuccess) return 10;
  if (cudaDeviceSynchronize() != cudaSuccess || cudaIpcGetMemHandle(&handle, block) != cudaSuccess) return 11;
  bool opened = false;
  return parent.send(handle) && parent.receive(opened) && opened ? 0 : 12;
}

template <typename Handle>
void expect_answered(const Child& child, int (*get_handle)(Handle*, void*)) {
  void *before = nullptr, *block = nullptr;
  CUDA_OK(cudaMalloc(&before, 1000));  // a neighbour
  CUDA_OK(cudaMemset(before, 0x33, 1000));
  CUDA_OK(cudaMalloc(&block, kBytes));
  CUDA_OK(cudaMemset(block, 0x5a, kBytes));
  CUDA_OK(cudaDeviceSynchronize());
  Handle handle;
  CUDA_OK(get_handle(&handle, block));
  EXPECT(child->send(handle));
  EXPECT_EQUAL(child.ended(), 0);
  EXPECT(check::all_bytes(block, kBytes, 0xa5));
  EXPECT(check::all_bytes(before, 1000, 0x33));
  CUDA_OK(cudaFree(block));
  CUDA_OK(cudaFree(before));
}

/// Counts in device memory, and what it has counted in `rounds`, until the host says stop.
__global__ void count_until(unsigned char* bytes, unsigned* rounds, volatile int* stop) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned done = 0;
  do {
    reinterpret_cast<volatile unsigned char*>(bytes)[i] += 1;
    rounds[i] = ++done;
  } while (!*stop);
}

}  // namespace

CASE(memory_of_another_process) {
  expect_answered<cudaIpcMemHandle_t>(Child(open_and_answer), [](auto* handle, void* block) {
    return static_cast<int>(cudaIpcGetMemHandle(handle, block));
  });
}

CASE(memory_opened_after_a_reset) {
  Child child(open_after_a_reset);
  void* blocks[2] = {};
  for (void*& block : blocks) {
    CUDA_OK(cudaMalloc(&block, 4 << 20));  // at the beginning of a chunk, so that windows are alike
    CUDA_OK(cudaMemset(block, 0x5a, kBytes));
    CUDA_OK(cudaDeviceSynchronize());
    cudaIpcMemHandle_t handle;
    CUDA_OK(cudaIpcGetMemHandle(&handle, block));
    EXPECT(child->send(handle));
  }
  EXPECT_EQUAL(child.ended(), 0);
  for (void* block : blocks) CUDA_OK(cudaFree(block));
}

CASE(by_the_driver) {
  const auto get_handle = [](CUipcMemHandle* handle, void* block) {
    return static_cast<int>(cuIpcGetMemHandle(handle, reinterpret_cast<CUdeviceptr>(block)));
  };
  const Child first(open_by_the_first_version), second(open_by_the_second_version);
  expect_answered<CUipcMemHandle>(first, get_handle);
  expect_answered<CUipcMemHandle>(second, get_handle);
}

// CUDA leaves it open what becomes of such memory; Cupola promises it (docs/memory.md).
CASE(opened_memory_outlives_the_process_it_came_from) {
  Child child(export_and_end);
  if (!check::on_cupola()) return;
  cudaIpcMemHandle_t handle;
  void* block = nullptr;
  EXPECT(child->receive(handle));
  CUDA_OK(cudaIpcOpenMemHandle(&block, handle, cudaIpcMemLazyEnablePeerAccess));
  EXPECT(child->send(true));
  EXPECT_EQUAL(child.ended(), 0);
  EXPECT(check::all_bytes(block, kBytes, 0x3c));
  CUDA_OK(cudaMemset(block, 0x4d, kBytes));
  EXPECT(check::all_bytes(block, kBytes, 0x4d));
  CUDA_OK(cudaIpcCloseMemHandle(block));
  // Nobody is there any more who could open it anew.
  EXPECT_CUDA(cudaIpcOpenMemHandle(&block, handle, cudaIpcMemLazyEnablePeerAccess), cudaErrorInvalidValue);
}

// No count is lost while the memory under a running kernel is moved.
CASE(kernels_go_on_while_a_handle_is_made) {
  constexpr unsigned kThreads = 4 * 64;
  unsigned char* bytes = nullptr;
  unsigned* rounds = nullptr;
  int* stop = nullptr;
  CUDA_OK(cudaHostAlloc(&stop, sizeof *stop, cudaHostAllocMapped));
  CUDA_OK(cudaHostAlloc(&rounds, kThreads * sizeof *rounds, cudaHostAllocMapped));
  *stop = 0;
  std::memset(rounds, 0, kThreads * sizeof *rounds);
  CUDA_OK(cudaMalloc(&bytes, kThreads));
  CUDA_OK(cudaMemset(bytes, 0, kThreads));
  count_until<<<4, 64>>>(bytes, rounds, stop);
  for (int i = 0; i < 5000 && !reinterpret_cast<volatile unsigned*>(rounds)[0]; ++i) check::Gate::pause(1);
  EXPECT(rounds[0] > 0);  // it runs
  cudaIpcMemHandle_t handle;
  CUDA_OK(cudaIpcGetMemHandle(&handle, bytes));
  EXPECT_CUDA(cudaStreamQuery(nullptr), cudaErrorNotReady);  // still
  const unsigned so_far = reinterpret_cast<volatile unsigned*>(rounds)[0];
  for (int i = 0; i < 5000 && reinterpret_cast<volatile unsigned*>(rounds)[0] == so_far; ++i) check::Gate::pause(1);
  EXPECT(rounds[0] > so_far);  // and goes on
  reinterpret_cast<std::atomic<int>*>(stop)->store(1);
  CUDA_OK(cudaDeviceSynchronize());
  std::vector<unsigned char> got(kThreads);
  CUDA_OK(cudaMemcpy(got.data(), bytes, kThreads, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < kThreads; ++i) EXPECT_EQUAL_AT(i, got[i], rounds[i] & 0xff);
  CUDA_OK(cudaFree(bytes));
  CUDA_OK(cudaFreeHost(rounds));
  CUDA_OK(cudaFreeHost(stop));
}

CASE(ipc_refuses) {
  cudaIpcMemHandle_t handle = {};
  void* block = nullptr;
  int on_stack = 0;
  EXPECT_CUDA(cudaIpcGetMemHandle(&handle, &on_stack), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaIpcOpenMemHandle(&block, handle, cudaIpcMemLazyEnablePeerAccess), cudaErrorInvalidValue);
  CUDA_OK(cudaMalloc(&block, 100));
  CUDA_OK(cudaIpcGetMemHandle(&handle, block));
  void* own = nullptr;
  EXPECT_CUDA(cudaIpcOpenMemHandle(&own, handle, cudaIpcMemLazyEnablePeerAccess),
              cudaErrorDeviceUninitialized);  // this process's own
  EXPECT_CUDA(cudaIpcCloseMemHandle(block), cudaErrorInvalidValue);
  cudaGetLastError();
  CUDA_OK(cudaFree(block));
}

CHECK_ISOLATED_MAIN()
