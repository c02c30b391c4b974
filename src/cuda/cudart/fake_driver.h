#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "cuda/cudart/driver.h"

namespace cupola::cudart {

/// A driver of one device that records what the runtime asks of it. Only what the tests reach is filled in.
struct FakeDriver {
  Driver table, per_thread_table;  ///< the second: launches go to stream 2 where none is named
  int modules_loaded = 0;
  CUresult next_status = CUDA_SUCCESS;  ///< what cuCtxSynchronize returns
  CUcontext current = nullptr;
  unsigned long long context_id = next_id();  ///< another one after each end of the primary context
  int retained = 0;                           ///< users of the primary context
  bool active = false;                        ///< whether it lives
  std::vector<std::string> launches;          ///< "kernel grid block shared"
  unsigned char variable[16] = {};            ///< the one variable, "counter"
  int kernel_tag = 0;                         ///< its address is the handle of the one kernel, "kernel"
  std::vector<const void*> images;            ///< what cuModuleLoadData was given

  static unsigned long long next_id() {
    static unsigned long long last = 0;
    return ++last;
  }

  static FakeDriver& get() {
    static auto* const instance = new FakeDriver;
    return *instance;
  }

  void end() {
    active = false;
    context_id = next_id();
  }

  /// A fresh driver in place of the last one.
  static FakeDriver& install() {
    FakeDriver& fake = get();
    fake = FakeDriver{};
    fake.fill();
    use_driver(&fake.table, &fake.per_thread_table);
    return fake;
  }

  void fill() {
    table.cuDeviceGetCount = [](int* count) { return *count = 1, CUDA_SUCCESS; };
    table.cuDeviceGet = [](CUdevice* device, int ordinal) {
      *device = ordinal;
      return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    };
    table.cuDevicePrimaryCtxRetain = [](CUcontext* context, CUdevice) {
      *context = reinterpret_cast<CUcontext>(&get());
      ++get().retained;
      get().active = true;
      return CUDA_SUCCESS;
    };
    table.cuDevicePrimaryCtxRelease = [](CUdevice) {
      if (--get().retained == 0 && get().active) get().end();
      return CUDA_SUCCESS;
    };
    table.cuDevicePrimaryCtxReset = [](CUdevice) { return get().end(), CUDA_SUCCESS; };
    table.cuDevicePrimaryCtxGetState = [](CUdevice, unsigned*, int* active) {
      return *active = get().active, CUDA_SUCCESS;
    };
    table.cuCtxGetId = [](CUcontext context, unsigned long long* id) {
      const CUcontext asked = context ? context : get().current;
      if (!asked) return CUDA_ERROR_INVALID_CONTEXT;
      *id = get().context_id + reinterpret_cast<uintptr_t>(asked);
      return CUDA_SUCCESS;
    };
    table.cuCtxGetCurrent = [](CUcontext* context) { return *context = get().current, CUDA_SUCCESS; };
    table.cuCtxSetCurrent = [](CUcontext context) { return get().current = context, CUDA_SUCCESS; };
    table.cuCtxGetDevice = [](CUdevice* device) { return *device = 0, CUDA_SUCCESS; };
    table.cuCtxSynchronize = [] { return get().next_status; };
    table.cuModuleLoadData = [](CUmodule* module, const void* image) {
      FakeDriver& fake = get();
      fake.images.push_back(image);
      *module = reinterpret_cast<CUmodule>(++fake.modules_loaded);
      return CUDA_SUCCESS;
    };
    table.cuModuleGetFunction = [](CUfunction* function, CUmodule, const char* name) {
      if (std::strcmp(name, "kernel") != 0) return CUDA_ERROR_NOT_FOUND;
      *function = reinterpret_cast<CUfunction>(&get().kernel_tag);
      return CUDA_SUCCESS;
    };
    table.cuModuleGetGlobal = [](CUdeviceptr* address, size_t* bytes, CUmodule, const char* name) {
      if (std::strcmp(name, "counter") != 0) return CUDA_ERROR_NOT_FOUND;
      *address = reinterpret_cast<CUdeviceptr>(get().variable);
      *bytes = sizeof get().variable;
      return CUDA_SUCCESS;
    };
    table.cuMemcpyHtoD = [](CUdeviceptr dst, const void* src, size_t bytes) {
      std::memcpy(reinterpret_cast<void*>(dst), src, bytes);
      return CUDA_SUCCESS;
    };
    table.cuMemcpyDtoH = [](void* dst, CUdeviceptr src, size_t bytes) {
      std::memcpy(dst, reinterpret_cast<const void*>(src), bytes);
      return CUDA_SUCCESS;
    };
    table.cuLaunchKernel = [](CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                              unsigned bz, unsigned shared, CUstream stream, void**, void**) {
      FakeDriver& fake = get();
      if (function != reinterpret_cast<CUfunction>(&fake.kernel_tag)) return CUDA_ERROR_INVALID_HANDLE;
      fake.launches.push_back(
          formatted("{}x{}x{} {}x{}x{} {} {}", gx, gy, gz, bx, by, bz, shared, reinterpret_cast<uintptr_t>(stream)));
      return CUDA_SUCCESS;
    };
    per_thread_table = table;
    per_thread_table.cuLaunchKernel = [](CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                         unsigned by, unsigned bz, unsigned shared, CUstream stream, void** parameters,
                                         void** extra) {
      return get().table.cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared,
                                        stream ? stream : CU_STREAM_PER_THREAD, parameters, extra);
    };
  }
};

}  // namespace cupola::cudart
