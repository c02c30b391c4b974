// What modules promise. Oracle: "CUDA Driver API, Module Management".

#include <string>

#include "cuda/driver/with_context.h"

namespace cupola::driver {
namespace {

using Modules = WithContext;

TEST_F(Modules, SayWhyCodeCannotRun) {
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module,
                             "\x7f"
                             "ELF...."),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cuModuleLoadData(&module, "garbage"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleLoad(&module, "/nonexistent/file"), CUDA_ERROR_FILE_NOT_FOUND);
  char text[200] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {text, reinterpret_cast<void*>(sizeof text)};
  EXPECT_EQ(cuModuleLoadDataEx(&module,
                               "\x7f"
                               "ELF....",
                               2, options, values),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_NE(std::string(text).find("cupolac"), std::string::npos);
}

TEST_F(Modules, SymbolsCannotBePlaced) {
  CUmodule module = nullptr;
  CUjit_option option = CU_JIT_GLOBAL_SYMBOL_COUNT;
  void* value = reinterpret_cast<void*>(1);
  EXPECT_EQ(cuModuleLoadDataEx(&module, "garbage", 1, &option, &value), CUDA_ERROR_NOT_SUPPORTED);
  value = nullptr;
  EXPECT_EQ(cuModuleLoadDataEx(&module, "garbage", 1, &option, &value), CUDA_ERROR_INVALID_IMAGE);
}

TEST_F(Modules, HandlesAreChecked) {
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&function, reinterpret_cast<CUmodule>(this), "kernel"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLaunchKernel(reinterpret_cast<CUfunction>(this), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
}  // namespace cupola::driver
