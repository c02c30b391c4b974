// What cuGetProcAddress promises. Oracle: "CUDA Driver API, Driver Entry Point Access".

#include "cuda/driver/with_context.h"

namespace cupola::driver {
namespace {

using EntryPoints = WithContext;

TEST_F(EntryPoints, AreOfTheVersionThatIsAskedFor) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status;
  EXPECT_EQ(cuGetProcAddress("cuMemAlloc", &found, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(found, reinterpret_cast<void*>(&cuMemAlloc_v2));
  EXPECT_EQ(cuGetProcAddress("cuCtxGetDevice", &found, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(found, reinterpret_cast<void*>(&cuCtxGetDevice));
  EXPECT_EQ(cuGetProcAddress("cuLaunchKernel", &found, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status),
            CUDA_SUCCESS);
  EXPECT_EQ(found, reinterpret_cast<void*>(&cuLaunchKernel_ptsz));
  EXPECT_EQ(cuGetProcAddress("cuNoSuchThing", &found, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(found, nullptr);
  found = this;
  EXPECT_EQ(cuGetProcAddress("cuLaunchKernelEx", &found, 11000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(cuGetProcAddress("cuNoSuchThing", &found, 13000, 0, nullptr), CUDA_ERROR_NOT_FOUND);
}

TEST_F(EntryPoints, OfEveryNameThereIsOne) {
  for (const char* name : {
#define CU_FN(base, suffix, since, status, signature) #base,
#define CU_REFUSED(base, suffix, since, signature, why)
#define CU_ABSENT(name, why)
#include "cuda/driver/driver.def"
       }) {
    void* found = nullptr;
    EXPECT_EQ(cuGetProcAddress(name, &found, 13000, 0, nullptr), CUDA_SUCCESS) << name;
    EXPECT_NE(found, nullptr) << name;
  }
}

TEST_F(EntryPoints, UndocumentedTablesAreRefused) {
  const void* table = this;
  const CUuuid id{};
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(table, nullptr);
}

}  // namespace
}  // namespace cupola::driver
