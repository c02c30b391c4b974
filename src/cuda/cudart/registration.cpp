// What compiled programs call: registration before main, and the launch configuration between <<< and >>>.

#include <new>

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"
#include "cuda/cudart/registry.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

Fatbin* fatbin_of(void** handle) {
  return reinterpret_cast<Fatbin*>(handle);
}

struct CallConfiguration {
  dim3 grid, block;
  size_t shared_bytes;
  CUstream_st* stream;
};

/// The thread's configurations that no stub has taken yet: a kernel's arguments may themselves launch kernels. Has no
/// destructor, so that kernels may be launched while the thread or the process ends.
struct Configurations {
  static constexpr size_t kDepth = 32;
  alignas(CallConfiguration) unsigned char entries[kDepth][sizeof(CallConfiguration)];
  size_t count;
};
constinit thread_local Configurations pending{};

}  // namespace

void** __cudaRegisterFatBinary(void* fatCubin) {
  return reinterpret_cast<void**>(Registry::get().add_fatbin(*static_cast<const FatbinWrapper*>(fatCubin)));
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** fatCubinHandle) {
  Registry::get().remove_fatbin(fatbin_of(fatCubinHandle));
}

void __cudaRegisterFunction(void** fatCubinHandle, const char* hostFun, char* deviceFun, const char* deviceName, int,
                            uint3*, uint3*, dim3*, dim3*, int*) {
  Registry::get().add_function(fatbin_of(fatCubinHandle), hostFun, deviceName ? deviceName : deviceFun);
}

void __cudaRegisterVar(void** fatCubinHandle, char* hostVar, char* deviceAddress, const char* deviceName, int, size_t,
                       int, int) {
  Registry::get().add_variable(fatbin_of(fatCubinHandle), hostVar, deviceName ? deviceName : deviceAddress);
}

void __cudaRegisterManagedVar(void** fatCubinHandle, void** hostVarPtrAddress, char* deviceAddress,
                              const char* deviceName, int, size_t, int, int) {
  Registry::get().add_managed_variable(fatbin_of(fatCubinHandle), hostVarPtrAddress,
                                       deviceName ? deviceName : deviceAddress);
}

char __cudaInitModule(void** fatCubinHandle) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
           return Registry::get().load(cu, context, fatbin_of(fatCubinHandle));
         }) == cudaSuccess;
}

unsigned int __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, CUstream_st* stream) {
  if (pending.count == Configurations::kDepth) {
    finish("__cudaPushCallConfiguration", fail(code(cudaErrorLaunchOutOfResources),
                                               "{} launches of this thread wait for their arguments; is one of them "
                                               "left by an exception?",
                                               pending.count));
    return 1;  // the compiler's code then does not call the stub
  }
  new (pending.entries[pending.count++]) CallConfiguration{gridDim, blockDim, sharedMem, stream};
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* gridDim, dim3* blockDim, size_t* sharedMem, void* stream) {
  if (pending.count == 0) {
    return finish("__cudaPopCallConfiguration",
                  fail(code(cudaErrorMissingConfiguration), "a kernel's stub was called without <<<grid, block>>>"));
  }
  const auto& top = *std::launder(reinterpret_cast<CallConfiguration*>(pending.entries[--pending.count]));
  *gridDim = top.grid;
  *blockDim = top.block;
  *sharedMem = top.shared_bytes;
  *static_cast<CUstream_st**>(stream) = top.stream;
  return cudaSuccess;
}

// Compiled code asks once a kernel and keeps the answer for the life of the process, across resets of the device. So
// the answer is the stub's own address, which launches take as well.
cudaError_t __cudaGetKernel(cudaKernel_t* kernelPtr, const void* entryFuncAddr) {
  if (!kernelPtr || !Registry::get().has_function(entryFuncAddr)) return cudaGetKernel(kernelPtr, entryFuncAddr);
  *kernelPtr = reinterpret_cast<cudaKernel_t>(const_cast<void*>(entryFuncAddr));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                               cudaStream_t stream) {
  return cudaLaunchKernel(kernel, gridDim, blockDim, args, sharedMem, stream);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                                    cudaStream_t stream) {
  return cudaLaunchKernel_ptsz(kernel, gridDim, blockDim, args, sharedMem, stream);
}
