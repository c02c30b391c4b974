// Devices: choosing one, what it can do, its limits and settings. "CUDA Runtime API, Device Management".

#include <cstring>

#include "cuda/cudart/api.h"
#include "cuda/cudart/error.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

Result<CUdevice> device_at(const Driver& cu, int ordinal) {
  CUdevice device = 0;
  const Result<> found = check(cu.cuDeviceGet(&device, ordinal));
  if (found) return device;
  int count = 0;
  if (found.error().code != ErrorCode::InvalidDevice || !check(cu.cuDeviceGetCount(&count))) return fail(found.error());
  return fail(ErrorCode::InvalidDevice, "device {} does not exist; there are {}, counted from 0", ordinal, count);
}

Result<> read_properties(const Driver& cu, CUdevice device, cudaDeviceProp& properties) {
  std::memset(&properties, 0, sizeof properties);
  TRY(check(cu.cuDeviceGetName(properties.name, sizeof properties.name, device)));
  CUuuid uuid{};
  TRY(check(cu.cuDeviceGetUuid(&uuid, device)));
  std::memcpy(&properties.uuid, &uuid, sizeof uuid);
  TRY(check(cu.cuDeviceTotalMem(&properties.totalGlobalMem, device)));
  auto read = [&](int attribute) -> Result<int> {
    int value = 0;
    auto status = check(cu.cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), device));
    // A driver that does not know an attribute has not got what it is about.
    if (!status && status.error().code != ErrorCode::InvalidValue) return fail(status.error());
    return status ? value : 0;
  };
#define PROPERTY(field, attribute)         \
  if (auto value = read(attribute)) {      \
    properties.field = *value;             \
  } else {                                 \
    return fail(std::move(value).error()); \
  }
#include "cuda/cudart/properties.def"
#undef PROPERTY
  return {};
}

/// How much of what is wanted the device has: its name, and as much of a number or more. What is 0 is not wanted.
int matches(const cudaDeviceProp& device, const cudaDeviceProp& wanted) {
  int count = wanted.name[0] && std::strncmp(device.name, wanted.name, sizeof wanted.name) == 0;
  count += wanted.totalGlobalMem && device.totalGlobalMem >= wanted.totalGlobalMem;
#define PROPERTY(field, attribute) count += wanted.field && device.field >= wanted.field;
#include "cuda/cudart/properties.def"
#undef PROPERTY
  return count;
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  return with_driver([&](const Driver& cu) -> Result<> {
    TRY(given(count, "count"));
    *count = 0;
    TRY(check(cu.cuDeviceGetCount(count)));
    if (*count == 0) return fail(ErrorCode::NoDevice, "there is no device");
    return {};
  });
}

cudaError_t cudaGetDevice(int* device) {
  return with_driver([&](const Driver& cu) -> Result<> {
    TRY(given(device, "device"));
    TRY(*device, current_device(cu));
    return {};
  });
}

cudaError_t cudaSetDevice(int device) {
  return with_driver([&](const Driver& cu) { return choose_device(cu, device); });
}

/// A name of ours: the primary context of the current device, as the first call that needs one makes it. Errors:
/// InvalidValue for flags other than 0; what cudaFree(0) has. Any thread.
cudaError_t cudaInit(unsigned int flags) {
  return with_driver([&](const Driver& cu) -> Result<> {
    if (flags != 0) return fail(ErrorCode::InvalidValue, "flags is {:#x}; there are none", flags);
    TRY(const int device, current_device(cu));
    TRY(primary_context(cu, device));
    return {};
  });
}

cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags) {
  return with_driver([&](const Driver& cu) -> Result<> {
    if (flags & ~cudaInitDeviceFlagsAreValid) {
      return fail(ErrorCode::InvalidValue, "flags is {:#x}; only cudaInitDeviceFlagsAreValid is known", flags);
    }
    TRY(CUdevice handle, device_at(cu, device));
    if (flags & cudaInitDeviceFlagsAreValid) TRY(check(cu.cuDevicePrimaryCtxSetFlags(handle, deviceFlags)));
    TRY(primary_context(cu, device));
    return {};
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  return with_driver([&](const Driver& cu) -> Result<> {
    TRY(given(prop, "prop"));
    TRY(CUdevice handle, device_at(cu, device));
    return read_properties(cu, handle, *prop);
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attr, int device) {
  return with_driver([&](const Driver& cu) -> Result<> {
    TRY(given(value, "value"));
    TRY(CUdevice handle, device_at(cu, device));
    return check(cu.cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attr), handle));
  });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop) {
  return with_driver([&](const Driver& cu) -> Result<> {
    TRY(given(device, "device"));
    TRY(given(prop, "prop"));
    int count = 0;
    TRY(check(cu.cuDeviceGetCount(&count)));
    if (count == 0) return fail(ErrorCode::NoDevice, "there is no device");
    int most = -1;  // the first of those that match alike
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      TRY(const CUdevice handle, device_at(cu, ordinal));
      cudaDeviceProp properties;
      TRY(read_properties(cu, handle, properties));
      if (const int matched = matches(properties, *prop); matched > most) most = matched, *device = ordinal;
    }
    return {};
  });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  return with_driver([&](const Driver& cu) -> Result<> {
    if (flags & ~static_cast<unsigned>(cudaDeviceMask))
      return fail(ErrorCode::InvalidValue, "flags {:#x} are not known", flags);
    TRY(int device, current_device(cu));
    TRY(CUdevice handle, device_at(cu, device));
    // cudaDeviceMapHost is always on, and the driver has no bit for it.
    return check(cu.cuDevicePrimaryCtxSetFlags(handle, flags & ~static_cast<unsigned>(cudaDeviceMapHost)));
  });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  return with_driver([&](const Driver& cu) -> Result<> {
    TRY(given(flags, "flags"));
    TRY(int device, current_device(cu));
    TRY(CUdevice handle, device_at(cu, device));
    int active = 0;
    TRY(check(cu.cuDevicePrimaryCtxGetState(handle, flags, &active)));
    *flags |= cudaDeviceMapHost;
    return {};
  });
}

cudaError_t cudaDeviceReset(void) {
  cudaError_t error = with_driver([&](const Driver& cu) { return reset_device(cu); }, "cudaDeviceReset");
  if (error == cudaSuccess) forget_error();
  return error;
}

cudaError_t cudaDeviceSynchronize(void) {
  return with_context([&](const Driver& cu) { return check(cu.cuCtxSynchronize()); });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return with_context([&](const Driver& cu) { return check(cu.cuCtxSetLimit(static_cast<CUlimit>(limit), value)); });
}

cudaError_t cudaDeviceGetLimit(size_t* pValue, cudaLimit limit) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pValue, "pValue"));
    return check(cu.cuCtxGetLimit(pValue, static_cast<CUlimit>(limit)));
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache cacheConfig) {
  return with_context(
      [&](const Driver& cu) { return check(cu.cuCtxSetCacheConfig(static_cast<CUfunc_cache>(cacheConfig))); });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* pCacheConfig) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pCacheConfig, "pCacheConfig"));
    CUfunc_cache config{};
    TRY(check(cu.cuCtxGetCacheConfig(&config)));
    *pCacheConfig = static_cast<cudaFuncCache>(config);
    return {};
  });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return with_context(
      [&](const Driver& cu) { return check(cu.cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(config))); });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* pConfig) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pConfig, "pConfig"));
    CUsharedconfig config{};
    TRY(check(cu.cuCtxGetSharedMemConfig(&config)));
    *pConfig = static_cast<cudaSharedMemConfig>(config);
    return {};
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
  return with_context(
      [&](const Driver& cu) { return check(cu.cuCtxGetStreamPriorityRange(leastPriority, greatestPriority)); });
}

cudaError_t cudaDeviceGetPCIBusId(char* pciBusId, int len, int device) {
  return with_driver([&](const Driver& cu) -> Result<> {
    TRY(given(pciBusId, "pciBusId"));
    TRY(CUdevice handle, device_at(cu, device));
    return check(cu.cuDeviceGetPCIBusId(pciBusId, len, handle));
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* pciBusId) {
  return with_driver([&](const Driver& cu) -> Result<> {
    TRY(given(device, "device"));
    TRY(given(pciBusId, "pciBusId"));
    return check(cu.cuDeviceGetByPCIBusId(device, pciBusId));
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* canAccessPeer, int device, int peerDevice) {
  return with_driver([&](const Driver& cu) -> Result<> {
    TRY(given(canAccessPeer, "canAccessPeer"));
    TRY(CUdevice from, device_at(cu, device));
    TRY(CUdevice to, device_at(cu, peerDevice));
    return check(cu.cuDeviceCanAccessPeer(canAccessPeer, from, to));
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(CUcontext peer, primary_context(cu, peerDevice));
    return check(cu.cuCtxEnablePeerAccess(peer, flags));
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(CUcontext peer, primary_context(cu, peerDevice));
    return check(cu.cuCtxDisablePeerAccess(peer));
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attr, int srcDevice, int dstDevice) {
  return with_driver([&](const Driver& cu) -> Result<> {
    TRY(given(value, "value"));
    TRY(CUdevice from, device_at(cu, srcDevice));
    TRY(CUdevice to, device_at(cu, dstDevice));
    return check(cu.cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(attr), from, to));
  });
}

cudaError_t cudaCtxResetPersistingL2Cache(void) {
  return with_context([&](const Driver& cu) { return check(cu.cuCtxResetPersistingL2Cache()); });
}
