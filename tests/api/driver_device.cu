// Devices, versions, errors and entry points of the driver API.
// Oracle: "CUDA Driver API", Initialization, Version, Device, Error Handling, Driver Entry Point Access, Profiler
// Control.

#include <cudaProfiler.h>

#include "driver.h"

CASE(version_and_init) {
  CU_OK(cuInit(0));
  CU_OK(cuInit(0));  // again is allowed
  EXPECT_CUDA(cuInit(1), CUDA_ERROR_INVALID_VALUE);
  int version = 0;
  CU_OK(cuDriverGetVersion(&version));
  EXPECT(version / 1000 >= CUDA_VERSION / 1000);
  EXPECT_CUDA(cuDriverGetVersion(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CASE(error_names_and_descriptions) {
  const char* text = nullptr;
  CU_OK(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text));
  EXPECT_EQUAL(std::string(text), "CUDA_ERROR_INVALID_VALUE");
  CU_OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT_EQUAL(std::string(text), "out of memory");
  CU_OK(cuGetErrorString(CUDA_SUCCESS, &text));
  EXPECT_EQUAL(std::string(text), "no error");
  EXPECT_CUDA(cuGetErrorName(static_cast<CUresult>(123456), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT(text == nullptr);
  EXPECT_CUDA(cuGetErrorString(static_cast<CUresult>(123456), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT(text == nullptr);
}

CASE(count_and_handles) {
  CUdevice device = check::the_device();
  EXPECT(device >= 0);
  int count = 0;
  CU_OK(cuDeviceGetCount(&count));
  EXPECT(count >= 1);
  EXPECT_CUDA(cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetCount(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CASE(name_identity_and_memory) {
  CUdevice device = check::the_device();
  char name[256] = "";
  CU_OK(cuDeviceGetName(name, sizeof name, device));
  EXPECT(name[0] != 0);
  char start[4] = "zzz";
  CU_OK(cuDeviceGetName(start, sizeof start, device));  // cut, with its end
  EXPECT_EQUAL(std::string(start), std::string(name).substr(0, 3));
  EXPECT_CUDA(cuDeviceGetName(nullptr, 4, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetName(name, sizeof name, 9999), CUDA_ERROR_INVALID_DEVICE);
  CUuuid uuid = {}, zero = {}, again = {};
  CU_OK(cuDeviceGetUuid(&uuid, device));
  CU_OK(cuDeviceGetUuid(&again, device));
  EXPECT(std::memcmp(&uuid, &zero, sizeof uuid) != 0);
  EXPECT(std::memcmp(&uuid, &again, sizeof uuid) == 0);
  char luid[8];
  unsigned mask = 0;
  EXPECT_CUDA(cuDeviceGetLuid(luid, &mask, device), CUDA_ERROR_NOT_SUPPORTED);  // Windows only; so an H200
  size_t bytes = 0;
  CU_OK(cuDeviceTotalMem(&bytes, device));
  EXPECT(bytes > size_t{64} << 20);
  EXPECT_CUDA(cuDeviceTotalMem(nullptr, device), CUDA_ERROR_INVALID_VALUE);
}

CASE(attributes) {
  CUdevice device = check::the_device();
  auto attribute = [&](CUdevice_attribute which) {
    int value = -1;
    CU_OK(cuDeviceGetAttribute(&value, which, device));
    return value;
  };
  EXPECT_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
  EXPECT_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z), 64);
  EXPECT_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING), 1);
  EXPECT(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) >= 1);
  int major = 0, minor = 0;
  CU_OK(cuDeviceComputeCapability(&major, &minor, device));
  EXPECT_EQUAL(major, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQUAL(minor, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  CUdevprop properties = {};
  CU_OK(cuDeviceGetProperties(&properties, device));
  EXPECT_EQUAL(properties.maxThreadsPerBlock, 1024);
  EXPECT_EQUAL(properties.SIMDWidth, 32);
  EXPECT_EQUAL(properties.sharedMemPerBlock, attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  int value = 0;
  EXPECT_CUDA(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(99999), device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 9999), CUDA_ERROR_INVALID_DEVICE);
  CU_OK(cuDeviceGetExecAffinitySupport(&value, CU_EXEC_AFFINITY_TYPE_SM_COUNT, device));
  EXPECT(value == 0 || value == 1);
}

CASE(pci_bus_id) {
  CUdevice device = check::the_device(), found = -1;
  char text[32] = "";
  CU_OK(cuDeviceGetPCIBusId(text, sizeof text, device));
  CU_OK(cuDeviceGetByPCIBusId(&found, text));
  EXPECT_EQUAL(found, device);
  // What is no bus id is told from one that no device has. Oracle: an H200 (driver 580).
  for (const char* no_id : {"no such bus", "", "ff:00"})
    EXPECT_CUDA(cuDeviceGetByPCIBusId(&found, no_id), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetByPCIBusId(&found, "00ff:00:00.0"), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceGetPCIBusId(nullptr, 32, device), CUDA_ERROR_INVALID_VALUE);
}

CASE(a_device_is_no_peer_of_itself) {
  CUdevice device = check::the_device();
  int value = -1;
  CU_OK(cuDeviceCanAccessPeer(&value, device, device));
  EXPECT_EQUAL(value, 0);
  EXPECT_CUDA(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, device, device),
              CUDA_ERROR_INVALID_DEVICE);
}

CASE(entry_points) {
  CU_OK(cuInit(0));
  void* found = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  CU_OK(cuGetProcAddress("cuDriverGetVersion", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT_EQUAL(status, CU_GET_PROC_ADDRESS_SUCCESS);
  int by_pointer = 0, by_name = 0;
  if (found) CU_OK(reinterpret_cast<CUresult (*)(int*)>(found)(&by_pointer));
  CU_OK(cuDriverGetVersion(&by_name));
  EXPECT_EQUAL(by_pointer, by_name);
  // A name that is not there is told through the status.
  CU_OK(cuGetProcAddress("cuNoSuchFunction", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT(found == nullptr);
  EXPECT_EQUAL(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  // A name that is newer than the version asked for.
  found = &status;
  CU_OK(cuGetProcAddress("cuLibraryLoadData", &found, 11030, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT(found == nullptr);
  EXPECT_EQUAL(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_CUDA(cuGetProcAddress(nullptr, &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status), CUDA_ERROR_INVALID_VALUE);
}

CASE(unknown_export_tables_are_not_found) {
  CU_OK(cuInit(0));
  const void* table = nullptr;
  CUuuid none = {};
  EXPECT_CUDA(cuGetExportTable(&table, &none), CUDA_ERROR_NOT_SUPPORTED);
}

CASE(profiler_switches) {
  check::use_context();
  CU_OK(cuProfilerStart());
  CU_OK(cuProfilerStop());
}

CHECK_MAIN()
