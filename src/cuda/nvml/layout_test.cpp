// Sizes and offsets that compiled programs rely on. Oracle: the members and their order on the pages "NVML API
// Reference, Device Structs", laid out by the x86-64 System V ABI, and the version numbers, which hold sizes.

#include <gtest/gtest.h>
#include <nvml.h>

#include <cstddef>

static_assert(sizeof(nvmlReturn_t) == 4 && NVML_ERROR_RESET_TYPE_NOT_SUPPORTED == 30 && NVML_ERROR_UNKNOWN == 999);
static_assert(sizeof(nvmlPciInfo_t) == 68 && offsetof(nvmlPciInfo_t, domain) == 16 &&
              offsetof(nvmlPciInfo_t, busId) == 36);
static_assert(sizeof(nvmlUtilization_t) == 8 && sizeof(nvmlMemory_t) == 24 && offsetof(nvmlMemory_t, used) == 16);
static_assert(sizeof(nvmlMemory_v2_t) == 40 && offsetof(nvmlMemory_v2_t, reserved) == 16 && nvmlMemory_v2 == 0x2000028);
static_assert(sizeof(nvmlProcessInfo_v1_t) == 16 && sizeof(nvmlProcessInfo_t) == 24 &&
              offsetof(nvmlProcessInfo_t, gpuInstanceId) == 16);
static_assert(sizeof(nvmlDeviceAttributes_t) == 40 && offsetof(nvmlDeviceAttributes_t, memorySizeMB) == 32);
static_assert(sizeof(nvmlUUID_t) == 52 && offsetof(nvmlUUID_t, value) == 8 && nvmlUUID_v1 == 0x1000034);

extern "C" int (*nvml_header_compiles)();

TEST(Header, CompilesAsC) {
  EXPECT_NE(nvml_header_compiles, nullptr);
}
