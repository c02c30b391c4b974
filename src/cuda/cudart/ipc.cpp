// Memory of other processes. "CUDA Runtime API, Device Management": cudaIpcGetMemHandle and relatives.

#include <cstring>

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle));

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
