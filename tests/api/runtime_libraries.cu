// Libraries of device code and linking at run time. Oracle: "CUDA Runtime API, Library Management" and "CUDA Driver
// API, Module Management" (cuLink*).

#include "driver.h"

namespace {

const char* const kPtx = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .global .align 4 .u32 counter = 41;
.visible .entry bump(.param .u64 out)
{
  .reg .u64 %p;
  .reg .u32 %r;
  ld.param.u64 %p, [out];
  cvta.to.global.u64 %p, %p;
  ld.global.u32 %r, [counter];
  add.u32 %r, %r, 1;
  st.global.u32 [%p], %r;
  ret;
}
)";

const char* const kManaged = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 shared_count = 5;
.visible .entry bump_shared()
{
  .reg .u32 %r;
  ld.global.u32 %r, [shared_count];
  add.u32 %r, %r, 1;
  st.global.u32 [shared_count], %r;
  ret;
}
)";

const char* const kCaller = R"(
.version 7.0
.target sm_50
.address_size 64
.extern .func (.param .u32 result) twice(.param .u32 value);
.visible .entry call_twice(.param .u64 out)
{
  .reg .u64 %p;
  .reg .u32 %r;
  .param .u32 in, back;
  ld.param.u64 %p, [out];
  cvta.to.global.u64 %p, %p;
  mov.u32 %r, 21;
  st.param.u32 [in], %r;
  call (back), twice, (in);
  ld.param.u32 %r, [back];
  st.global.u32 [%p], %r;
  ret;
}
)";

const char* const kCallee = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .func (.param .u32 result) twice(.param .u32 value)
{
  .reg .u32 %r;
  ld.param.u32 %r, [value];
  add.u32 %r, %r, %r;
  st.param.u32 [result], %r;
  ret;
}
)";

unsigned run(cudaKernel_t kernel) {
  unsigned *out = nullptr, value = 0;
  CUDA_OK(cudaMalloc(&out, sizeof *out));
  void* arguments[] = {&out};
  CUDA_OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), arguments, 0, nullptr));
  CUDA_OK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
  CUDA_OK(cudaFree(out));
  return value;
}

}  // namespace

CASE(a_library_from_memory) {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr, listed = nullptr;
  CUDA_OK(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUDA_OK(cudaLibraryGetKernel(&kernel, library, "bump"));
  EXPECT(run(kernel) == 42);
  unsigned count = 0;
  CUDA_OK(cudaLibraryGetKernelCount(&count, library));
  EXPECT(count == 1);
  CUDA_OK(cudaLibraryEnumerateKernels(&listed, 1, library));
  EXPECT(listed == kernel);
  void* variable = nullptr;
  size_t bytes = 0;
  CUDA_OK(cudaLibraryGetGlobal(&variable, &bytes, library, "counter"));
  EXPECT(variable && bytes == 4);
  unsigned value = 6;
  CUDA_OK(cudaMemcpy(variable, &value, sizeof value, cudaMemcpyHostToDevice));
  EXPECT(run(kernel) == 7);
  CUDA_OK(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024, 0));
  EXPECT_CUDA(cudaLibraryGetKernel(&kernel, library, "nothing"), cudaErrorSymbolNotFound);
  EXPECT_CUDA(cudaLibraryGetManaged(&variable, &bytes, library, "nothing"), cudaErrorSymbolNotFound);
  cudaGetLastError();
  CUDA_OK(cudaLibraryUnload(library));
}

