// Memory and events of other processes. "CUDA Runtime API, Device Management": cudaIpcGetMemHandle and relatives.

#include <cstring>

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle));
static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle));

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* devPtr) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuIpcGetMemHandle(reinterpret_cast<CUipcMemHandle*>(handle), address(devPtr)));
  });
}

cudaError_t cudaIpcOpenMemHandle(void** devPtr, cudaIpcMemHandle_t handle, unsigned int flags) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(devPtr, "devPtr"));
    CUipcMemHandle same;
    std::memcpy(&same, &handle, sizeof same);
    CUdeviceptr block = 0;
    TRY(check(cu.cuIpcOpenMemHandle(&block, same, flags)));
    *devPtr = pointer(block);
    return {};
  });
}

cudaError_t cudaIpcCloseMemHandle(void* devPtr) {
  return with_context([&](const Driver& cu) { return check(cu.cuIpcCloseMemHandle(address(devPtr))); });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuIpcGetEventHandle(reinterpret_cast<CUipcEventHandle*>(handle), event));
  });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  return with_context([&](const Driver& cu) {
    CUipcEventHandle same;
    std::memcpy(&same, &handle, sizeof same);
    return check(cu.cuIpcOpenEventHandle(event, same));
  });
}
