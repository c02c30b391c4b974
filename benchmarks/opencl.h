#pragma once

// The few OpenCL functions that the baselines need, from whichever driver the loader finds (OCL_ICD_VENDORS
// chooses). Declarations follow the OpenCL 1.2 specification (https://registry.khronos.org/OpenCL/).

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace bench {

/// Kernels of OpenCL C on the first CPU device; `ready()` is false when there is none here.
class OpenCl {
 public:
  /// Global or local size: x, y, z.
  struct Range {
    std::array<size_t, 3> sizes;
    Range(size_t x, size_t y = 1, size_t z = 1) : sizes{x, y, z} {}
  };

  OpenCl() {
    void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library || !api_.load(library)) return;
    constexpr uint64_t kCpu = 2;
    void* platform = nullptr;
    uint32_t count = 0;
    int status = 0;
    if (api_.clGetPlatformIDs(1, &platform, &count) != 0 || count == 0) return;
    if (api_.clGetDeviceIDs(platform, kCpu, 1, &device_, &count) != 0 || count == 0) return;
    context_ = api_.clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
    queue_ = api_.clCreateCommandQueue(context_, device_, 0, &status);
  }

  bool ready() const { return queue_; }
  /// What failed in the last `use` or a launch since; empty if nothing did.
  const std::string& error() const { return error_; }

  /// The program that launches find their kernels in. It is built at the first launch.
  void use(const char* source) {
    source_ = source;
    kernels_.clear();
    program_ = nullptr;
    error_.clear();
  }

  /// Enqueues a kernel. Arguments are numbers and arrays; those of host memory are used in place.
  template <typename... Arguments>
  void launch(const char* name, Range global, Range local, const Arguments&... arguments) {
    void* kernel = find(name);
    uint32_t index = 0;
    if (kernel) (set(kernel, index++, arguments), ...);
    if (!error_.empty()) return;
    if (const int status = api_.clEnqueueNDRangeKernel(queue_, kernel, 3, nullptr, global.sizes.data(),
                                                       local.sizes.data(), 0, nullptr, nullptr))
      error_ = std::string("launch of ") + name + " fails with " + std::to_string(status);
  }
  void finish() { api_.clFinish(queue_); }

  /// Lets go of the arrays that launches were given; to be called before they are freed.
  void forget_buffers() {
    for (const auto& [data, buffer] : buffers_) api_.clReleaseMemObject(buffer);
    buffers_.clear();
  }

 private:
  struct Api {
    int (*clGetPlatformIDs)(uint32_t, void**, uint32_t*);
    int (*clGetDeviceIDs)(void*, uint64_t, uint32_t, void**, uint32_t*);
    void* (*clCreateContext)(const intptr_t*, uint32_t, void* const*, void*, void*, int*);
    void* (*clCreateCommandQueue)(void*, void*, uint64_t, int*);
    void* (*clCreateProgramWithSource)(void*, uint32_t, const char**, const size_t*, int*);
    int (*clBuildProgram)(void*, uint32_t, void* const*, const char*, void*, void*);
    int (*clGetProgramBuildInfo)(void*, void*, uint32_t, size_t, void*, size_t*);
    void* (*clCreateKernel)(void*, const char*, int*);
    int (*clSetKernelArg)(void*, uint32_t, size_t, const void*);
    void* (*clCreateBuffer)(void*, uint64_t, size_t, void*, int*);
    int (*clReleaseMemObject)(void*);
    int (*clEnqueueNDRangeKernel)(void*, void*, uint32_t, const size_t*, const size_t*, const size_t*, uint32_t, void*,
                                  void*);
    int (*clFinish)(void*);

    bool load(void* library) {
      const auto find = [&]<typename F>(F& function, const char* name) {
        function = reinterpret_cast<F>(dlsym(library, name));
        return function != nullptr;
      };
      return find(clGetPlatformIDs, "clGetPlatformIDs") && find(clGetDeviceIDs, "clGetDeviceIDs") &&
             find(clCreateContext, "clCreateContext") && find(clCreateCommandQueue, "clCreateCommandQueue") &&
             find(clCreateProgramWithSource, "clCreateProgramWithSource") && find(clBuildProgram, "clBuildProgram") &&
             find(clGetProgramBuildInfo, "clGetProgramBuildInfo") && find(clCreateKernel, "clCreateKernel") &&
             find(clSetKernelArg, "clSetKernelArg") && find(clCreateBuffer, "clCreateBuffer") &&
             find(clReleaseMemObject, "clReleaseMemObject") && find(clEnqueueNDRangeKernel, "clEnqueueNDRangeKernel") &&
             find(clFinish, "clFinish");
    }
  };

  void* find(const char* name) {
    if (void* known = kernels_[name]) return known;
    int status = 0;
    if (!program_ && error_.empty()) {
      constexpr uint32_t kBuildLog = 0x1183;
      program_ = api_.clCreateProgramWithSource(context_, 1, &source_, nullptr, &status);
      if (api_.clBuildProgram(program_, 1, &device_, "", nullptr, nullptr) != 0) {
        std::vector<char> log(1 << 16);
        api_.clGetProgramBuildInfo(program_, device_, kBuildLog, log.size() - 1, log.data(), nullptr);
        error_ = "the program does not build: " + std::string(log.data()).substr(0, 600);
      }
    }
    if (!error_.empty()) return nullptr;
    void* kernel = kernels_[name] = api_.clCreateKernel(program_, name, &status);
    if (!kernel) error_ = std::string("there is no kernel ") + name;
    return kernel;
  }

  template <typename T>
  void set(void* kernel, uint32_t index, const T& argument) {
    int status = 0;
    if constexpr (requires { argument.bytes(); }) {
      constexpr uint64_t kReadWriteInPlace = 1 | 8;  // CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR
      void*& buffer = buffers_[argument.data()];
      if (!buffer)
        buffer = api_.clCreateBuffer(context_, kReadWriteInPlace, argument.bytes(), argument.data(), &status);
      if (status == 0) status = api_.clSetKernelArg(kernel, index, sizeof buffer, &buffer);
    } else {
      status = api_.clSetKernelArg(kernel, index, sizeof argument, &argument);
    }
    if (status != 0) error_ = "argument " + std::to_string(index) + " fails with " + std::to_string(status);
  }

  Api api_ = {};
  void *device_ = nullptr, *context_ = nullptr, *queue_ = nullptr, *program_ = nullptr;
  const char* source_ = "";
  std::map<std::string, void*> kernels_;
  std::map<const void*, void*> buffers_;
  std::string error_;
};

}  // namespace bench
