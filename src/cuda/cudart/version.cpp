// Versions, the profiler's switches, and driver entry points by name.

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

cudaError_t cudaRuntimeGetVersion(int* runtimeVersion) {
  return without_driver([&]() -> Result<> {
    TRY(given(runtimeVersion, "runtimeVersion"));
    *runtimeVersion = CUDART_VERSION;
    return {};
  });
}

cudaError_t cudaDriverGetVersion(int* driverVersion) {
  return without_driver([&]() -> Result<> {
    TRY(given(driverVersion, "driverVersion"));
    *driverVersion = 0;  // documented: 0 when there is no driver
    auto cu = driver();
    if (!cu) return {};
    return check((*cu)->cuDriverGetVersion(driverVersion));
  });
}

// They switch an attached profiler on and off; there is none.
cudaError_t cudaProfilerStart(void) {
  return with_context([](const Driver&) -> Result<> { return {}; });
}

cudaError_t cudaProfilerStop(void) {
  return with_context([](const Driver&) -> Result<> { return {}; });
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** funcPtr, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* driverStatus) {
  return forwarded(
      [&] { return cudaGetDriverEntryPointByVersion(symbol, funcPtr, CUDART_VERSION, flags, driverStatus); });
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** funcPtr, unsigned int cudaVersion,
                                             unsigned long long flags, cudaDriverEntryPointQueryResult* driverStatus) {
  return with_driver([&](const Driver& cu) -> Result<> {
    TRY(given(symbol, "symbol"));
    TRY(given(funcPtr, "funcPtr"));
    *funcPtr = nullptr;
    if (flags == cudaEnableDefault && PerThreadStream::in_force()) flags = cudaEnablePerThreadDefaultStream;
    // A name that is not there is told through driverStatus alone where there is one.
    CUdriverProcAddressQueryResult found{};
    TRY(check(
        cu.cuGetProcAddress(symbol, funcPtr, static_cast<int>(cudaVersion), flags, driverStatus ? &found : nullptr)));
    if (driverStatus) *driverStatus = static_cast<cudaDriverEntryPointQueryResult>(found);
    return {};
  });
}
