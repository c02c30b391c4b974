#pragma once

#include <cuda.h>
#include <gtest/gtest.h>
#include <nvrtc.h>

#include <cstring>
#include <string>
#include <vector>

// What the tests in this folder share: a source compiled by NVRTC, loaded by the driver and launched.

namespace nvrtc_test {

/// The primary context of device 0, current for this thread.
inline void use_device() {
  CUcontext context = nullptr;
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
}

enum class Form { Ptx, Cubin };

/// A module; its names are those of the expressions it was made with.
class Loaded {
 public:
  Loaded(const std::string& source, const std::vector<const char*>& names, std::vector<const char*> options = {},
         Form form = Form::Cubin) {
    use_device();
    EXPECT_EQ(nvrtcCreateProgram(&program_, source.c_str(), "program.cu", 0, nullptr, nullptr), NVRTC_SUCCESS);
    for (const char* name : names) EXPECT_EQ(nvrtcAddNameExpression(program_, name), NVRTC_SUCCESS);
    options.push_back("-arch=sm_89");
    const nvrtcResult result = nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data());
    size_t size = 0;
    EXPECT_EQ(nvrtcGetProgramLogSize(program_, &size), NVRTC_SUCCESS);
    log.resize(size);
    EXPECT_EQ(nvrtcGetProgramLog(program_, log.data()), NVRTC_SUCCESS);
    EXPECT_EQ(result, NVRTC_SUCCESS) << log;
    if (result == NVRTC_SUCCESS) load(form);
  }
  ~Loaded() {
    if (module_) cuModuleUnload(module_);  // fails after a fault
    nvrtcDestroyProgram(&program_);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  const char* lowered(const char* name) const {
    const char* lowered = "";
    EXPECT_EQ(nvrtcGetLoweredName(program_, name, &lowered), NVRTC_SUCCESS) << name;
    return lowered;
  }

  /// Copies a value into a variable.
  template <typename T>
  void set(const char* name, const T& value) const {
    set_symbol(lowered(name), value);
  }
  template <typename T>
  void set_symbol(const char* symbol, const T& value) const {
    CUdeviceptr address = 0;
    size_t bytes = 0;
    ASSERT_EQ(cuModuleGetGlobal(&address, &bytes, module_, symbol), CUDA_SUCCESS) << symbol;
    ASSERT_EQ(bytes, sizeof value);
    ASSERT_EQ(cuMemcpyHtoD(address, &value, sizeof value), CUDA_SUCCESS);
  }

  /// Launches and waits.
  template <typename... Arguments>
  CUresult launch(const char* name, unsigned grid, unsigned block, unsigned shared, Arguments... arguments) const {
    CUfunction kernel = nullptr;
    if (const CUresult result = cuModuleGetFunction(&kernel, module_, lowered(name))) return result;
    void* parameters[] = {&arguments..., nullptr};
    if (const CUresult result = cuLaunchKernel(kernel, grid, 1, 1, block, 1, 1, shared, nullptr, parameters, nullptr))
      return result;
    return cuCtxSynchronize();
  }

  std::string log;

 private:
  void load(Form form) {
    size_t size = 0;
    ASSERT_EQ(form == Form::Ptx ? nvrtcGetPTXSize(program_, &size) : nvrtcGetCUBINSize(program_, &size), NVRTC_SUCCESS);
    std::vector<char> code(size);
    ASSERT_EQ(form == Form::Ptx ? nvrtcGetPTX(program_, code.data()) : nvrtcGetCUBIN(program_, code.data()),
              NVRTC_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&module_, code.data()), CUDA_SUCCESS);
  }

  nvrtcProgram program_ = nullptr;
  CUmodule module_ = nullptr;
};

/// Device memory with values in it.
template <typename T>
class Buffer {
 public:
  explicit Buffer(const std::vector<T>& values) : count_(values.size()) {
    EXPECT_EQ(cuMemAlloc(&address, count_ * sizeof(T)), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD(address, values.data(), count_ * sizeof(T)), CUDA_SUCCESS);
  }
  ~Buffer() { cuMemFree(address); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::vector<T> values() const {
    std::vector<T> result(count_);
    EXPECT_EQ(cuMemcpyDtoH(result.data(), address, count_ * sizeof(T)), CUDA_SUCCESS);
    return result;
  }
  CUdeviceptr address = 0;

 private:
  size_t count_;
};

}  // namespace nvrtc_test
