#pragma once

// What the driver API tests share: the primary context of device 0, made current once, and modules from files.

#include <cuda.h>

#include <fstream>
#include <iterator>
#include <string>

#include "api.h"

#define CU_OK(call) EXPECT_CUDA(call, CUDA_SUCCESS)

namespace check {

inline CUdevice the_device() {
  CU_OK(cuInit(0));
  CUdevice device = -1;
  CU_OK(cuDeviceGet(&device, 0));
  return device;
}

/// The primary context of device 0, current for the calling thread.
inline CUcontext use_context() {
  static CUcontext context = [] {
    CUcontext made = nullptr;
    CU_OK(cuDevicePrimaryCtxRetain(&made, the_device()));
    return made;
  }();
  CU_OK(cuCtxSetCurrent(context));
  return context;
}

/// The fat binary of module_kernels.cu, beside this program.
inline std::string module_path() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  std::string program(path, length > 0 ? static_cast<size_t>(length) : 0);
  return program.substr(0, program.rfind('/') + 1) + "module_kernels.fatbin";
}

inline std::string module_bytes() {
  std::ifstream file(module_path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A file that holds a text, as long as the scope lasts.
class TextFile {
 public:
  explicit TextFile(const std::string& text) {
    const int file = mkstemp(&path_[0]);
    if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
    close(file);
  }
  ~TextFile() { unlink(path_.c_str()); }
  TextFile(const TextFile&) = delete;
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_ = "/tmp/cupola_text_XXXXXX";
};

/// The module that a text of PTX is; what the compiler says goes to standard error.
inline CUmodule load_ptx(const std::string& text) {
  use_context();
  char log[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  CU_OK(cuModuleLoadDataEx(&module, text.c_str(), 2, options, values));
  if (!module) std::fprintf(stderr, "%s\n", log);
  return module;
}

}  // namespace check
