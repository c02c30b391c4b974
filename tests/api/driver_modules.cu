// Modules and libraries from files and from memory, their kernels and variables, and launches of both forms.
// Oracle: "CUDA Driver API", Module Management, Library Management, Execution Control, Occupancy; the kernels'
// arithmetic is done again on the host. The image is module_kernels.fatbin beside the program.

#include <algorithm>

#include "driver.h"

namespace {

CUmodule the_module() {
  check::use_context();
  static CUmodule module = [] {
    CUmodule loaded = nullptr;
    CU_OK(cuModuleLoad(&loaded, check::module_path().c_str()));
    return loaded;
  }();
  return module;
}

CUfunction function(const char* name) {
  CUfunction found = nullptr;
  CU_OK(cuModuleGetFunction(&found, the_module(), name));
  return found;
}

/// x[i] = i, y[i] = 1000; after one axpy with a: y[i] = 1000 + 3 * a * i.
struct Vectors {
  static constexpr int kCount = 1000;
  CUdeviceptr x = 0, y = 0;
  Vectors() {
    std::vector<float> values(kCount);
    for (int i = 0; i < kCount; ++i) values[static_cast<size_t>(i)] = static_cast<float>(i);
    CU_OK(cuMemAlloc(&x, kCount * 4));
    CU_OK(cuMemAlloc(&y, kCount * 4));
    CU_OK(cuMemcpyHtoD(x, values.data(), kCount * 4));
    std::fill(values.begin(), values.end(), 1000.0f);
    CU_OK(cuMemcpyHtoD(y, values.data(), kCount * 4));
  }
  ~Vectors() {
    CU_OK(cuMemFree(x));
    CU_OK(cuMemFree(y));
  }
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;
  void expect(float a) {
    std::vector<float> values(kCount);
    CU_OK(cuMemcpyDtoH(values.data(), y, kCount * 4));
    for (int i = 0; i < kCount; ++i)
      EXPECT_EQUAL_AT(i, values[static_cast<size_t>(i)], 1000.0f + 3.0f * a * static_cast<float>(i));
  }
};

void launch_axpy(CUfunction axpy, float a) {
  Vectors vectors;
  int count = Vectors::kCount;
  void* parameters[] = {&vectors.y, &vectors.x, &a, &count};
  CU_OK(cuLaunchKernel(axpy, 4, 1, 1, 256, 1, 1, 0, nullptr, parameters, nullptr));
  CU_OK(cuCtxSynchronize());
  vectors.expect(a);
}

}  // namespace

CASE(load_from_a_file) {
  launch_axpy(function("axpy"), 2);
}

CASE(load_from_memory) {
  check::use_context();
  const std::string image = check::module_bytes();
  CUmodule module = nullptr;
  CUfunction axpy = nullptr;
  CU_OK(cuModuleLoadData(&module, image.data()));
  CU_OK(cuModuleGetFunction(&axpy, module, "axpy"));
  launch_axpy(axpy, 3);
  CU_OK(cuModuleUnload(module));
  CU_OK(cuModuleLoadFatBinary(&module, image.data()));
  CU_OK(cuModuleGetFunction(&axpy, module, "axpy"));
  launch_axpy(axpy, 4);
  CU_OK(cuModuleUnload(module));
}

CASE(load_with_options) {
  check::use_context();
  const std::string image = check::module_bytes();
  char log[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_MAX_REGISTERS};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log), reinterpret_cast<void*>(64)};
  CUmodule module = nullptr;
  CUfunction axpy = nullptr;
  CU_OK(cuModuleLoadDataEx(&module, image.data(), 3, options, values));
  CU_OK(cuModuleGetFunction(&axpy, module, "axpy"));
  launch_axpy(axpy, 5);
  CU_OK(cuModuleUnload(module));
}

