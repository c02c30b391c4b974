// What devices do: memory, processors, processes. "NVML API Reference, Device Queries". docs/nvml.md says of what time
// and of which processes the answers are.

#include <cuda.h>
#include <unistd.h>

#include <algorithm>

#include "cuda/nvml/api.h"

using namespace cupola;
using namespace cupola::nvml;

namespace {

struct Memory {
  unsigned long long total, free, used;
};

/// body(Memory), with the memory of the device now.
template <typename Body>
nvmlReturn_t with_memory(const Device& device, Body&& body) {
  const Result<MachineUse> use = Library::get().use(device);
  if (!use) return NVML_ERROR_MEMORY;
  const unsigned long long total = device.facts.memory_bytes, used = std::min<uint64_t>(total, use->memory_bytes);
  return body(Memory{total, total - used, used});
}

void fill(nvmlProcessInfo_v1_t& info, const MachineUse& use) {
  info = {static_cast<unsigned>(getpid()), use.memory_bytes};
}
void fill(nvmlProcessInfo_v2_t& info, const MachineUse& use) {
  constexpr unsigned kNoInstance = 0xFFFFFFFF;
  info = {static_cast<unsigned>(getpid()), use.memory_bytes, kNoInstance, kNoInstance};
}

template <typename Info>
nvmlReturn_t compute_processes(nvmlDevice_t handle, unsigned int* count, Info* infos,
                               const char* call = __builtin_FUNCTION()) {
  return with_device(
      handle,
      [&](const Device& device) {
        if (!count) return NVML_ERROR_INVALID_ARGUMENT;
        const Result<MachineUse> use = Library::get().use(device);
        if (!use) return NVML_ERROR_MEMORY;
        const unsigned room = std::exchange(*count, use->context ? 1 : 0);
        if (*count == 0) return NVML_SUCCESS;
        if (room == 0) return NVML_ERROR_INSUFFICIENT_SIZE;
        if (!infos) return NVML_ERROR_INVALID_ARGUMENT;
        fill(*infos, *use);
        return NVML_SUCCESS;
      },
      call);
}

/// Of the kinds of processes that a CPU has none of.
nvmlReturn_t no_processes(nvmlDevice_t handle, unsigned int* count, const char* call = __builtin_FUNCTION()) {
  return answer(handle, count, [](const Device&) { return 0; }, call);
}

}  // namespace

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  return with_device(device, [&](const Device& found) {
    if (!memory) return NVML_ERROR_INVALID_ARGUMENT;
    return with_memory(found, [&](const Memory& now) {
      *memory = {now.total, now.free, now.used};
      return NVML_SUCCESS;
    });
  });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  return with_device(device, [&](const Device& found) {
    if (!memory) return NVML_ERROR_INVALID_ARGUMENT;
    if (memory->version != nvmlMemory_v2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    return with_memory(found, [&](const Memory& now) {
      *memory = {nvmlMemory_v2, now.total, 0, now.free, now.used};
      return NVML_SUCCESS;
    });
  });
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* utilization) {
  return with_device(device, [&](const Device& found) {
    if (!utilization) return NVML_ERROR_INVALID_ARGUMENT;
    const std::optional<unsigned> busy = Library::get().processors().percent();
    if (!busy) return NVML_ERROR_NOT_SUPPORTED;
    return with_memory(found, [&](const Memory& now) {
      *utilization = {*busy, now.total ? static_cast<unsigned>(now.used * 100 / now.total) : 0};
      return NVML_SUCCESS;
    });
  });
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int* clock) {
  return with_device(device, [&](const Device& found) {
    if (!clock || type < NVML_CLOCK_GRAPHICS || type > NVML_CLOCK_VIDEO) return NVML_ERROR_INVALID_ARGUMENT;
    const int khz = Library::get().attribute(found, CU_DEVICE_ATTRIBUTE_CLOCK_RATE).value_or(0);
    if (khz == 0 || type == NVML_CLOCK_MEM || type == NVML_CLOCK_VIDEO) return NVML_ERROR_NOT_SUPPORTED;
    *clock = static_cast<unsigned>(khz / 1000);
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int* infoCount,
                                                  nvmlProcessInfo_v1_t* infos) {
  return compute_processes(device, infoCount, infos);
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int* infoCount,
                                                     nvmlProcessInfo_v2_t* infos) {
  return compute_processes(device, infoCount, infos);
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* infoCount,
                                                     nvmlProcessInfo_t* infos) {
  return compute_processes(device, infoCount, infos);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned int* infoCount,
                                                   nvmlProcessInfo_v1_t*) {
  return no_processes(device, infoCount);
}
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned int* infoCount,
                                                      nvmlProcessInfo_v2_t*) {
  return no_processes(device, infoCount);
}
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int* infoCount,
                                                      nvmlProcessInfo_t*) {
  return no_processes(device, infoCount);
}
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t device, unsigned int* infoCount,
                                                     nvmlProcessInfo_v1_t*) {
  return no_processes(device, infoCount);
}
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int* infoCount,
                                                        nvmlProcessInfo_v2_t*) {
  return no_processes(device, infoCount);
}
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* infoCount,
                                                        nvmlProcessInfo_t*) {
  return no_processes(device, infoCount);
}
