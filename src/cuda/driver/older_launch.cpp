// Launches as before CUDA 4: shape, shared memory and parameters are set on the function, one after another. "CUDA
// Driver API, Execution Control [DEPRECATED]".

#include <algorithm>
#include <vector>

#include "cuda/driver/api.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

constexpr size_t kMostBytes = 4096;  ///< of parameters

template <typename Change>
CUresult prepare(CUfunction handle, Change change, const char* call) {
  return api_call(
      [&]() -> Result<> {
        TRY(std::shared_ptr<Function> function, Runtime::get().function(handle));
        Lock lock(function->prepared_mutex);
        return change(function->prepared);
      },
      call);
}

/// Reads what the program gives before any lock is held.
CUresult set_parameter(CUfunction handle, int offset, const void* value, size_t bytes, const char* call) {
  return api_call(
      [&]() -> Result<> {
        TRY(std::shared_ptr<Function> function, Runtime::get().function(handle));
        TRY(given(value, "ptr"));
        if (offset < 0 || static_cast<size_t>(offset) > kMostBytes || bytes > kMostBytes - static_cast<size_t>(offset))
          return fail(ErrorCode::InvalidValue, "{} bytes at offset {} are no parameter", bytes, offset);
        const auto* const begin = static_cast<const std::byte*>(value);
        const std::vector<std::byte> copy(begin, begin + bytes);
        Lock lock(function->prepared_mutex);
        std::vector<std::byte>& parameters = function->prepared.parameters;
        parameters.resize(std::max(parameters.size(), offset + bytes));
        std::ranges::copy(copy, parameters.begin() + offset);
        return {};
      },
      call);
}

CUresult launch(CUfunction handle, int width, int height, CUstream stream) {
  PreparedLaunch prepared;
  if (Runtime::is_usable()) {  // else cuLaunchKernel says so, as it does of no function
    if (const auto function = Runtime::get().function(handle)) {
      Lock lock((*function)->prepared_mutex);
      prepared = (*function)->prepared;
    }
  }
  size_t bytes = prepared.parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, prepared.parameters.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  return cuLaunchKernel(handle, static_cast<unsigned>(width), static_cast<unsigned>(height), 1, prepared.x, prepared.y,
                        prepared.z, prepared.shared_bytes, stream, nullptr, bytes ? extra : nullptr);
}

}  // namespace

CUresult cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z) {
  return prepare(
      hfunc,
      [&](PreparedLaunch& prepared) -> Result<> {
        if (x <= 0 || y <= 0 || z <= 0)
          return fail(ErrorCode::InvalidValue, "a block of {} x {} x {}; each must be at least 1", x, y, z);
        prepared.x = static_cast<unsigned>(x);
        prepared.y = static_cast<unsigned>(y);
        prepared.z = static_cast<unsigned>(z);
        return {};
      },
      __func__);
}

CUresult cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes) {
  return prepare(
      hfunc, [&](PreparedLaunch& prepared) -> Result<> { return prepared.shared_bytes = bytes, Result<>{}; }, __func__);
}

CUresult cuParamSetSize(CUfunction hfunc, unsigned int numbytes) {
  return prepare(
      hfunc,
      [&](PreparedLaunch& prepared) -> Result<> {
        if (numbytes > kMostBytes)
          return fail(ErrorCode::InvalidValue, "{} bytes of parameters; a kernel takes up to {}", numbytes, kMostBytes);
        if (numbytes > prepared.parameters.size()) prepared.parameters.resize(numbytes);
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
