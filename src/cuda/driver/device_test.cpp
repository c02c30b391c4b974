// What the calls about devices promise. Oracle: "CUDA Driver API, Device Management".

#include <string>

#include "cuda/driver/with_context.h"

namespace cupola::driver {
namespace {

using Devices = WithContext;

TEST_F(Devices, RejectsOrdinalsThatAreNotThere) {
  int count = 0;
  ASSERT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  CUdevice device = 0;
  EXPECT_EQ(cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Devices, NameIsCutToTheBuffer) {
  char whole[256], part[5];
  ASSERT_EQ(cuDeviceGetName(whole, sizeof whole, device_), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetName(part, sizeof part, device_), CUDA_SUCCESS);
  EXPECT_EQ(std::string(part), std::string(whole).substr(0, 4));
}

TEST_F(Devices, ReportsEveryAttribute) {
  for (int attribute = 1; attribute < CU_DEVICE_ATTRIBUTE_MAX; ++attribute) {
    int value = -12345;
    EXPECT_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), device_), CUDA_SUCCESS)
        << attribute;
    EXPECT_NE(value, -12345) << attribute;
  }
  int value = 0;
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device_), CUDA_SUCCESS);
  EXPECT_EQ(value, 32);
  EXPECT_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(0), device_), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Devices, BusIdLeadsBack) {
  char id[32];
  ASSERT_EQ(cuDeviceGetPCIBusId(id, sizeof id, device_), CUDA_SUCCESS);
  CUdevice found = -1;
  EXPECT_EQ(cuDeviceGetByPCIBusId(&found, id), CUDA_SUCCESS);
  EXPECT_EQ(found, device_);
  EXPECT_EQ(cuDeviceGetByPCIBusId(&found, "ffff:ff:1f.7"), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace
}  // namespace cupola::driver
