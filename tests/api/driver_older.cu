// The first versions of functions that cuda.h gives newer ones of, called by programs compiled long ago; and those for
// a given context. Oracle: "CUDA Driver API": each does what the newer version does with its added arguments left at
// nothing.

#include "driver.h"

#undef cuGetProcAddress
#undef cuDeviceGetUuid
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxSetFlags
#undef cuCtxDestroy
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
#undef cuMemHostRegister
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuStreamDestroy
#undef cuEventDestroy
#undef cuEventElapsedTime

static CUcontext current() {
  CUcontext context = reinterpret_cast<CUcontext>(1);
  CU_OK(cuCtxGetCurrent(&context));
  return context;
}

CASE(older_primary_context) {
  CUdevice device = check::the_device();
  unsigned flags = 99;
  int active = -1;
  CU_OK(cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_YIELD));
  CU_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_EQUAL(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_YIELD);
  CUcontext context = nullptr;
  CU_OK(cuDevicePrimaryCtxRetain(&context, device));
  CU_OK(cuDevicePrimaryCtxRelease(device));
  CU_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_EQUAL(active, 0);
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(device), CUDA_ERROR_INVALID_CONTEXT);
  CU_OK(cuDevicePrimaryCtxReset(device));
}

CASE(older_contexts) {
  CUdevice device = check::the_device(), of = -1;
  CU_OK(cuCtxSetCurrent(nullptr));
  CUcontext first = nullptr, second = nullptr, popped = nullptr;
  CU_OK(cuCtxCreate_v2(&first, 0, device));
  EXPECT(first != nullptr && current() == first);
  CU_OK(cuCtxCreate_v3(&second, nullptr, 0, 0, device));
  EXPECT(second != first && current() == second);
  CU_OK(cuCtxPopCurrent(&popped));
  EXPECT(popped == second && current() == first);
  CU_OK(cuCtxPushCurrent(second));
  EXPECT(current() == second);
  CU_OK(cuCtxGetDevice_v2(&of, first));
  EXPECT_EQUAL(of, device);
  CU_OK(cuCtxSynchronize_v2(first));
  EXPECT_CUDA(cuCtxCreate_v2(nullptr, 0, device), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuCtxDestroy(second));
  EXPECT(current() == first);
  CU_OK(cuCtxDestroy(first));
  EXPECT(current() == nullptr);
}

CASE(execution_affinity_is_refused) {
  CUexecAffinityParam affinity = {};
  affinity.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT;
  affinity.param.smCount.val = 1;
  CUcontext context = nullptr;
  EXPECT_CUDA(cuCtxCreate_v3(&context, &affinity, 1, 0, check::the_device()), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
}

CASE(older_entry_points) {
  void *old_one = nullptr, *new_one = nullptr;
  CU_OK(cuGetProcAddress("cuEventDestroy", &old_one, 3020, 0));
  CU_OK(cuGetProcAddress("cuEventDestroy", &new_one, 4000, 0));
  EXPECT(old_one == reinterpret_cast<void*>(&cuEventDestroy));
  EXPECT(new_one == reinterpret_cast<void*>(&cuEventDestroy_v2));
  EXPECT_CUDA(cuGetProcAddress("cuNoSuchThing", &old_one, 13000, 0), CUDA_ERROR_NOT_FOUND);
}

CASE(older_uuid) {
  CUuuid old_one = {}, new_one = {};
  CU_OK(cuDeviceGetUuid(&old_one, check::the_device()));
  CU_OK(cuDeviceGetUuid_v2(&new_one, check::the_device()));
  EXPECT(std::memcmp(&old_one, &new_one, sizeof old_one) == 0);
  EXPECT_CUDA(cuDeviceGetUuid(nullptr, check::the_device()), CUDA_ERROR_INVALID_VALUE);
}

CASE(older_memory) {
  CUdevice device = check::the_device();
  check::use_context();
  void* host = std::aligned_alloc(4096, 4096);
  CU_OK(cuMemHostRegister(host, 4096, 0));
  EXPECT_CUDA(cuMemHostRegister(host, 4096, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CU_OK(cuMemHostUnregister(host));
  std::free(host);
  CUdeviceptr memory = 0;
  CU_OK(cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL));
  std::memset(reinterpret_cast<void*>(memory), 7, 4096);
  CU_OK(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
  CU_OK(cuMemPrefetchAsync(memory, 4096, device, nullptr));
  CU_OK(cuMemPrefetchAsync_ptsz(memory, 4096, CU_DEVICE_CPU, nullptr));
  CU_OK(cuCtxSynchronize());
  EXPECT_EQUAL(int{*reinterpret_cast<unsigned char*>(memory + 4095)}, 7);
  EXPECT_CUDA(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 9999), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPrefetchAsync(memory, 4096, 9999, nullptr), CUDA_ERROR_INVALID_DEVICE);
  CU_OK(cuMemFree(memory));
}

CASE(older_streams_and_events) {
  check::use_context();
  CUstream stream = nullptr;
  CUevent start = nullptr, end = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CU_OK(cuEventCreate(&start, CU_EVENT_DEFAULT));
  CU_OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  CU_OK(cuEventRecord(start, stream));
  CU_OK(cuLaunchHostFunc(stream, [](void*) { check::Gate::pause(20); }, nullptr));
  CU_OK(cuEventRecord(end, stream));
  CU_OK(cuEventSynchronize(end));
  float milliseconds = -1;
  CU_OK(cuEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds >= 19.0f && milliseconds < 5000.0f);
  CU_OK(cuEventDestroy(start));
  CU_OK(cuEventDestroy(end));
  EXPECT_CUDA(cuEventDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  CU_OK(cuStreamDestroy(stream));
  EXPECT_CUDA(cuStreamDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CHECK_MAIN()
