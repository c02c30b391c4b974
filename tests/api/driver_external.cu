// Memory and semaphores of other interfaces, and graphics: programs that name them compile, and are told when there are
// none. Oracle: "CUDA Driver API, External Resource Interoperability" and "Graphics Interoperability". Nothing is
// imported here, so that a device which has them refuses too, for what it is given.

#include "driver.h"

/// Cupola says that it has none; others refuse the descriptor, each with a code of its own.
static bool refused(int code) {
  return check::on_cupola() ? code == CUDA_ERROR_NOT_SUPPORTED : code != CUDA_SUCCESS;
}

CASE(external_memory_and_semaphores) {
  check::use_context();
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC memory_desc = {};
  memory_desc.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
  memory_desc.handle.fd = -1;
  memory_desc.size = 4096;
  CUexternalMemory memory = nullptr;
  EXPECT(refused(cuImportExternalMemory(&memory, &memory_desc)));
  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC semaphore_desc = {};
  semaphore_desc.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
  semaphore_desc.handle.fd = -1;
  CUexternalSemaphore semaphore = nullptr;
  EXPECT(refused(cuImportExternalSemaphore(&semaphore, &semaphore_desc)));
  EXPECT(memory == nullptr && semaphore == nullptr);
}

CASE(the_runtime_refuses_them_too) {
  cudaExternalMemoryHandleDesc memory_desc = {};
  memory_desc.type = cudaExternalMemoryHandleTypeOpaqueFd;
  memory_desc.handle.fd = -1;
  memory_desc.size = 4096;
  cudaExternalMemory_t memory = nullptr;
  EXPECT(refused(cudaImportExternalMemory(&memory, &memory_desc)));
  EXPECT(refused(cudaGetLastError()));
  cudaExternalSemaphoreHandleDesc semaphore_desc = {};
  semaphore_desc.type = cudaExternalSemaphoreHandleTypeOpaqueFd;
  semaphore_desc.handle.fd = -1;
  cudaExternalSemaphore_t semaphore = nullptr;
  EXPECT(refused(cudaImportExternalSemaphore(&semaphore, &semaphore_desc)));
  (void)cudaGetLastError();
  EXPECT(memory == nullptr && semaphore == nullptr);
}

CASE(a_refusal_says_why) {
  if (!check::on_cupola()) return;
  int interop = 0;
  CU_OK(cuDeviceGetAttribute(&interop, CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED, check::the_device()));
  EXPECT_EQUAL(interop, 0);
  check::use_context();
  EXPECT_CUDA(cuImportExternalMemory(nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_CUDA(cuGraphicsMapResources(0, nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_CUDA(cudaGraphicsMapResources(0, nullptr, nullptr), cudaErrorNotSupported);
  CUlogIterator all = 0;
  std::vector<char> text(25600);
  size_t size = text.size();
  CU_OK(cuLogsDumpToMemory(&all, text.data(), &size, 0));
  EXPECT(std::strstr(text.data(), "[cuImportExternalMemory] not supported: ") != nullptr);
}

CHECK_MAIN()
