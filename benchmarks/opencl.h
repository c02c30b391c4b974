#pragma once

// The few OpenCL functions that the launch baseline needs, from whichever driver the loader finds (OCL_ICD_VENDORS
// chooses). Declarations follow the OpenCL 1.2 specification (https://registry.khronos.org/OpenCL/).

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

namespace bench {

/// An empty kernel on an OpenCL CPU device; `ready()` is false when there is no OpenCL here.
class OpenClEmptyKernel {
 public:
  OpenClEmptyKernel() {
    void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    auto platforms = load<int (*)(uint32_t, void**, uint32_t*)>(library, "clGetPlatformIDs");
    auto devices = load<int (*)(void*, uint64_t, uint32_t, void**, uint32_t*)>(library, "clGetDeviceIDs");
    auto context_of =
        load<void* (*)(const intptr_t*, uint32_t, void* const*, void*, void*, int*)>(library, "clCreateContext");
    auto queue_of = load<void* (*)(void*, void*, uint64_t, int*)>(library, "clCreateCommandQueue");
    auto program_of =
        load<void* (*)(void*, uint32_t, const char**, const size_t*, int*)>(library, "clCreateProgramWithSource");
    auto build = load<int (*)(void*, uint32_t, void* const*, const char*, void*, void*)>(library, "clBuildProgram");
    auto kernel_of = load<void* (*)(void*, const char*, int*)>(library, "clCreateKernel");
    enqueue_ = load<decltype(enqueue_)>(library, "clEnqueueNDRangeKernel");
    finish_ = load<decltype(finish_)>(library, "clFinish");
    void *platform = nullptr, *device = nullptr;
    uint32_t count = 0;
    constexpr uint64_t kCpu = 2;
    if (!platforms || platforms(1, &platform, &count) != 0 || count == 0) return;
    if (devices(platform, kCpu, 1, &device, &count) != 0 || count == 0) return;
    int status = 0;
    void* context = context_of(nullptr, 1, &device, nullptr, nullptr, &status);
    queue_ = queue_of(context, device, 0, &status);
    const char* source = "__kernel void empty() {}";
    void* program = program_of(context, 1, &source, nullptr, &status);
    if (build(program, 1, &device, "", nullptr, nullptr) != 0) return;
    kernel_ = kernel_of(program, "empty", &status);
  }

  bool ready() const { return kernel_ && queue_; }

  void enqueue() {
    size_t one = 1;
    enqueue_(queue_, kernel_, 1, nullptr, &one, &one, 0, nullptr, nullptr);
  }
  void finish() { finish_(queue_); }

 private:
  template <typename F>
  static F load(void* library, const char* name) {
    return reinterpret_cast<F>(dlsym(library, name));
  }

  int (*enqueue_)(void*, void*, uint32_t, const size_t*, const size_t*, const size_t*, uint32_t, void*,
                  void*) = nullptr;
  int (*finish_)(void*) = nullptr;
  void* queue_ = nullptr;
  void* kernel_ = nullptr;
};

}  // namespace bench
