// Smaller questions to a device. "CUDA Runtime API, Device Management".

#include "cuda/cudart/channel_format.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

// "Sets the list of devices to try": a thread without a context takes the first of them.
cudaError_t cudaSetValidDevices(int* device_arr, int len) {
  return with_driver([&](const Driver& cu) -> Result<> {
    int count = 0;
    TRY(check(cu.cuDeviceGetCount(&count)));
    if (len < 0 || len > count) return fail(ErrorCode::InvalidValue, "{} devices; there are {}", len, count);
    if (len == 0) return {};  // documented: the default list again
    TRY(given(device_arr, "device_arr"));
    for (int i = 0; i < len; ++i)
      if (device_arr[i] < 0 || device_arr[i] >= count)
        return fail(ErrorCode::InvalidDevice, "device {} does not exist; there are {}, from 0 on", device_arr[i],
                    count);
    CUcontext current = nullptr;
    TRY(check(cu.cuCtxGetCurrent(&current)));
    return current ? Result<>{} : choose_device(cu, device_arr[0]);
  });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* maxWidthInElements, const cudaChannelFormatDesc* fmtDesc,
                                                 int device) {
  return with_driver([&](const Driver& cu) -> Result<> {
    TRY(given(fmtDesc, "fmtDesc"));
    TRY(const TexelFormat format, texel_format(*fmtDesc));
    return check(cu.cuDeviceGetTexture1DLinearMaxWidth(maxWidthInElements, format.format, format.channels, device));
  });
}

namespace {

// One set of numbers under two names.
const CUatomicOperation* driver_operations(const cudaAtomicOperation* operations) {
  return reinterpret_cast<const CUatomicOperation*>(operations);
}
static_assert(static_cast<int>(cudaAtomicOperationFloatMax) == CU_ATOMIC_OPERATION_FLOAT_MAX);
static_assert(sizeof(cudaAsyncNotificationInfo_t) == sizeof(CUasyncNotificationInfo));

}  // namespace

cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned int* capabilities, const cudaAtomicOperation* operations,
                                                unsigned int count, int device) {
  return with_driver([&](const Driver& cu) {
    return check(cu.cuDeviceGetHostAtomicCapabilities(capabilities, driver_operations(operations), count, device));
  });
}

cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned int* capabilities, const cudaAtomicOperation* operations,
                                               unsigned int count, int srcDevice, int dstDevice) {
  return with_driver([&](const Driver& cu) {
    return check(
        cu.cuDeviceGetP2PAtomicCapabilities(capabilities, driver_operations(operations), count, srcDevice, dstDevice));
  });
}

cudaError_t cudaDeviceRegisterAsyncNotification(int device, cudaAsyncCallback callbackFunc, void* userData,
                                                cudaAsyncCallbackHandle_t* callback) {
  return with_driver([&](const Driver& cu) {
    return check(cu.cuDeviceRegisterAsyncNotification(device, reinterpret_cast<CUasyncCallback>(callbackFunc), userData,
                                                      callback));
  });
}

cudaError_t cudaDeviceUnregisterAsyncNotification(int device, cudaAsyncCallbackHandle_t callback) {
  return with_driver([&](const Driver& cu) { return check(cu.cuDeviceUnregisterAsyncNotification(device, callback)); });
}