// "Returns ... the base pointer and size of the managed memory with name name": the host reads and writes it.
CASE(managed_variables_of_a_library) {
  check::use_context();
  CUlibrary library = nullptr;
  CU_OK(cuLibraryLoadData(&library, kManaged, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUdeviceptr address = 0;
  size_t bytes = 0, same_bytes = 0;
  void* same = nullptr;
  CU_OK(cuLibraryGetManaged(&address, &bytes, library, "shared_count"));
  CUDA_OK(cudaLibraryGetManaged(&same, &same_bytes, reinterpret_cast<cudaLibrary_t>(library), "shared_count"));
  EXPECT(bytes == 4 && same_bytes == 4 && reinterpret_cast<CUdeviceptr>(same) == address);
  auto* const count = static_cast<unsigned*>(same);
  EXPECT_EQUAL(*count, 5u);
  *count = 8;
  CUkernel kernel = nullptr;
  CU_OK(cuLibraryGetKernel(&kernel, library, "bump_shared"));
  CU_OK(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  CU_OK(cuCtxSynchronize());
  EXPECT_EQUAL(*count, 9u);
  EXPECT_CUDA(cuLibraryGetManaged(&address, &bytes, library, "nothing"), CUDA_ERROR_NOT_FOUND);
  CU_OK(cuLibraryUnload(library));
}

CASE(a_library_from_a_file) {
  cudaLibrary_t library = nullptr;
  CUDA_OK(cudaLibraryLoadFromFile(&library, check::module_path().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t kernel = nullptr;
  CUDA_OK(cudaLibraryGetKernel(&kernel, library, "axpy"));
  CUDA_OK(cudaLibraryUnload(library));
  EXPECT_CUDA(cudaLibraryLoadFromFile(&library, "/nonexistent.fatbin", nullptr, nullptr, 0, nullptr, nullptr, 0),
              cudaErrorFileNotFound);
  cudaGetLastError();
}

CASE(link_two_units) {
  check::use_context();
  CUlinkState state = nullptr;
  void* image = nullptr;
  size_t bytes = 0;
  CU_OK(cuLinkCreate(0, nullptr, nullptr, &state));
  check::TextFile callee(kCallee);
  CU_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(kCaller), std::strlen(kCaller) + 1, "unit", 0, nullptr,
                      nullptr));
  CU_OK(cuLinkAddFile(state, CU_JIT_INPUT_PTX, callee.path(), 0, nullptr, nullptr));
  CU_OK(cuLinkComplete(state, &image, &bytes));
  EXPECT(image && bytes > 0);
  CUmodule module = nullptr;
  CU_OK(cuModuleLoadData(&module, image));
  CU_OK(cuLinkDestroy(state));  // the module has its own copy
  CUfunction kernel = nullptr;
  CU_OK(cuModuleGetFunction(&kernel, module, "call_twice"));
  CUdeviceptr out = 0;
  unsigned value = 0;
  CU_OK(cuMemAlloc(&out, 4));
  void* arguments[] = {&out};
  CU_OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CU_OK(cuMemcpyDtoH(&value, out, 4));
  EXPECT(value == 42);
  CU_OK(cuMemFree(out));
  CU_OK(cuModuleUnload(module));
}

CASE(link_refuses) {
  check::use_context();
  CUlinkState state = nullptr;
  CU_OK(cuLinkCreate(0, nullptr, nullptr, &state));
  char nonsense[] = "this is no PTX";
  EXPECT_CUDA(cuLinkAddData(state, CU_JIT_INPUT_PTX, nonsense, sizeof nonsense, "unit", 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_IMAGE);
  EXPECT_CUDA(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nonexistent.ptx", 0, nullptr, nullptr),
              CUDA_ERROR_FILE_NOT_FOUND);
  CU_OK(cuLinkDestroy(state));
}

CASE(small_questions) {
  check::use_context();
  size_t texels = 0;
  CU_OK(cuDeviceGetTexture1DLinearMaxWidth(&texels, CU_AD_FORMAT_FLOAT, 1, 0));
  EXPECT(texels >= 1 << 27);  // "CUDA C++ Programming Guide, Technical Specifications"
  cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  CUDA_OK(cudaDeviceGetTexture1DLinearMaxWidth(&texels, &format, 0));
  EXPECT(texels >= 1 << 27);
  int devices[] = {0};
  CUDA_OK(cudaSetValidDevices(devices, 1));
  devices[0] = 99;
  EXPECT_CUDA(cudaSetValidDevices(devices, 1), cudaErrorInvalidDevice);
  cudaGetLastError();
}

CHECK_MAIN()