namespace {

// A kernel whose second instruction does not exist.
constexpr const char* kWrongPtx =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\t.reg .b32 %r<3>;\n"
    "\tmov.u32 %r1, 1;\n\tfrobnicate.u32 %r2, %r1;\n\tret;\n}\n";

template <typename T>
void* slot(T value) {
  void* whole = nullptr;
  std::memcpy(&whole, &value, sizeof value);
  return whole;
}

template <typename T>
T in_slot(void* const& value) {
  T low;
  std::memcpy(&low, &value, sizeof low);
  return low;
}

}  // namespace

// "CUDA Driver API", Data types, CUjit_option: what the log buffers, their sizes and the wall time are on return.
CASE(error_log_of_a_wrong_module) {
  check::use_context();
  char info[64], error[1024], cut[11];
  std::memset(info, 'x', sizeof info);
  std::memset(cut, 'x', sizeof cut);
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_WALL_TIME};
  void* values[] = {info, slot<unsigned>(sizeof info), error, slot<unsigned>(sizeof error), slot(-1.0f)};
  CUmodule module = nullptr;
  EXPECT_CUDA(cuModuleLoadDataEx(&module, kWrongPtx, 5, options, values), CUDA_ERROR_INVALID_PTX);
  EXPECT(std::string(error).find("frobnicate") != std::string::npos);
  EXPECT(std::memchr(info, 0, sizeof info) != nullptr);
  EXPECT(in_slot<unsigned>(values[1]) <= sizeof info);
  // With the terminator or without it.
  EXPECT(in_slot<unsigned>(values[3]) - std::strlen(error) <= 1);
  EXPECT(in_slot<float>(values[4]) >= 0.0f && in_slot<float>(values[4]) < 60000.0f);
  // A buffer that is too small holds the message's beginning, terminated, and nothing is written beyond it.
  void* small[] = {info, slot<unsigned>(0), cut, slot<unsigned>(sizeof cut - 1), slot(-1.0f)};
  EXPECT_CUDA(cuModuleLoadDataEx(&module, kWrongPtx, 5, options, small), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQUAL(cut[10], 'x');
  EXPECT_EQUAL(std::memchr(cut, 0, 10) != nullptr, true);
  EXPECT_EQUAL(std::strncmp(cut, error, std::strlen(cut)), 0);
  EXPECT(std::strlen(cut) > 0 && in_slot<unsigned>(small[3]) <= 10);
  EXPECT_EQUAL(in_slot<unsigned>(small[1]), 0u);
  CUlibrary library = nullptr;
  void* again[] = {info, slot<unsigned>(sizeof info), error, slot<unsigned>(sizeof error), slot(-1.0f)};
  std::memset(error, 0, sizeof error);
  EXPECT_CUDA(cuLibraryLoadData(&library, kWrongPtx, options, again, 5, nullptr, nullptr, 0), CUDA_ERROR_INVALID_PTX);
  EXPECT(std::string(error).find("frobnicate") != std::string::npos);
}

CASE(options_that_tune_are_taken) {
  check::use_context();
  const std::string image = check::module_bytes();
  CUjit_option options[] = {
      CU_JIT_TARGET,     CU_JIT_OPTIMIZATION_LEVEL,  CU_JIT_FALLBACK_STRATEGY, CU_JIT_GENERATE_LINE_INFO,
      CU_JIT_CACHE_MODE, CU_JIT_GLOBAL_SYMBOL_COUNT, CU_JIT_WALL_TIME};
  void* values[] = {slot<unsigned>(89), slot<unsigned>(3), slot<unsigned>(0), slot<unsigned>(1),
                    slot<unsigned>(0),  slot<unsigned>(0), slot(-1.0f)};
  CUmodule module = nullptr;
  CU_OK(cuModuleLoadDataEx(&module, image.data(), 7, options, values));
  EXPECT(in_slot<float>(values[6]) >= 0.0f);
  CU_OK(cuModuleUnload(module));
}

