// What the driver refuses of devices, primary contexts and contexts.
// Oracle: "CUDA Driver API", Device, Primary Context and Context Management, Peer Context Memory Access: the "Returns"
// of each function.

#include <cudaProfiler.h>

#include "driver.h"

CASE(devices) {
  CUdevice device = check::the_device(), found = -1;
  int value = 0, minor = 0;
  size_t bytes = 0;
  char text[64];
  CUuuid uuid;
  CUdevprop properties;
  EXPECT_CUDA(cuDeviceGetCount(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGet(&found, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceGet(&found, -1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceGetName(nullptr, 64, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetName(text, 64, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceGetUuid(nullptr, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetUuid(&uuid, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceTotalMem(nullptr, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceTotalMem(&bytes, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(9999), device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetProperties(nullptr, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetProperties(&properties, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceComputeCapability(nullptr, &minor, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceComputeCapability(&value, &minor, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceGetByPCIBusId(&found, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetByPCIBusId(nullptr, "0000:00:00.0"), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetPCIBusId(nullptr, 64, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetPCIBusId(text, 64, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceGetExecAffinitySupport(nullptr, CU_EXEC_AFFINITY_TYPE_SM_COUNT, device),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetExecAffinitySupport(&value, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceGetTexture1DLinearMaxWidth(nullptr, CU_AD_FORMAT_FLOAT, 1, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetTexture1DLinearMaxWidth(&bytes, CU_AD_FORMAT_FLOAT, 3, device), CUDA_ERROR_INVALID_VALUE);
}

CASE(peers) {
  CUdevice device = check::the_device();
  int value = 0;
  unsigned capabilities = 0;
  CUatomicOperation operation = CU_ATOMIC_OPERATION_INTEGER_ADD;
  EXPECT_CUDA(cuDeviceCanAccessPeer(nullptr, device, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceCanAccessPeer(&value, device, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceGetP2PAttribute(nullptr, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 99),
              CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceGetP2PAtomicCapabilities(&capabilities, &operation, 1, device, 99), CUDA_ERROR_INVALID_DEVICE);
  CUcontext context = check::use_context();
  EXPECT_CUDA(cuCtxEnablePeerAccess(nullptr, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxEnablePeerAccess(context, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxDisablePeerAccess(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CASE(primary_contexts) {
  CUdevice device = check::the_device();
  CUcontext context = nullptr;
  unsigned flags = 0;
  int active = 0;
  EXPECT_CUDA(cuDevicePrimaryCtxRetain(nullptr, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDevicePrimaryCtxRetain(&context, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDevicePrimaryCtxReset(99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDevicePrimaryCtxSetFlags(99, 0), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDevicePrimaryCtxSetFlags(device, 0x7000), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDevicePrimaryCtxGetState(99, &flags, &active), CUDA_ERROR_INVALID_DEVICE);
}

CASE(contexts) {
  CUcontext context = check::use_context(), made = nullptr;
  CUdevice device = check::the_device();
  unsigned flags = 0, version = 0;
  unsigned long long id = 0;
  size_t value = 0;
  int least = 0;
  EXPECT_CUDA(cuCtxCreate(nullptr, nullptr, 0, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxCreate(&made, nullptr, 0, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuCtxCreate(&made, nullptr, 0x70000, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxPushCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxGetCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxGetDevice(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxGetFlags(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxSetFlags(0x70000), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxGetId(context, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxGetApiVersion(context, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxGetLimit(&value, static_cast<CUlimit>(99)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxSetLimit(static_cast<CUlimit>(99), 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxGetCacheConfig(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxSetCacheConfig(static_cast<CUfunc_cache>(77)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxGetSharedMemConfig(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(77)), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuCtxGetFlags(&flags));
  CU_OK(cuCtxGetApiVersion(context, &version));
  CU_OK(cuCtxGetId(context, &id));
  CU_OK(cuCtxGetStreamPriorityRange(&least, nullptr));  // either may be left out
}

// With no context current, whatever needs one says so.
CASE(without_a_context) {
  check::use_context();
  CU_OK(cuCtxSetCurrent(nullptr));
  CUcontext popped = nullptr;
  CUdevice device = 0;
  unsigned flags = 0;
  size_t value = 0;
  int least = 0;
  CUfunc_cache cache;
  CUsharedconfig shared;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUdeviceptr memory = 0;
  CUarray array = nullptr;
  CUDA_ARRAY_DESCRIPTOR shape = {16, 16, CU_AD_FORMAT_FLOAT, 1};
  EXPECT_CUDA(cuCtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxGetFlags(&flags), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxSetFlags(0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxGetCacheConfig(&cache), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxGetSharedMemConfig(&shared), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxGetStreamPriorityRange(&least, nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxResetPersistingL2Cache(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuStreamCreateWithPriority(&stream, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuStreamSynchronize(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuStreamQuery(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuEventCreate(&event, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuMemAllocPitch(&memory, &value, 64, 4, 4), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuMemsetD8(64, 1, 16), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuArrayCreate(&array, &shape), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuProfilerStart(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT(array == nullptr && memory == 0);
  check::use_context();
}

CHECK_MAIN()
