// Launches as before CUDA 4: shape, shared memory and parameters are set on the function, one after another. "CUDA
// Driver API, Execution Control [DEPRECATED]".

#include <algorithm>
#include <cstring>
#include <map>

#include "cuda/driver/api.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

struct PreparedLaunch {
  unsigned x = 1, y = 1, z = 1, shared = 0;
  std::vector<std::byte> parameters;
  size_t size = 0;
};

struct Table {
  Mutex mutex;
  std::map<CUfunction, PreparedLaunch> prepared GUARDED_BY(mutex);
};

Table& table() {
  static auto* const instance = new Table;  // leaked: used after static destructors
  return *instance;
}

constexpr size_t kMostBytes = 4096;  ///< of parameters

template <typename Change>
CUresult prepare(CUfunction function, Change change, const char* call) {
  return api_call(
      [&]() -> Result<> {
        TRY(Runtime::get().function(function));
        Table& all = table();
        Lock lock(all.mutex);
        return change(all.prepared[function]);
      },
      call);
}

CUresult set_parameter(CUfunction function, int offset, const void* value, size_t bytes, const char* call) {
  return prepare(
      function,
      [&](PreparedLaunch& prepared) -> Result<> {
        TRY(given(value, "ptr"));
        if (offset < 0 || static_cast<size_t>(offset) > kMostBytes || bytes > kMostBytes - static_cast<size_t>(offset))
          return fail(ErrorCode::InvalidValue, "{} bytes at offset {} are no parameter", bytes, offset);
        const size_t end = static_cast<size_t>(offset) + bytes;
        prepared.parameters.resize(std::max(prepared.parameters.size(), end));
        std::memcpy(prepared.parameters.data() + offset, value, bytes);
        return {};
      },
      call);
}

CUresult launch(CUfunction function, int width, int height, CUstream stream) {
  PreparedLaunch prepared;
  {
    Table& all = table();
    Lock lock(all.mutex);
    prepared = all.prepared[function];
  }
  prepared.parameters.resize(std::max(prepared.parameters.size(), prepared.size));
  size_t bytes = prepared.parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, prepared.parameters.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  return cuLaunchKernel(function, static_cast<unsigned>(width), static_cast<unsigned>(height), 1, prepared.x,
                        prepared.y, prepared.z, prepared.shared, stream, nullptr, bytes ? extra : nullptr);
}

}  // namespace

CUresult cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z) {
  return prepare(
      hfunc,
      [&](PreparedLaunch& prepared) -> Result<> {
        if (x <= 0 || y <= 0 || z <= 0) return fail(ErrorCode::InvalidValue, "a block of {} x {} x {}", x, y, z);
        prepared.x = static_cast<unsigned>(x);
        prepared.y = static_cast<unsigned>(y);
        prepared.z = static_cast<unsigned>(z);
        return {};
      },
      __func__);
}

CUresult cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes) {
  return prepare(
      hfunc, [&](PreparedLaunch& prepared) -> Result<> { return prepared.shared = bytes, Result<>{}; }, __func__);
}

CUresult cuParamSetSize(CUfunction hfunc, unsigned int numbytes) {
  return prepare(
      hfunc,
      [&](PreparedLaunch& prepared) -> Result<> {
        if (numbytes > kMostBytes) return fail(ErrorCode::InvalidValue, "{} bytes of parameters", numbytes);
        prepared.size = numbytes;
        return {};
      },
      __func__);
}

CUresult cuParamSeti(CUfunction hfunc, int offset, unsigned int value) {
  return set_parameter(hfunc, offset, &value, sizeof value, __func__);
}

CUresult cuParamSetf(CUfunction hfunc, int offset, float value) {
  return set_parameter(hfunc, offset, &value, sizeof value, __func__);
}

CUresult cuParamSetv(CUfunction hfunc, int offset, void* ptr, unsigned int numbytes) {
  return set_parameter(hfunc, offset, ptr, numbytes, __func__);
}

CUresult cuLaunch(CUfunction f) {
  return forwarded([&] { return launch(f, 1, 1, nullptr); });
}

CUresult cuLaunchGrid(CUfunction f, int grid_width, int grid_height) {
  return forwarded([&] { return launch(f, grid_width, grid_height, nullptr); });
}

CUresult cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream) {
  return forwarded([&] { return launch(f, grid_width, grid_height, hStream); });
}
