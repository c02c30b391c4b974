// Devices. "CUDA Driver API, Device Management, Peer Context Memory Access".

#include <algorithm>
#include <cstring>

#include "cuda/bus_id.h"
#include "cuda/driver/api.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

/// Copies with a terminating zero, cut to `size` bytes.
void copy_text(char* to, size_t size, const std::string& text) {
  const size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = 0;
}

}  // namespace

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return api_call([&]() -> Result<> {
    TRY(given(device, "device"));
    TRY(Runtime::get().device(ordinal));
    *device = ordinal;
    return {};
  });
}

CUresult cuDeviceGetCount(int* count) {
  return api_call([&]() -> Result<> {
    TRY(given(count, "count"));
    *count = static_cast<int>(Runtime::get().devices().size());
    return {};
  });
}

CUresult cuDeviceGetName(char* name, int len, CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(given(name, "name"));
    if (len < 1) return fail(ErrorCode::InvalidValue, "len is {}; give the size of the buffer, 1 or above", len);
    TRY(Device * device, Runtime::get().device(dev));
    copy_text(name, static_cast<size_t>(len), device->properties().name);
    return {};
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(given(uuid, "uuid"));
    TRY(Device * device, Runtime::get().device(dev));
    const auto bytes = device->uuid();
    static_assert(sizeof uuid->bytes == sizeof bytes);
    std::memcpy(uuid->bytes, bytes.data(), sizeof bytes);
    return {};
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice dev) {
  return forwarded([&] { return cuDeviceGetUuid_v2(uuid, dev); });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(given(bytes, "bytes"));
    TRY(Device * device, Runtime::get().device(dev));
    *bytes = device->properties().memory_bytes;
    return {};
  });
}

CUresult cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(given(pi, "pi"));
    TRY(Device * device, Runtime::get().device(dev));
    const auto value = device->attribute(attrib);
    if (!value) return refuse(ErrorCode::InvalidValue);
    *pi = *value;
    return {};
  });
}

CUresult cuDeviceGetProperties(CUdevprop* prop, CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(given(prop, "prop"));
    TRY(Device * device, Runtime::get().device(dev));
    const auto value = [&](CUdevice_attribute attribute) { return device->attribute(attribute).value_or(0); };
    *prop = {value(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
             {value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
              value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
             {value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
              value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
             value(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
             value(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
             value(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
             value(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
             value(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
             value(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
             value(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)};
    return {};
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(given(major, "major"));
    TRY(given(minor, "minor"));
    TRY(Device * device, Runtime::get().device(dev));
    *major = static_cast<int>(device->properties().compute_capability_major);
    *minor = static_cast<int>(device->properties().compute_capability_minor);
    return {};
  });
}

CUresult cuDeviceGetPCIBusId(char* pciBusId, int len, CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(given(pciBusId, "pciBusId"));
    if (len < 1) return fail(ErrorCode::InvalidValue, "len is {}; give the size of the buffer, 1 or above", len);
    TRY(Device * device, Runtime::get().device(dev));
    copy_text(pciBusId, static_cast<size_t>(len), device->bus_id());
    return {};
  });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* dev, const char* pciBusId) {
  return api_call([&]() -> Result<> {
    TRY(given(dev, "dev"));
    TRY(given(pciBusId, "pciBusId"));
    const std::optional<BusId> wanted = read_bus_id(pciBusId);
    if (!wanted)
      return fail(ErrorCode::InvalidValue, "'{}' is no bus id: give [domain]:bus:device.function in hexadecimal digits",
                  pciBusId);
    for (const auto& device : Runtime::get().devices()) {
      if (read_bus_id(device->bus_id()) != wanted) continue;
      *dev = device->ordinal();
      return {};
    }
    return fail(ErrorCode::InvalidDevice, "no device has the bus id '{}'", pciBusId);
  });
}

// All devices are the one processor, so each reaches the memory of the others; a device is no peer of itself.
CUresult cuDeviceCanAccessPeer(int* canAccessPeer, CUdevice dev, CUdevice peerDev) {
  return api_call([&]() -> Result<> {
    TRY(given(canAccessPeer, "canAccessPeer"));
    TRY(Runtime::get().device(dev));
    TRY(Runtime::get().device(peerDev));
    *canAccessPeer = dev != peerDev;
    return {};
  });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice) {
  return api_call([&]() -> Result<> {
    TRY(given(value, "value"));
    if (attrib < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
        attrib > CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED)
      return fail(ErrorCode::InvalidValue, "attribute {} is not one of CUdevice_P2PAttribute",
                  static_cast<int>(attrib));
    TRY(Runtime::get().device(srcDevice));
    TRY(Runtime::get().device(dstDevice));
    if (srcDevice == dstDevice) return fail(ErrorCode::InvalidDevice, "source and destination are the same device");
    *value = attrib == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED ||
             attrib == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED ||
             attrib == CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED;
    return {};
  });
}

CUresult cuDeviceGetExecAffinitySupport(int* pi, CUexecAffinityType type, CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(given(pi, "pi"));
    if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT)
      return fail(ErrorCode::InvalidValue, "type is {}; the only one is CU_EXEC_AFFINITY_TYPE_SM_COUNT",
                  static_cast<int>(type));
    TRY(Runtime::get().device(dev));
    *pi = 0;
    return {};
  });
}
