// The names that older programs, and those that look names up, know: they do what the newest do. Oracle: "NVML API
// Reference, Change Log", and those newest functions.

#include <cuda.h>
#include <unistd.h>

#include <cstring>

#include "cuda/nvml/with_nvml.h"

#undef nvmlInit
#undef nvmlDeviceGetCount
#undef nvmlDeviceGetHandleByIndex
#undef nvmlDeviceGetHandleByPciBusId
#undef nvmlDeviceGetPciInfo
#undef nvmlDeviceGetAttributes
#undef nvmlDeviceGetComputeRunningProcesses
#undef nvmlDeviceGetGraphicsRunningProcesses
#undef nvmlDeviceGetMPSComputeRunningProcesses

namespace cupola::nvml {
namespace {

using OlderNames = WithNvml;

TEST_F(OlderNames, InitialiseTheSame) {
  EXPECT_EQ(nvmlInit(), NVML_SUCCESS);
  EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
}

TEST_F(OlderNames, FindTheSameDevices) {
  unsigned count = 0;
  nvmlDevice_t by_index = nullptr, by_bus_id = nullptr;
  EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(nvmlDeviceGetHandleByIndex(0, &by_index), NVML_SUCCESS);
  EXPECT_EQ(by_index, device_);
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId("0000:00:00.0", &by_bus_id), NVML_SUCCESS);
  EXPECT_EQ(by_bus_id, device_);
  EXPECT_EQ(nvmlDeviceGetCount(nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetHandleByIndex(1, &by_index), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId("0000:7f:00.0", &by_bus_id), NVML_ERROR_NOT_FOUND);
}

TEST_F(OlderNames, SayTheSameOfThem) {
  nvmlPciInfo_t newest, second, first;
  for (nvmlPciInfo_t* pci : {&newest, &second, &first}) std::memset(pci, 0, sizeof *pci);
  EXPECT_EQ(nvmlDeviceGetPciInfo_v3(device_, &newest), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetPciInfo_v2(device_, &second), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetPciInfo(device_, &first), NVML_SUCCESS);
  EXPECT_STREQ(first.busIdLegacy, newest.busIdLegacy);
  EXPECT_EQ(std::memcmp(&first, &newest, sizeof first), 0);
  EXPECT_EQ(std::memcmp(&second, &newest, sizeof second), 0);
  EXPECT_EQ(nvmlDeviceGetPciInfo(other_, &first), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetPciInfo_v2(other_, &second), NVML_ERROR_INVALID_ARGUMENT);
  nvmlDeviceAttributes_t attributes{}, newest_attributes{};
  EXPECT_EQ(nvmlDeviceGetAttributes(device_, &attributes), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetAttributes_v2(device_, &newest_attributes), NVML_SUCCESS);
  EXPECT_EQ(attributes.multiprocessorCount, newest_attributes.multiprocessorCount);
  EXPECT_EQ(nvmlDeviceGetAttributes(other_, &attributes), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(OlderNames, ListProcessesInTheirOwnLayouts) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS);
  nvmlProcessInfo_v1_t first[2] = {{}, {7, 7}};
  nvmlProcessInfo_v2_t second[1] = {};
  unsigned count = 1;
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses(device_, &count, first), NVML_SUCCESS);
  EXPECT_EQ(first[0].pid, static_cast<unsigned>(getpid()));
  EXPECT_EQ(first[1].pid, 7u);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v2(device_, &count, second), NVML_SUCCESS);
  EXPECT_EQ(second[0].pid, first[0].pid);
  EXPECT_EQ(second[0].gpuInstanceId, 0xFFFFFFFF);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses(device_, nullptr, first), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v2(other_, &count, second), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
}

TEST_F(OlderNames, ListNoProcessesOfOtherKinds) {
  unsigned counts[4] = {1, 1, 1, 1};
  EXPECT_EQ(nvmlDeviceGetGraphicsRunningProcesses(device_, &counts[0], nullptr), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetGraphicsRunningProcesses_v2(device_, &counts[1], nullptr), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetMPSComputeRunningProcesses(device_, &counts[2], nullptr), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetMPSComputeRunningProcesses_v2(device_, &counts[3], nullptr), NVML_SUCCESS);
  EXPECT_EQ(counts[0] + counts[1] + counts[2] + counts[3], 0u);
  EXPECT_EQ(nvmlDeviceGetGraphicsRunningProcesses(other_, &counts[0], nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetGraphicsRunningProcesses_v2(other_, &counts[0], nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetMPSComputeRunningProcesses(other_, &counts[0], nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetMPSComputeRunningProcesses_v2(other_, &counts[0], nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace cupola::nvml
