// Handles of things that are gone. CUDA leaves their use undefined; Cupola promises an error and no crash.
// Oracle: Cupola's own promise (docs/design.md); not for other drivers.

#include "driver.h"

CASE(destroyed_stream) {
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  CUDA_OK(cudaStreamDestroy(stream));
  EXPECT_CUDA(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
}

CASE(destroyed_event) {
  cudaEvent_t event = nullptr;
  CUDA_OK(cudaEventCreate(&event));
  CUDA_OK(cudaEventDestroy(event));
  EXPECT_CUDA(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaEventSynchronize(event), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaEventDestroy(event), cudaErrorInvalidResourceHandle);
}

CASE(unloaded_module) {
  check::use_context();
  CUmodule module = nullptr;
  CUfunction axpy = nullptr;
  CU_OK(cuModuleLoad(&module, check::module_path().c_str()));
  CU_OK(cuModuleGetFunction(&axpy, module, "axpy"));
  CU_OK(cuModuleUnload(module));
  EXPECT_CUDA(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuModuleGetFunction(&axpy, module, "axpy"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuLaunchKernel(axpy, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CASE(destroyed_context) {
  CUcontext context = nullptr;
  CU_OK(cuCtxCreate(&context, nullptr, 0, check::the_device()));
  CU_OK(cuCtxDestroy(context));
  EXPECT_CUDA(cuCtxDestroy(context), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxSetCurrent(context), CUDA_ERROR_INVALID_CONTEXT);
}

CASE(numbers_that_never_were_handles) {
  check::use_context();
  auto stream = reinterpret_cast<CUstream>(uintptr_t{0x1234560});
  auto event = reinterpret_cast<CUevent>(uintptr_t{0x1234568});
  auto module = reinterpret_cast<CUmodule>(uintptr_t{0x1234570});
  CUfunction kernel = nullptr;
  EXPECT_CUDA(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuModuleGetFunction(&kernel, module, "axpy"), CUDA_ERROR_INVALID_HANDLE);
}

CHECK_MAIN()
