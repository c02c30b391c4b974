// Device memory of another process by the driver API. Oracle: "CUDA Driver API, Memory Management": cuIpcGetMemHandle
// and relatives.

#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

namespace {

constexpr size_t kBytes = 1 << 20;
constexpr unsigned kLazy = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;

/// The child's half: checks the bytes and answers by changing them.
int open_and_answer(int from_parent) {
  CUipcMemHandle handle;
  if (read(from_parent, &handle, sizeof handle) != sizeof handle) return 10;
  check::use_context();
  CUdeviceptr block = 0;
  unsigned char byte = 0;
  if (cuIpcOpenMemHandle(&block, handle, kLazy) != CUDA_SUCCESS) return 11;
  if (cuMemcpyDtoH(&byte, block + kBytes - 1, 1) != CUDA_SUCCESS || byte != 0x5a) return 12;
  if (cuMemsetD8(block, 0xa5, kBytes) != CUDA_SUCCESS || cuCtxSynchronize() != CUDA_SUCCESS) return 13;
  if (cuMemFree(block) == CUDA_SUCCESS) return 14;  // it is not this process's to free
  if (cuIpcCloseMemHandle(block) != CUDA_SUCCESS || cuIpcCloseMemHandle(block) == CUDA_SUCCESS) return 15;
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

}  // namespace

CASE(memory_of_another_process) {
  EXPECT(forked);
  check::use_context();
  CUdeviceptr block = 0;
  CUipcMemHandle handle;
  CU_OK(cuMemAlloc(&block, kBytes));
  CU_OK(cuMemsetD8(block, 0x5a, kBytes));
  CU_OK(cuCtxSynchronize());
  CU_OK(cuIpcGetMemHandle(&handle, block));
  EXPECT(write(to_child[1], &handle, sizeof handle) == static_cast<ssize_t>(sizeof handle));
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT(check::all_bytes(reinterpret_cast<void*>(block), kBytes, 0xa5));
  CU_OK(cuMemFree(block));
}

CASE(refusals) {
  check::use_context();
  CUipcMemHandle handle = {};
  CUdeviceptr memory = 0, opened = 0;
  char local[64];
  CU_OK(cuMemAlloc(&memory, kBytes));
  EXPECT_CUDA(cuIpcGetMemHandle(nullptr, memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuIpcGetMemHandle(&handle, reinterpret_cast<CUdeviceptr>(local)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuIpcOpenMemHandle(nullptr, handle, kLazy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuIpcOpenMemHandle(&opened, handle, kLazy), CUDA_ERROR_INVALID_VALUE);  // nobody's handle
  EXPECT_CUDA(cuIpcCloseMemHandle(memory), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFree(memory));
}

CHECK_MAIN()
