// A .metallib as a CUDA module: what the metal device makes of module_kernels.metallib, which lies beside this program,
// and what is said of others, and by other devices. Oracle: as tests/api/driver_modules.cu, which loads the same code
// as a fat binary; docs/metallib.md for the refusals. The cases of the metal device, and those of others, are named
// when this program is run.

#include <cstdint>
#include <cstring>
#include <vector>

#include "../api/driver.h"

namespace {

std::string library_path() {
  const std::string fatbin = check::module_path();
  return fatbin.substr(0, fatbin.rfind('.')) + ".metallib";
}

std::string library_bytes() {
  std::ifstream file(library_path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What a load that fails is and says, in the error log's last line.
struct Answer {
  CUresult status;
  std::string words;
};
Answer load(const std::string& bytes) {
  CUlogIterator at = 0;
  CU_OK(cuLogsCurrent(&at, 0));
  CUmodule module = nullptr;
  const CUresult status = cuModuleLoadData(&module, bytes.data());
  if (status == CUDA_SUCCESS) CU_OK(cuModuleUnload(module));
  std::vector<char> buffer(25600);
  size_t size = buffer.size();
  CU_OK(cuLogsDumpToMemory(&at, buffer.data(), &size, 0));
  return {status, {buffer.data(), size}};
}

bool is_one_line_with(const std::string& words, const char* wanted) {
  return words.find(wanted) != words.npos && words.find('\n') == words.size() - 1;
}

/// y = 1000 + 3 * a * x on 100 floats.
void expect_axpy(CUfunction axpy) {
  constexpr int kCount = 100;
  std::vector<float> x(kCount), y(kCount, 1000.0f);
  for (int i = 0; i < kCount; ++i) x[static_cast<size_t>(i)] = static_cast<float>(i);
  CUdeviceptr x_place = 0, y_place = 0;
  CU_OK(cuMemAlloc(&x_place, kCount * 4));
  CU_OK(cuMemAlloc(&y_place, kCount * 4));
  CU_OK(cuMemcpyHtoD(x_place, x.data(), kCount * 4));
  CU_OK(cuMemcpyHtoD(y_place, y.data(), kCount * 4));
  float a = 2;
  int count = kCount;
  void* parameters[] = {&y_place, &x_place, &a, &count};
  CU_OK(cuLaunchKernel(axpy, 4, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
  CU_OK(cuMemcpyDtoH(y.data(), y_place, kCount * 4));
  for (int i = 0; i < kCount; ++i)
    EXPECT_EQUAL_AT(i, y[static_cast<size_t>(i)], 1000.0f + 6.0f * static_cast<float>(i));
  CU_OK(cuMemFree(x_place));
  CU_OK(cuMemFree(y_place));
}

/// Kernels, variables and shared memory of a loaded module.
void expect_all(CUmodule module) {
  CUfunction function = nullptr;
  CU_OK(cuModuleGetFunction(&function, module, "axpy"));
  expect_axpy(function);
  size_t offset = 0, size = 0;
  CU_OK(cuFuncGetParamInfo(function, 2, &offset, &size));
  EXPECT_EQUAL(offset, 16u);
  EXPECT_EQUAL(size, 4u);

  CUdeviceptr counter = 0, out = 0;
  CU_OK(cuModuleGetGlobal(&counter, &size, module, "module_counter"));
  EXPECT_EQUAL(size, 4u);
  CU_OK(cuMemAlloc(&out, 4));
  CU_OK(cuModuleGetFunction(&function, module, "count_up"));
  void* parameters[] = {&out};
  CU_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 16, nullptr, parameters, nullptr));
  int counted[2] = {};
  CU_OK(cuMemcpyDtoH(&counted[0], out, 4));
  CU_OK(cuMemcpyDtoH(&counted[1], counter, 4));
  EXPECT_EQUAL(counted[0], 41);
  EXPECT_EQUAL(counted[1], 41);
  CU_OK(cuMemFree(out));
  EXPECT_CUDA(cuModuleGetFunction(&function, module, "no_kernel"), CUDA_ERROR_NOT_FOUND);
}

}  // namespace

CASE(from_memory) {
  check::use_context();
  const std::string bytes = library_bytes();
  CUmodule module = nullptr;
  CU_OK(cuModuleLoadData(&module, bytes.data()));
  expect_all(module);
  CU_OK(cuModuleUnload(module));
  CU_OK(cuModuleLoadDataEx(&module, bytes.data(), 0, nullptr, nullptr));
  expect_all(module);
  CU_OK(cuModuleUnload(module));
}

CASE(from_a_file) {
  check::use_context();
  CUmodule module = nullptr;
  CU_OK(cuModuleLoad(&module, library_path().c_str()));
  expect_all(module);
  CU_OK(cuModuleUnload(module));
}

CASE(as_a_library) {
  check::use_context();
  const std::string bytes = library_bytes();
  for (const bool from_file : {false, true}) {
    CUlibrary library = nullptr;
    if (from_file)
      CU_OK(cuLibraryLoadFromFile(&library, library_path().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    else
      CU_OK(cuLibraryLoadData(&library, bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    CUkernel kernel = nullptr;
    CUfunction function = nullptr;
    CU_OK(cuLibraryGetKernel(&kernel, library, "axpy"));
    CU_OK(cuKernelGetFunction(&function, kernel));
    expect_axpy(function);
    CU_OK(cuLibraryUnload(library));
  }
}

CASE(other_devices_say_whose_it_is) {
  check::use_context();
  const Answer answer = load(library_bytes());
  EXPECT_EQUAL(answer.status, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT(is_one_line_with(answer.words, "this is a .metallib, which only the metal device runs"));
}

CASE(a_cut_file) {
  check::use_context();
  const std::string bytes = library_bytes();
  for (const size_t size : {size_t{50}, size_t{88}, bytes.size() / 2, bytes.size() - 1}) {
    const check::TextFile cut(bytes.substr(0, size));
    CUmodule module = nullptr;
    EXPECT_CUDA(cuModuleLoad(&module, cut.path()), CUDA_ERROR_INVALID_IMAGE);
  }
}

// Flipping the bits of each part; HASH tells of the modules.
CASE(damaged_bytes) {
  check::use_context();
  std::string bytes = library_bytes();
  size_t refused = 0;
  for (size_t at = 24; at < bytes.size(); at += 97) {
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    const Answer answer = load(bytes);
    if (answer.status != CUDA_SUCCESS) {
      ++refused;
      EXPECT_EQUAL(answer.status, CUDA_ERROR_INVALID_IMAGE);
      EXPECT(is_one_line_with(answer.words, "metallib"));
    }
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
  }
  EXPECT(refused > bytes.size() / 97 - 10);  // a bit of the UUID means nothing
}
CHECK_MAIN()
