// Initialisation, version, error names, profiler. "CUDA Driver API, Initialization, Version Management, Error Handling,
// Profiler Control".

#include "cuda/driver/api.h"
#include "cuda/driver/other_driver.h"

using namespace cupola;
using namespace cupola::driver;

CUresult cuInit(unsigned int Flags) {
  return api_call_before_init([&]() -> Result<> {
    if (Flags != 0) return fail(ErrorCode::InvalidValue, "Flags are {}; they must be 0", Flags);
    if (Runtime::forked()) return refuse_call();
    warn_of_other_drivers();  // before a device opens one itself
    return Runtime::initialise();
  });
}

CUresult cuDriverGetVersion(int* driverVersion) {
  return api_call_before_init([&]() -> Result<> {
    TRY(given(driverVersion, "driverVersion"));
    *driverVersion = CUDA_VERSION;
    return {};
  });
}

CUresult cuGetErrorName(CUresult error, const char** pStr) {
  return api_call_before_init([&]() -> Result<> {
    TRY(given(pStr, "pStr"));
    *pStr = nullptr;
    switch (error) {
#define CU_ERROR(name, number, text) \
  case name:                         \
    *pStr = #name;                   \
    return {};
#include "cupola/driver_errors.def"
#undef CU_ERROR
    }
    return refuse(ErrorCode::InvalidValue);
  });
}

CUresult cuGetErrorString(CUresult error, const char** pStr) {
  return api_call_before_init([&]() -> Result<> {
    TRY(given(pStr, "pStr"));
    *pStr = nullptr;
    switch (error) {
#define CU_ERROR(name, number, text) \
  case name:                         \
    *pStr = text;                    \
    return {};
#include "cupola/driver_errors.def"
#undef CU_ERROR
    }
    return refuse(ErrorCode::InvalidValue);
  });
}

// No profiler listens yet: the calls are accepted, as they are on a GPU without one.
CUresult cuProfilerStart() {
  return api_call([]() -> Result<> {
    TRY(current_context());
    return {};
  });
}

CUresult cuProfilerStop() {
  return api_call([]() -> Result<> {
    TRY(current_context());
    return {};
  });
}