CASE(options_are_refused) {
  check::use_context();
  const std::string image = check::module_bytes();
  CUmodule module = nullptr;
  for (const int number : {-1, static_cast<int>(CU_JIT_NUM_OPTIONS), 12345}) {
    CUjit_option option = static_cast<CUjit_option>(number);
    void* value = nullptr;
    EXPECT_CUDA(cuModuleLoadDataEx(&module, image.data(), 1, &option, &value), CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_CUDA(cuModuleLoadDataEx(&module, image.data(), 1, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  // Other drivers may be able to place variables; Cupola says that it cannot.
  const char* names[] = {"module_counter"};
  static int place = 40;
  void* addresses[] = {&place};
  CUjit_option symbols[] = {CU_JIT_GLOBAL_SYMBOL_NAMES, CU_JIT_GLOBAL_SYMBOL_ADDRESSES, CU_JIT_GLOBAL_SYMBOL_COUNT};
  void* values[] = {static_cast<void*>(names), static_cast<void*>(addresses), slot<unsigned>(1)};
  const CUresult placed = cuModuleLoadDataEx(&module, image.data(), 3, symbols, values);
  if (check::on_cupola()) EXPECT_CUDA(placed, CUDA_ERROR_NOT_SUPPORTED);
  if (placed == CUDA_SUCCESS) CU_OK(cuModuleUnload(module));
  CUlibrary library = nullptr;
  CUlibraryOption option = static_cast<CUlibraryOption>(999);
  void* value = nullptr;
  EXPECT_CUDA(cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, &option, &value, 1),
              CUDA_ERROR_INVALID_VALUE);
  option = CU_LIBRARY_BINARY_IS_PRESERVED;
  value = slot<int>(1);
  CU_OK(cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, &option, &value, 1));
  CU_OK(cuLibraryUnload(library));
  EXPECT_CUDA(cuLibraryLoadFromFile(&library, check::module_path().c_str(), nullptr, nullptr, 0, &option, &value, 1),
              CUDA_ERROR_INVALID_VALUE);
}

CASE(load_refuses) {
  check::use_context();
  CUmodule module = nullptr;
  EXPECT_CUDA(cuModuleLoad(&module, "/no/such/file.fatbin"), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_CUDA(cuModuleLoad(nullptr, "x"), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  static const char nonsense[256] = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_CUDA(cuModuleLoadData(&module, nonsense), CUDA_ERROR_INVALID_IMAGE);
  CUfunction kernel = nullptr;
  EXPECT_CUDA(cuModuleGetFunction(&kernel, the_module(), "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
  EXPECT_CUDA(cuModuleGetFunction(nullptr, the_module(), "axpy"), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuModuleGetFunction(&kernel, the_module(), nullptr), CUDA_ERROR_INVALID_VALUE);
}

CASE(functions_of_a_module) {
  CUmodule module = the_module();
  unsigned count = 0;
  CU_OK(cuModuleGetFunctionCount(&count, module));
  EXPECT_EQUAL(count, 4u);
  std::vector<CUfunction> functions(4);
  CU_OK(cuModuleEnumerateFunctions(functions.data(), 4, module));
  std::vector<std::string> names;
  for (CUfunction each : functions) {
    const char* name = nullptr;
    CUmodule of = nullptr;
    CU_OK(cuFuncGetName(&name, each));
    names.push_back(name ? name : "");
    CU_OK(cuFuncGetModule(&of, each));
    EXPECT(of == module);
  }
  std::sort(names.begin(), names.end());
  EXPECT(names == (std::vector<std::string>{"axpy", "count_up", "meet", "mixed_parameters"}));
  CUmoduleLoadingMode mode = static_cast<CUmoduleLoadingMode>(0);
  CU_OK(cuModuleGetLoadingMode(&mode));
  EXPECT(mode == CU_MODULE_EAGER_LOADING || mode == CU_MODULE_LAZY_LOADING);
  CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_MAX;
  CU_OK(cuFuncIsLoaded(&state, function("axpy")));
  EXPECT(state == CU_FUNCTION_LOADING_STATE_LOADED || mode == CU_MODULE_LAZY_LOADING);
  CU_OK(cuFuncLoad(function("axpy")));
  CU_OK(cuFuncIsLoaded(&state, function("axpy")));
  EXPECT_EQUAL(state, CU_FUNCTION_LOADING_STATE_LOADED);
}

CASE(variables_of_a_module) {
  CUdeviceptr counter = 0, factor = 0;
  size_t size = 0;
  CU_OK(cuModuleGetGlobal(&counter, &size, the_module(), "module_counter"));
  EXPECT_EQUAL(size, 4u);
  CU_OK(cuModuleGetGlobal(&factor, nullptr, the_module(), "module_factor"));
  float value = 0;
  CU_OK(cuMemcpyDtoH(&value, factor, 4));
  EXPECT_EQUAL(value, 3.0f);
  const int seven = 7;
  CU_OK(cuMemcpyHtoD(counter, &seven, 4));
  CUdeviceptr out = 0;
  CU_OK(cuMemAlloc(&out, 4));
  void* parameters[] = {&out};
  CU_OK(cuLaunchKernel(function("count_up"), 1, 1, 1, 1, 1, 1, 1024, nullptr, parameters, nullptr));
  int result = 0;
  CU_OK(cuMemcpyDtoH(&result, out, 4));
  EXPECT_EQUAL(result, 8);
  CU_OK(cuMemFree(out));
  EXPECT_CUDA(cuModuleGetGlobal(&counter, &size, the_module(), "no_such_variable"), CUDA_ERROR_NOT_FOUND);
}

CASE(two_loads_of_one_image_have_their_own_variables) {
  check::use_context();
  const std::string image = check::module_bytes();
  CUmodule a = nullptr, b = nullptr;
  CU_OK(cuModuleLoadData(&a, image.data()));
  CU_OK(cuModuleLoadData(&b, image.data()));
  CUdeviceptr in_a = 0, in_b = 0;
  CU_OK(cuModuleGetGlobal(&in_a, nullptr, a, "module_counter"));
  CU_OK(cuModuleGetGlobal(&in_b, nullptr, b, "module_counter"));
  EXPECT(in_a != in_b);
  const int five = 5;
  CU_OK(cuMemcpyHtoD(in_a, &five, 4));
  int value = 0;
  CU_OK(cuMemcpyDtoH(&value, in_b, 4));
  EXPECT_EQUAL(value, 40);
  CU_OK(cuModuleUnload(a));
  CU_OK(cuModuleUnload(b));
}

namespace {

struct Mixed {
  char letter;
  double number;
};

double read_double(CUdeviceptr from) {
  double value = 0;
  CU_OK(cuMemcpyDtoH(&value, from, sizeof value));
  return value;
}

}  // namespace

CASE(kernel_parameters) {
  the_module();
  CUdeviceptr out = 0;
  CU_OK(cuMemAlloc(&out, 8));
  char a = 1;
  Mixed mixed = {2, 0.5};
  long long b = 100;
  void* parameters[] = {&out, &a, &mixed, &b};
  CU_OK(cuLaunchKernel(function("mixed_parameters"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_EQUAL(read_double(out), 103.5);
  CU_OK(cuMemFree(out));
}

CASE(packed_parameters) {
  the_module();
  CUdeviceptr out = 0;
  CU_OK(cuMemAlloc(&out, 8));
  struct {
    CUdeviceptr out;
    char a;
    alignas(8) Mixed mixed;
    long long b;
  } packed = {out, 4, {5, 0.25}, 200};
  size_t size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  CU_OK(cuLaunchKernel(function("mixed_parameters"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQUAL(read_double(out), 209.25);
  void* both[] = {&out, &packed.a, &packed.mixed, &packed.b};
  EXPECT_CUDA(cuLaunchKernel(function("mixed_parameters"), 1, 1, 1, 1, 1, 1, 0, nullptr, both, extra),
              CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFree(out));
}

CASE(extended_launch) {
  CUfunction axpy = function("axpy");
  Vectors vectors;
  float a = 6;
  int count = Vectors::kCount;
  void* parameters[] = {&vectors.y, &vectors.x, &a, &count};
  CUlaunchConfig config = {};
  config.gridDimX = 8;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128;
  config.blockDimY = config.blockDimZ = 1;
  CU_OK(cuLaunchKernelEx(&config, axpy, parameters, nullptr));
  vectors.expect(6);
  EXPECT_CUDA(cuLaunchKernelEx(nullptr, axpy, parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
  config.numAttrs = 1;
  EXPECT_CUDA(cuLaunchKernelEx(&config, axpy, parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CASE(launch_refuses) {
  CUfunction axpy = function("axpy");
  CUdeviceptr none = 0;
  float a = 0;
  int count = 0;
  void* parameters[] = {&none, &none, &a, &count};
  EXPECT_CUDA(cuLaunchKernel(axpy, 0, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLaunchKernel(axpy, 1, 1, 1, 1025, 1, 1, 0, nullptr, parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLaunchKernel(axpy, 1, 1, 1, 1, 1, 65, 0, nullptr, parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLaunchKernel(axpy, 1, 1, 1, 1, 1, 1, 100 << 20, nullptr, parameters, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_ERROR_INVALID_HANDLE);
  CU_OK(cuLaunchKernel(axpy, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  CU_OK(cuCtxSynchronize());
}

CASE(cooperative_launch) {
  CUfunction meet = function("meet");
  int fit = 0, multiprocessors = 0;
  CU_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, meet, 1, 0));
  CU_OK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, check::the_device()));
  const unsigned blocks = static_cast<unsigned>(fit * multiprocessors);
  CUdeviceptr arrived = 0;
  CU_OK(cuMemAlloc(&arrived, 4));
  CU_OK(cuMemsetD32(arrived, 0, 1));
  void* parameters[] = {&arrived};
  CU_OK(cuLaunchCooperativeKernel(meet, blocks, 1, 1, 1, 1, 1, 0, nullptr, parameters));
  unsigned value = 0;
  CU_OK(cuMemcpyDtoH(&value, arrived, 4));
  EXPECT_EQUAL(value, blocks);
  EXPECT_CUDA(cuLaunchCooperativeKernel(meet, blocks + 1, 1, 1, 1, 1, 1, 0, nullptr, parameters),
              CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  CU_OK(cuMemFree(arrived));
}

CASE(function_attributes) {
  CUfunction axpy = function("axpy");
  int value = -1;
  CU_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, axpy));
  EXPECT_EQUAL(value, 0);
  CU_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, axpy));
  EXPECT(value > 0 && value <= 1024);
  CU_OK(cuFuncSetAttribute(axpy, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 40000));
  CU_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, axpy));
  EXPECT_EQUAL(value, 40000);
  EXPECT_CUDA(cuFuncSetAttribute(axpy, CU_FUNC_ATTRIBUTE_NUM_REGS, 1), CUDA_ERROR_INVALID_VALUE);  // read only
  EXPECT_CUDA(cuFuncGetAttribute(&value, static_cast<CUfunction_attribute>(999), axpy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, axpy), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuFuncSetCacheConfig(axpy, CU_FUNC_CACHE_PREFER_SHARED));
  CU_OK(cuFuncSetSharedMemConfig(axpy, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE));
  const size_t offsets[] = {0, 8, 16, 32}, sizes[] = {8, 1, 16, 8};
  size_t offset = 99, size = 99;
  for (size_t i = 0; i < 4; ++i) {
    CU_OK(cuFuncGetParamInfo(function("mixed_parameters"), i, &offset, &size));
    EXPECT_EQUAL_AT(static_cast<long long>(i), offset, offsets[i]);
    EXPECT_EQUAL_AT(static_cast<long long>(i), size, sizes[i]);
  }
  EXPECT_CUDA(cuFuncGetParamInfo(function("mixed_parameters"), 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
}

CASE(occupancy) {
  CUfunction axpy = function("axpy");
  int blocks = 0, with_flags = 0, grid = 0, block = 0;
  CU_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, axpy, 256, 0));
  EXPECT(blocks >= 1);
  CU_OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&with_flags, axpy, 256, 0, CU_OCCUPANCY_DEFAULT));
  EXPECT_EQUAL(with_flags, blocks);
  CU_OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, axpy, nullptr, 0, 0));
  EXPECT(grid >= 1 && block >= 32 && block <= 1024);
  CU_OK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, axpy, nullptr, 0, 128, CU_OCCUPANCY_DEFAULT));
  EXPECT(block <= 128);
  size_t one = 0, two = 0;
  int per_multiprocessor = 0;
  CU_OK(cuDeviceGetAttribute(&per_multiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
                             check::the_device()));
  CU_OK(cuOccupancyAvailableDynamicSMemPerBlock(&one, axpy, 1, 256));
  CU_OK(cuOccupancyAvailableDynamicSMemPerBlock(&two, axpy, 2, 256));
  EXPECT(two > 0 && two <= one && one <= static_cast<size_t>(per_multiprocessor));
  EXPECT_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, axpy, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

CASE(libraries) {
  CUcontext context = check::use_context();
  (void)context;
  const std::string image = check::module_bytes();
  CUlibrary from_memory = nullptr, from_file = nullptr, of = nullptr;
  CU_OK(cuLibraryLoadData(&from_memory, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CU_OK(cuLibraryLoadFromFile(&from_file, check::module_path().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  CU_OK(cuLibraryGetKernelCount(&count, from_memory));
  EXPECT_EQUAL(count, 4u);
  std::vector<CUkernel> kernels(4, nullptr);
  CU_OK(cuLibraryEnumerateKernels(kernels.data(), 4, from_memory));
  EXPECT(kernels[0] != nullptr && kernels[3] != nullptr);
  CUkernel axpy = nullptr;
  CU_OK(cuLibraryGetKernel(&axpy, from_memory, "axpy"));
  EXPECT_CUDA(cuLibraryGetKernel(&axpy, from_memory, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
  CU_OK(cuLibraryGetKernel(&axpy, from_memory, "axpy"));
  CU_OK(cuKernelGetLibrary(&of, axpy));
  EXPECT(of == from_memory);
  const char* name = nullptr;
  CU_OK(cuKernelGetName(&name, axpy));
  EXPECT_EQUAL(std::string(name ? name : ""), "axpy");
  size_t offset = 0, size = 0;
  CU_OK(cuKernelGetParamInfo(axpy, 2, &offset, &size));
  EXPECT_EQUAL(offset, 16u);
  EXPECT_EQUAL(size, 4u);
  CUdevice device = check::the_device();
  int value = -1;
  CU_OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 30000, axpy, device));
  CU_OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, axpy, device));
  EXPECT_EQUAL(value, 30000);
  CU_OK(cuKernelSetCacheConfig(axpy, CU_FUNC_CACHE_PREFER_L1, device));
  CUfunction function = nullptr;
  CU_OK(cuKernelGetFunction(&function, axpy));
  launch_axpy(function, 7);
  launch_axpy(reinterpret_cast<CUfunction>(axpy), 8);  // a launch takes a kernel too
  CUmodule module = nullptr;
  CU_OK(cuLibraryGetModule(&module, from_memory));
  EXPECT(module != nullptr);
  CUdeviceptr counter = 0;
  CU_OK(cuLibraryGetGlobal(&counter, &size, from_file, "module_counter"));
  EXPECT_EQUAL(size, 4u);
  CU_OK(cuMemcpyDtoH(&value, counter, 4));
  EXPECT_EQUAL(value, 40);
  CU_OK(cuLibraryUnload(from_memory));
  CU_OK(cuLibraryUnload(from_file));
}

CHECK_MAIN()
