// Which devices there are, and what they are. Oracle: libcuda, which says the same of the same device; for what each
// call refuses "NVML API Reference, Device Queries".

#include <cuda.h>

#include <cstring>
#include <string>

#include "cuda/nvml/with_nvml.h"

namespace cupola::nvml {
namespace {

class Device : public WithNvml {
 protected:
  void SetUp() override {
    WithNvml::SetUp();
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  }
  static unsigned attribute(CUdevice_attribute attribute) {
    int value = -1;
    EXPECT_EQ(cuDeviceGetAttribute(&value, attribute, 0), CUDA_SUCCESS);
    return static_cast<unsigned>(value);
  }
  std::string uuid() const {
    char text[NVML_DEVICE_UUID_V2_BUFFER_SIZE];
    EXPECT_EQ(nvmlDeviceGetUUID(device_, text, sizeof text), NVML_SUCCESS);
    return text;
  }
};

TEST_F(Device, ThereIsOne) {
  unsigned count = 0, index = 7;
  EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(nvmlDeviceGetIndex(device_, &index), NVML_SUCCESS);
  EXPECT_EQ(index, 0u);
  nvmlDevice_t device = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByIndex(count, &device), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetHandleByIndex(0, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetCount(nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetIndex(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetIndex(other_, &index), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Device, HasTheNameThatLibcudaSays) {
  char expected[256], name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
  ASSERT_EQ(cuDeviceGetName(expected, sizeof expected, 0), CUDA_SUCCESS);
  ASSERT_EQ(nvmlDeviceGetName(device_, name, sizeof name), NVML_SUCCESS);
  EXPECT_STREQ(name, expected);
  const auto length = static_cast<unsigned>(std::strlen(expected));
  EXPECT_EQ(nvmlDeviceGetName(device_, name, length), NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(nvmlDeviceGetName(device_, name, length + 1), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetName(device_, nullptr, 96), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetName(other_, name, sizeof name), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Device, HasTheUuidThatLibcudaSays) {
  CUuuid bytes;
  ASSERT_EQ(cuDeviceGetUuid(&bytes, 0), CUDA_SUCCESS);
  std::string expected = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(bytes.bytes[i]));
    expected += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(digits);
  }
  EXPECT_EQ(uuid(), expected);
  char text[NVML_DEVICE_UUID_BUFFER_SIZE];
  EXPECT_EQ(nvmlDeviceGetUUID(device_, text, 41), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetUUID(device_, text, 40), NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(nvmlDeviceGetUUID(device_, nullptr, 80), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetUUID(other_, text, sizeof text), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Device, IsFoundByItsUuid) {
  nvmlDevice_t found = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByUUID(uuid().c_str(), &found), NVML_SUCCESS);
  EXPECT_EQ(found, device_);
  EXPECT_EQ(nvmlDeviceGetHandleByUUID(uuid().substr(0, 20).c_str(), &found), NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(nvmlDeviceGetHandleByUUID("GPU-00000000-0000-0000-0000-000000000000", &found), NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(nvmlDeviceGetHandleByUUID(nullptr, &found), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetHandleByUUID(uuid().c_str(), nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Device, IsFoundByItsUuidInEitherForm) {
  nvmlDevice_t found = nullptr;
  nvmlUUID_t wanted{.version = nvmlUUID_v1, .type = NVML_UUID_TYPE_ASCII};
  uuid().copy(wanted.value.str, sizeof wanted.value.str);
  EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(&wanted, &found), NVML_SUCCESS);
  EXPECT_EQ(found, device_);
  wanted.type = NVML_UUID_TYPE_BINARY;
  CUuuid bytes;
  ASSERT_EQ(cuDeviceGetUuid(&bytes, 0), CUDA_SUCCESS);
  std::memcpy(wanted.value.bytes, bytes.bytes, sizeof bytes);
  found = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(&wanted, &found), NVML_SUCCESS);
  EXPECT_EQ(found, device_);
  wanted.value.bytes[15] ^= 1;
  EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(&wanted, &found), NVML_ERROR_NOT_FOUND);
  wanted.type = NVML_UUID_TYPE_NONE;
  EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(&wanted, &found), NVML_ERROR_INVALID_ARGUMENT);
  wanted.version = 1;
  EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(&wanted, &found), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(nullptr, &found), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(&wanted, nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Device, HasTheBusIdThatLibcudaSays) {
  char expected[32];
  ASSERT_EQ(cuDeviceGetPCIBusId(expected, sizeof expected, 0), CUDA_SUCCESS);
  nvmlPciInfo_t pci;
  std::memset(&pci, 0xFF, sizeof pci);
  ASSERT_EQ(nvmlDeviceGetPciInfo(device_, &pci), NVML_SUCCESS);
  EXPECT_STREQ(pci.busIdLegacy, expected);
  EXPECT_EQ(pci.busId, "0000" + std::string(expected));  // a domain of eight digits
  EXPECT_EQ(pci.domain, attribute(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID));
  EXPECT_EQ(pci.bus, attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID));
  EXPECT_EQ(pci.device, attribute(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
  EXPECT_EQ(pci.pciDeviceId, 0u);
  EXPECT_EQ(pci.pciSubSystemId, 0u);
  EXPECT_EQ(nvmlDeviceGetPciInfo(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetPciInfo(other_, &pci), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Device, IsFoundByItsBusId) {
  nvmlPciInfo_t pci;
  ASSERT_EQ(nvmlDeviceGetPciInfo(device_, &pci), NVML_SUCCESS);
  for (const char* text : std::initializer_list<const char*>{pci.busId, pci.busIdLegacy, "0:0:0", "00:00.0"}) {
    nvmlDevice_t found = nullptr;
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId(text, &found), NVML_SUCCESS) << text;
    EXPECT_EQ(found, device_) << text;
  }
  nvmlDevice_t found = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId("0000:7f:00.0", &found), NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId("here", &found), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId(nullptr, &found), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId(pci.busId, nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Device, HasTheComputeCapabilityThatLibcudaSays) {
  int major = 0, minor = 0, expected_major = -1, expected_minor = -1;
  ASSERT_EQ(cuDeviceComputeCapability(&expected_major, &expected_minor, 0), CUDA_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetCudaComputeCapability(device_, &major, &minor), NVML_SUCCESS);
  EXPECT_EQ(major, expected_major);
  EXPECT_EQ(minor, expected_minor);
  EXPECT_EQ(nvmlDeviceGetCudaComputeCapability(device_, nullptr, &minor), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetCudaComputeCapability(device_, &major, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetCudaComputeCapability(other_, &major, &minor), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Device, IsOfTheArchitectureThatHasItsComputeCapability) {
  nvmlDeviceArchitecture_t architecture = 0;
  ASSERT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 8u);
  ASSERT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), 9u);
  EXPECT_EQ(nvmlDeviceGetArchitecture(device_, &architecture), NVML_SUCCESS);
  EXPECT_EQ(architecture, static_cast<unsigned>(NVML_DEVICE_ARCH_ADA));
  EXPECT_EQ(nvmlDeviceGetArchitecture(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetArchitecture(other_, &architecture), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Device, HasTheMultiprocessorsThatLibcudaSays) {
  const unsigned expected = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  unsigned cores = 0;
  EXPECT_EQ(nvmlDeviceGetNumGpuCores(device_, &cores), NVML_SUCCESS);
  EXPECT_EQ(cores, expected);
  nvmlDeviceAttributes_t all;
  std::memset(&all, 0xFF, sizeof all);
  ASSERT_EQ(nvmlDeviceGetAttributes(device_, &all), NVML_SUCCESS);
  EXPECT_EQ(all.multiprocessorCount, expected);
  EXPECT_EQ(all.sharedCopyEngineCount, attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT));
  EXPECT_EQ(all.sharedDecoderCount + all.sharedEncoderCount + all.sharedJpegCount + all.sharedOfaCount, 0u);
  EXPECT_EQ(all.gpuInstanceSliceCount + all.computeInstanceSliceCount, 0u);
  size_t bytes = 0;
  ASSERT_EQ(cuDeviceTotalMem(&bytes, 0), CUDA_SUCCESS);
  EXPECT_EQ(all.memorySizeMB, bytes >> 20);
  EXPECT_EQ(nvmlDeviceGetNumGpuCores(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetNumGpuCores(other_, &cores), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetAttributes(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetAttributes(other_, &all), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Device, IsSharedAndOnABoardOfItsOwn) {
  nvmlComputeMode_t mode = NVML_COMPUTEMODE_PROHIBITED;
  nvmlEnableState_t persistence = NVML_FEATURE_ENABLED;
  nvmlBrandType_t brand = NVML_BRAND_TESLA;
  EXPECT_EQ(nvmlDeviceGetComputeMode(device_, &mode), NVML_SUCCESS);
  EXPECT_EQ(mode, NVML_COMPUTEMODE_DEFAULT);
  EXPECT_EQ(nvmlDeviceGetPersistenceMode(device_, &persistence), NVML_SUCCESS);
  EXPECT_EQ(persistence, NVML_FEATURE_DISABLED);
  EXPECT_EQ(nvmlDeviceGetBrand(device_, &brand), NVML_SUCCESS);
  EXPECT_EQ(brand, NVML_BRAND_UNKNOWN);
  unsigned minor = 7, several = 7, mig = 7, parts = 7;
  EXPECT_EQ(nvmlDeviceGetMinorNumber(device_, &minor), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetMultiGpuBoard(device_, &several), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceIsMigDeviceHandle(device_, &mig), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetMaxMigDeviceCount(device_, &parts), NVML_SUCCESS);
  EXPECT_EQ(minor + several + mig + parts, 0u);
}

TEST_F(Device, SaysNothingOfOthersNorToNobody) {
  nvmlComputeMode_t mode;
  nvmlEnableState_t persistence;
  nvmlBrandType_t brand;
  unsigned number;
  EXPECT_EQ(nvmlDeviceGetComputeMode(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetComputeMode(other_, &mode), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetPersistenceMode(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetPersistenceMode(other_, &persistence), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetBrand(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetBrand(other_, &brand), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetMinorNumber(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetMinorNumber(other_, &number), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetMultiGpuBoard(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetMultiGpuBoard(other_, &number), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceIsMigDeviceHandle(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceIsMigDeviceHandle(other_, &number), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetMaxMigDeviceCount(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetMaxMigDeviceCount(other_, &number), NVML_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace cupola::nvml
