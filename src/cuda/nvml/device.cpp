// Which devices there are, and what they are. "NVML API Reference, Device Queries".

#include <cuda.h>

#include <algorithm>
#include <cstring>

#include "cuda/bus_id.h"
#include "cuda/nvml/api.h"

using namespace cupola;
using namespace cupola::nvml;

namespace {

/// An attribute that every device reports.
unsigned number(const Device& device, CUdevice_attribute attribute) {
  return static_cast<unsigned>(Library::get().attribute(device, attribute).value_or(0));
}

nvmlReturn_t count_devices(unsigned int* count) {
  if (!count) return NVML_ERROR_INVALID_ARGUMENT;
  *count = static_cast<unsigned>(Library::get().devices().size());
  return NVML_SUCCESS;
}

nvmlReturn_t by_index(unsigned int index, nvmlDevice_t* device) {
  const auto devices = Library::get().devices();
  if (!device || index >= devices.size()) return NVML_ERROR_INVALID_ARGUMENT;
  *device = const_cast<Device*>(&devices[index]);
  return NVML_SUCCESS;
}

/// The device for which `condition` holds. Error: NOT_FOUND.
template <typename Condition>
nvmlReturn_t find(nvmlDevice_t* device, Condition condition) {
  const auto devices = Library::get().devices();
  const auto found = std::ranges::find_if(devices, condition);
  if (found == devices.end()) return NVML_ERROR_NOT_FOUND;
  *device = const_cast<Device*>(&*found);
  return NVML_SUCCESS;
}

nvmlReturn_t by_uuid(std::string_view uuid, nvmlDevice_t* device) {
  return find(device, [&](const Device& each) { return uuid == each.facts.uuid_text; });
}

nvmlReturn_t by_bus_id(const char* text, nvmlDevice_t* device) {
  const std::optional<BusId> wanted = text ? read_bus_id(text) : std::nullopt;
  if (!wanted || !device) return NVML_ERROR_INVALID_ARGUMENT;
  return find(device, [&](const Device& each) { return read_bus_id(each.facts.bus_id) == wanted; });
}

nvmlPciInfo_t pci_info(const Device& device) {
  nvmlPciInfo_t pci{.domain = number(device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                    .bus = number(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                    .device = number(device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID),
                    .pciDeviceId = number(device, CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID),
                    .pciSubSystemId = number(device, CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID)};
  store_text(pci.busIdLegacy, sizeof pci.busIdLegacy, device.facts.bus_id);
  store_text(pci.busId, sizeof pci.busId, formatted("{:08X}:{:02X}:{:02X}.0", pci.domain, pci.bus, pci.device));
  return pci;
}

nvmlDeviceAttributes_t attributes_of(const Device& device) {
  return {.multiprocessorCount = number(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
          .sharedCopyEngineCount = number(device, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT),
          .memorySizeMB = device.facts.memory_bytes >> 20};
}

/// The architecture that has the compute capability.
nvmlDeviceArchitecture_t architecture_of(unsigned major, unsigned minor) {
  struct Row {
    unsigned first;  ///< compute capability times 10
    nvmlDeviceArchitecture_t architecture;
  };
  constexpr Row kRows[] = {{100, NVML_DEVICE_ARCH_BLACKWELL}, {90, NVML_DEVICE_ARCH_HOPPER},
                           {89, NVML_DEVICE_ARCH_ADA},        {80, NVML_DEVICE_ARCH_AMPERE},
                           {75, NVML_DEVICE_ARCH_TURING},     {70, NVML_DEVICE_ARCH_VOLTA}};
  for (const Row& row : kRows)
    if (major * 10 + minor >= row.first) return row.architecture;
  return NVML_DEVICE_ARCH_UNKNOWN;
}

}  // namespace

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* deviceCount) {
  return api_call([&] { return count_devices(deviceCount); });
}
nvmlReturn_t nvmlDeviceGetCount(unsigned int* deviceCount) {
  return api_call([&] { return count_devices(deviceCount); });
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device) {
  return api_call([&] { return by_index(index, device); });
}
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t* device) {
  return api_call([&] { return by_index(index, device); });
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  return api_call([&] { return uuid && device ? by_uuid(uuid, device) : NVML_ERROR_INVALID_ARGUMENT; });
}

nvmlReturn_t nvmlDeviceGetHandleByUUIDV(const nvmlUUID_t* uuid, nvmlDevice_t* device) {
  return api_call([&] {
    if (!uuid || !device) return NVML_ERROR_INVALID_ARGUMENT;
    if (uuid->version != nvmlUUID_v1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (uuid->type == NVML_UUID_TYPE_ASCII)
      return by_uuid({uuid->value.str, strnlen(uuid->value.str, sizeof uuid->value.str)}, device);
    if (uuid->type != NVML_UUID_TYPE_BINARY) return NVML_ERROR_INVALID_ARGUMENT;
    return find(device, [&](const Device& each) {
      return std::memcmp(each.facts.uuid, uuid->value.bytes, sizeof each.facts.uuid) == 0;
    });
  });
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* pciBusId, nvmlDevice_t* device) {
  return api_call([&] { return by_bus_id(pciBusId, device); });
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* pciBusId, nvmlDevice_t* device) {
  return api_call([&] { return by_bus_id(pciBusId, device); });
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned int length) {
  return with_device(device, [&](const Device& found) { return store_text(name, length, found.facts.name); });
}
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned int length) {
  return with_device(device, [&](const Device& found) { return store_text(uuid, length, found.facts.uuid_text); });
}
nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int* index) {
  return answer(device, index, [](const Device& found) { return found.place; });
}
nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int* minorNumber) {
  return answer(device, minorNumber, [](const Device& found) { return found.place; });
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return answer(device, pci, &pci_info);
}
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return answer(device, pci, &pci_info);
}
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return answer(device, pci, &pci_info);
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t* type) {
  return answer(device, type, [](const Device&) { return NVML_BRAND_UNKNOWN; });  // none of NVIDIA's
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  return with_device(device, [&](const Device& found) {
    if (!major || !minor) return NVML_ERROR_INVALID_ARGUMENT;
    *major = static_cast<int>(number(found, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
    *minor = static_cast<int>(number(found, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t* arch) {
  return answer(device, arch, [](const Device& found) {
    return architecture_of(number(found, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                           number(found, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  });
}

nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned int* numCores) {
  // A multiprocessor is a thread on a core of the processor.
  return answer(device, numCores,
                [](const Device& found) { return number(found, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT); });
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t* attributes) {
  return answer(device, attributes, &attributes_of);
}
nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t device, nvmlDeviceAttributes_t* attributes) {
  return answer(device, attributes, &attributes_of);
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t* mode) {
  return answer(device, mode, [](const Device& found) { return number(found, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE); });
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t* mode) {
  return answer(device, mode, [](const Device&) { return NVML_FEATURE_DISABLED; });  // nothing stays when processes end
}

nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned int* multiGpuBool) {
  return answer(device, multiGpuBool,
                [](const Device& found) { return number(found, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD); });
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int* isMigDevice) {
  return answer(device, isMigDevice, [](const Device&) { return 0; });
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int* count) {
  return answer(device, count, [](const Device&) { return 0; });
}
