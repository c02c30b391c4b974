// Device memory of another process. Oracle: "CUDA Runtime API, Device Management": cudaIpcGetMemHandle and relatives.

#include <sys/wait.h>
#include <unistd.h>

#include "api.h"

namespace {

constexpr size_t kBytes = 3 << 20;

/// The child's half: checks the bytes and answers by changing them.
int open_and_answer(int from_parent) {
  cudaIpcMemHandle_t handle;
  if (read(from_parent, &handle, sizeof handle) != sizeof handle) return 10;
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

int to_child[2];
pid_t child = 0;

/// Before main: a process that has used CUDA must not fork and go on using it.
const bool forked = [] {
  if (pipe(to_child) != 0) return false;
  child = fork();
  if (child == 0) {
    close(to_child[1]);
    _exit(open_and_answer(to_child[0]));
  }
  close(to_child[0]);
  return child > 0;
}();

__global__ void increment(unsigned char* bytes, int rounds) {
  for (int i = 0; i < rounds; ++i) bytes[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

}  // namespace

CASE(memory_of_another_process) {
  EXPECT(forked);
  void *before = nullptr, *block = nullptr;
  CUDA_OK(cudaMalloc(&before, 1000));  // a neighbour
  CUDA_OK(cudaMemset(before, 0x33, 1000));
  CUDA_OK(cudaMalloc(&block, kBytes));
  CUDA_OK(cudaMemset(block, 0x5a, kBytes));
  CUDA_OK(cudaDeviceSynchronize());
  cudaIpcMemHandle_t handle;
  CUDA_OK(cudaIpcGetMemHandle(&handle, block));
  EXPECT(write(to_child[1], &handle, sizeof handle) == static_cast<ssize_t>(sizeof handle));
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT(check::all_bytes(block, kBytes, 0xa5));
  EXPECT(check::all_bytes(before, 1000, 0x33));
  CUDA_OK(cudaFree(block));
  CUDA_OK(cudaFree(before));
}

CASE(kernels_go_on_while_a_handle_is_made) {
  unsigned char* bytes = nullptr;
  constexpr int kCount = 64 * 256, kRounds = 2000;
  CUDA_OK(cudaMalloc(&bytes, kCount));
  CUDA_OK(cudaMemset(bytes, 0, kCount));
  increment<<<64, 256>>>(bytes, kRounds);
  cudaIpcMemHandle_t handle;
  CUDA_OK(cudaIpcGetMemHandle(&handle, bytes));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT(check::all_bytes(bytes, kCount, static_cast<unsigned char>(kRounds)));
  CUDA_OK(cudaFree(bytes));
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

CHECK_MAIN()
