// Device memory of another process by the driver API. Oracle: "CUDA Driver API, Memory Management": cuIpcGetMemHandle
// and relatives.

#include "child.h"
#include "driver.h"

namespace {

constexpr size_t kBytes = 1 << 20;
constexpr unsigned kLazy = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;

/// The child's half: checks the bytes and answers by changing them.
int open_and_answer(const check::Way& parent) {
  CUipcMemHandle handle;
  if (!parent.receive(handle)) return 10;
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

}  // namespace

CASE(memory_of_another_process) {
  const check::Child child(open_and_answer);
  check::use_context();
  CUdeviceptr block = 0;
  CUipcMemHandle handle;
  CU_OK(cuMemAlloc(&block, kBytes));
  CU_OK(cuMemsetD8(block, 0x5a, kBytes));
  CU_OK(cuCtxSynchronize());
  CU_OK(cuIpcGetMemHandle(&handle, block));
  EXPECT(child->send(handle));
  EXPECT_EQUAL(child.ended(), 0);
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

CHECK_ISOLATED_MAIN()
