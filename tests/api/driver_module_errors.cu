// What the driver refuses of modules, libraries, functions, occupancy, launches and linking.
// Oracle: "CUDA Driver API", Module, Library and Execution Management, Occupancy: the "Returns" of each function.

#include <vector>

#include "driver.h"

namespace {

CUmodule the_module() {
  static CUmodule module = [] {
    check::use_context();
    CUmodule made = nullptr;
    CU_OK(cuModuleLoad(&made, check::module_path().c_str()));
    return made;
  }();
  check::use_context();
  return module;
}

CUfunction function(const char* name = "axpy") {
  CUfunction found = nullptr;
  CU_OK(cuModuleGetFunction(&found, the_module(), name));
  return found;
}

CUlibrary the_library() {
  static CUlibrary library = [] {
    check::use_context();
    CUlibrary made = nullptr;
    CU_OK(cuLibraryLoadFromFile(&made, check::module_path().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    return made;
  }();
  return library;
}

CUkernel kernel(const char* name = "axpy") {
  CUkernel found = nullptr;
  CU_OK(cuLibraryGetKernel(&found, the_library(), name));
  return found;
}

int attribute(CUdevice_attribute which) {
  int value = 0;
  CU_OK(cuDeviceGetAttribute(&value, which, check::the_device()));
  return value;
}

struct Shape {
  unsigned grid[3], block[3], shared;
};

/// A launch of axpy over no elements.
CUresult launch(Shape shape, bool cooperative = false) {
  CUdeviceptr nowhere = 0;
  float a = 1;
  int count = 0;
  void* parameters[] = {&nowhere, &nowhere, &a, &count};
  const auto [grid, block, shared] = shape;
  if (cooperative)
    return cuLaunchCooperativeKernel(function(), grid[0], grid[1], grid[2], block[0], block[1], block[2], shared,
                                     nullptr, parameters);
  return cuLaunchKernel(function(), grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, nullptr,
                        parameters, nullptr);
}

constexpr char kPtx[] = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry empty() { ret; }\n";

}  // namespace

CASE(loading) {
  check::use_context();
  CUmodule module = nullptr;
  const char* broken = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() { nonsense; }\n";
  EXPECT_CUDA(cuModuleLoad(&module, "/nowhere/at/all.fatbin"), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_CUDA(cuModuleLoad(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuModuleLoad(nullptr, check::module_path().c_str()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuModuleLoadData(nullptr, kPtx), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuModuleLoadData(&module, broken), CUDA_ERROR_INVALID_PTX);
  EXPECT_CUDA(cuModuleLoadDataEx(&module, broken, 0, nullptr, nullptr), CUDA_ERROR_INVALID_PTX);
  EXPECT_CUDA(cuModuleLoadDataEx(&module, kPtx, 1, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuModuleLoadFatBinary(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuModuleLoadFatBinary(nullptr, check::module_bytes().data()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuModuleGetLoadingMode(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT(module == nullptr);
}

CASE(what_a_module_has_not) {
  CUmodule module = the_module();
  CUfunction found = nullptr;
  CUdeviceptr at = 0;
  size_t size = 0;
  unsigned count = 0;
  EXPECT_CUDA(cuModuleGetFunction(&found, module, "not_there"), CUDA_ERROR_NOT_FOUND);
  EXPECT_CUDA(cuModuleGetFunction(&found, module, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuModuleGetFunction(nullptr, module, "axpy"), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuModuleGetGlobal(&at, &size, module, "not_there"), CUDA_ERROR_NOT_FOUND);
  EXPECT_CUDA(cuModuleGetGlobal(&at, &size, module, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuModuleGetFunctionCount(nullptr, module), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuModuleGetFunctionCount(&count, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuModuleEnumerateFunctions(nullptr, 1, module), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuModuleEnumerateFunctions(&found, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CASE(libraries) {
  check::use_context();
  CUlibrary library = the_library(), none = nullptr;
  CUmodule module = nullptr;
  CUkernel found = nullptr;
  CUdeviceptr at = 0;
  size_t size = 0;
  unsigned count = 0;
  EXPECT_CUDA(cuLibraryLoadData(nullptr, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLibraryLoadData(&none, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLibraryLoadFromFile(&none, "/nowhere/at/all", nullptr, nullptr, 0, nullptr, nullptr, 0),
              CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_CUDA(cuLibraryGetKernel(&found, library, "not_there"), CUDA_ERROR_NOT_FOUND);
  EXPECT_CUDA(cuLibraryGetKernel(nullptr, library, "axpy"), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLibraryGetKernelCount(nullptr, library), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLibraryGetKernelCount(&count, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLibraryEnumerateKernels(nullptr, 1, library), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLibraryEnumerateKernels(&found, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLibraryGetModule(nullptr, library), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLibraryGetModule(&module, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuLibraryGetGlobal(&at, &size, library, "not_there"), CUDA_ERROR_NOT_FOUND);
  EXPECT_CUDA(cuLibraryGetGlobal(&at, &size, library, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLibraryGetManaged(&at, &size, library, "not_there"), CUDA_ERROR_NOT_FOUND);
  EXPECT_CUDA(cuLibraryUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CASE(kernels_of_libraries) {
  CUdevice device = check::the_device();
  CUkernel axpy = kernel();
  CUfunction found = nullptr;
  CUlibrary library = nullptr;
  const char* name = nullptr;
  int value = 0;
  size_t offset = 0, size = 0;
  const auto unknown = static_cast<CUfunction_attribute>(99);
  EXPECT_CUDA(cuKernelGetFunction(nullptr, axpy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuKernelGetFunction(&found, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuKernelGetLibrary(nullptr, axpy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuKernelGetLibrary(&library, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuKernelGetName(nullptr, axpy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuKernelGetName(&name, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuKernelGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, axpy, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuKernelGetAttribute(&value, unknown, axpy, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, axpy, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 8, axpy, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 30, axpy, device),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuKernelSetCacheConfig(axpy, static_cast<CUfunc_cache>(77), device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuKernelSetCacheConfig(axpy, CU_FUNC_CACHE_PREFER_L1, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuKernelGetParamInfo(axpy, 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);  // axpy has four
  EXPECT_CUDA(cuKernelGetParamInfo(axpy, 0, nullptr, &size), CUDA_ERROR_INVALID_VALUE);
}

CASE(functions) {
  CUfunction axpy = function();
  CUmodule module = nullptr;
  const char* name = nullptr;
  CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_UNLOADED;
  int value = 0;
  size_t offset = 0, size = 0;
  const auto unknown = static_cast<CUfunction_attribute>(99);
  EXPECT_CUDA(cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, axpy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncGetAttribute(&value, unknown, axpy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuFuncSetAttribute(axpy, CU_FUNC_ATTRIBUTE_NUM_REGS, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncSetAttribute(axpy, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 30),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncSetAttribute(axpy, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncSetCacheConfig(axpy, static_cast<CUfunc_cache>(77)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_L1), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuFuncSetSharedMemConfig(axpy, static_cast<CUsharedconfig>(77)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncSetSharedMemConfig(nullptr, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuFuncGetModule(nullptr, axpy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncGetModule(&module, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuFuncGetName(nullptr, axpy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncGetName(&name, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncIsLoaded(nullptr, axpy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncIsLoaded(&state, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncLoad(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncGetParamInfo(axpy, 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
}

CASE(occupancy) {
  CUfunction axpy = function();
  int blocks = 0, size = 0;
  size_t bytes = 0;
  const auto per_multiprocessor = cuOccupancyMaxActiveBlocksPerMultiprocessor;
  EXPECT_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, axpy, 32, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, axpy, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(per_multiprocessor(&blocks, axpy, -32, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(nullptr, axpy, 32, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, axpy, 32, 0, 0x80),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuOccupancyMaxPotentialBlockSize(nullptr, &size, axpy, nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuOccupancyMaxPotentialBlockSize(&blocks, nullptr, axpy, nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuOccupancyMaxPotentialBlockSizeWithFlags(&blocks, nullptr, axpy, nullptr, 0, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuOccupancyMaxPotentialBlockSizeWithFlags(&blocks, &size, axpy, nullptr, 0, 0, 0x80),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuOccupancyAvailableDynamicSMemPerBlock(nullptr, axpy, 1, 32), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, axpy, 0, 32), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, axpy, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

// Each limit, and one beyond it ("cuLaunchKernel"; "CUDA C++ Programming Guide, Compute Capabilities").
CASE(limits_of_launches) {
  const auto limit = [](CUdevice_attribute which) { return static_cast<unsigned>(attribute(which)); };
  const unsigned threads = limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  const unsigned block_z = limit(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  const unsigned grid_y = limit(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  const unsigned grid_z = limit(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  const unsigned shared = limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  CU_OK(launch({{1, 1, 1}, {threads, 1, 1}, shared}));
  CU_OK(launch({{1, 1, 1}, {1, 1, block_z}, 0}));
  CU_OK(launch({{1, grid_y, 1}, {1, 1, 1}, 0}));
  CU_OK(launch({{1, 1, grid_z}, {1, 1, 1}, 0}));
  const Shape beyond[] = {
      {{1, 1, 1}, {threads + 1, 1, 1}, 0}, {{1, 1, 1}, {threads / 2, 4, 1}, 0}, {{1, 1, 1}, {1, 1, block_z + 1}, 0},
      {{1, grid_y + 1, 1}, {1, 1, 1}, 0},  {{1, 1, grid_z + 1}, {1, 1, 1}, 0},  {{1u << 31, 1, 1}, {1, 1, 1}, 0},
      {{1, 1, 1}, {1, 1, 1}, shared + 1},  {{0, 1, 1}, {1, 1, 1}, 0},           {{1, 0, 1}, {1, 1, 1}, 0},
      {{1, 1, 0}, {1, 1, 1}, 0},           {{1, 1, 1}, {0, 1, 1}, 0},           {{1, 1, 1}, {1, 0, 1}, 0},
      {{1, 1, 1}, {1, 1, 0}, 0},
  };
  for (size_t i = 0; i < std::size(beyond); ++i) {
    EXPECT_EQUAL_AT(static_cast<long long>(i), launch(beyond[i]), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQUAL_AT(static_cast<long long>(i), launch(beyond[i], true), CUDA_ERROR_INVALID_VALUE);
  }
  // Cooperative grids must fit the device all at once.
  EXPECT_EQUAL(launch({{1u << 20, 1, 1}, {threads, 1, 1}, 0}, true), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  CU_OK(cuCtxSynchronize());
}

// "PTX ISA, Performance-Tuning Directives": more threads than .maxntid "will result in a launch error", as other blocks
// than .reqntid.
CASE(blocks_that_a_kernel_refuses) {
  CUmodule module = check::load_ptx(
      ".version 7.0\n.target sm_50\n.address_size 64\n"
      ".visible .entry most() .maxntid 64, 1, 1 { ret; }\n"
      ".visible .entry exact() .reqntid 32, 2, 1 { ret; }\n");
  CUfunction most = nullptr, exact = nullptr;
  CU_OK(cuModuleGetFunction(&most, module, "most"));
  CU_OK(cuModuleGetFunction(&exact, module, "exact"));
  CU_OK(cuLaunchKernel(most, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_CUDA(cuLaunchKernel(most, 1, 1, 1, 65, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuLaunchKernel(exact, 1, 1, 1, 32, 2, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_CUDA(cuLaunchKernel(exact, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLaunchKernel(exact, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuCtxSynchronize());
  CU_OK(cuModuleUnload(module));
}

CASE(arguments_of_launches) {
  CUfunction axpy = function();
  CUdeviceptr nowhere = 0;
  float a = 1;
  int count = 0;
  void* parameters[] = {&nowhere, &nowhere, &a, &count};
  char buffer[64] = {};
  size_t size = 28, short_size = 8;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  void* short_extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &short_size,
                         CU_LAUNCH_PARAM_END};
  CU_OK(cuLaunchKernel(axpy, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_CUDA(cuLaunchKernel(axpy, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, short_extra), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLaunchKernel(axpy, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, extra), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLaunchKernel(axpy, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuLaunchCooperativeKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters), CUDA_ERROR_INVALID_HANDLE);
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  EXPECT_CUDA(cuLaunchKernelEx(nullptr, axpy, parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLaunchKernelEx(&config, nullptr, parameters, nullptr), CUDA_ERROR_INVALID_HANDLE);
  config.numAttrs = 1;
  EXPECT_CUDA(cuLaunchKernelEx(&config, axpy, parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLaunchHostFunc(nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuCtxSynchronize());
}

// A file that was cut off: each prefix of the fat binary is refused, and each prefix of a text that ends in its kernel.
CASE(truncated_modules) {
  check::use_context();
  const std::string bytes = check::module_bytes(), text = kPtx;
  char path[] = "/tmp/truncated_XXXXXX";
  const int file = mkstemp(path);
  EXPECT(file >= 0 && bytes.size() > 64);
  CUmodule module = nullptr;
  for (size_t length = 0; length < bytes.size(); length += 1 + bytes.size() / 61) {
    EXPECT(ftruncate(file, 0) == 0 && pwrite(file, bytes.data(), length, 0) == static_cast<ssize_t>(length));
    const CUresult result = cuModuleLoad(&module, path);
    EXPECT_ONE_OF(result, CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_INVALID_PTX,
                  CUDA_ERROR_INVALID_SOURCE);
  }
  for (size_t length = text.find(".visible") + 1; length < text.find('}'); ++length)
    EXPECT_CUDA(cuModuleLoadData(&module, text.substr(0, length).c_str()), CUDA_ERROR_INVALID_PTX);
  EXPECT(module == nullptr);
  close(file);
  unlink(path);
}

CASE(linking) {
  check::use_context();
  CUlinkState state = nullptr;
  void* image = nullptr;
  size_t size = 0;
  std::string text = kPtx;
  EXPECT_CUDA(cuLinkCreate(0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLinkCreate(1, nullptr, nullptr, &state), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuLinkCreate(0, nullptr, nullptr, &state));
  const auto add = [&](CUlinkState to, CUjitInputType type, void* data, size_t bytes) {
    return cuLinkAddData(to, type, data, bytes, "text", 0, nullptr, nullptr);
  };
  EXPECT_CUDA(add(state, CU_JIT_INPUT_PTX, nullptr, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(
      cuLinkAddData(state, static_cast<CUjitInputType>(99), text.data(), text.size() + 1, "text", 0, nullptr, nullptr),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nowhere/at/all.ptx", 0, nullptr, nullptr),
              CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_CUDA(cuLinkAddFile(state, CU_JIT_INPUT_PTX, nullptr, 0, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(add(state, CU_JIT_INPUT_PTX, text.data(), text.size() + 1));
  EXPECT_CUDA(cuLinkComplete(state, nullptr, &size), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuLinkDestroy(state));
  EXPECT_CUDA(cuLinkDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuLinkComplete(nullptr, &image, &size), CUDA_ERROR_INVALID_HANDLE);
}

CHECK_MAIN()
