// Libraries of device code, loaded by the program. "CUDA Runtime API, Library Management".

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"
#include "cuda/cudart/registry.h"

using namespace cupola;
using namespace cupola::cudart;

// Options have the driver's numbers under other names.
static_assert(cudaJitMaxRegisters == static_cast<int>(CU_JIT_MAX_REGISTERS));
static_assert(cudaJitErrorLogBuffer == static_cast<int>(CU_JIT_ERROR_LOG_BUFFER));
static_assert(cudaJitOverrideDirectiveValues == static_cast<int>(CU_JIT_OVERRIDE_DIRECTIVE_VALUES));
static_assert(cudaLibraryBinaryIsPreserved == static_cast<int>(CU_LIBRARY_BINARY_IS_PRESERVED));

namespace {

/// What the driver's `find` says of a variable.
template <typename Find>
Result<> variable(Find find, void** address, size_t* bytes, cudaLibrary_t library, const char* name) {
  CUdeviceptr found = 0;
  TRY(check(find(&found, bytes, library, name)));
  if (address) *address = pointer(found);
  return {};
}

}  // namespace

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* jitOptions,
                                void** jitOptionsValues, unsigned int numJitOptions, cudaLibraryOption* libraryOptions,
                                void** libraryOptionValues, unsigned int numLibraryOptions) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuLibraryLoadData(library, code, reinterpret_cast<CUjit_option*>(jitOptions), jitOptionsValues,
                                      numJitOptions, reinterpret_cast<CUlibraryOption*>(libraryOptions),
                                      libraryOptionValues, numLibraryOptions));
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* fileName, cudaJitOption* jitOptions,
                                    void** jitOptionsValues, unsigned int numJitOptions,
                                    cudaLibraryOption* libraryOptions, void** libraryOptionValues,
                                    unsigned int numLibraryOptions) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuLibraryLoadFromFile(
        library, fileName, reinterpret_cast<CUjit_option*>(jitOptions), jitOptionsValues, numJitOptions,
        reinterpret_cast<CUlibraryOption*>(libraryOptions), libraryOptionValues, numLibraryOptions));
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return with_context([&](const Driver& cu) {
    Registry::get().forget_library(library);  // before its handles may be another's
    return check(cu.cuLibraryUnload(library));
  });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* pKernel, cudaLibrary_t library, const char* name) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pKernel, "pKernel"));
    TRY(check(cu.cuLibraryGetKernel(pKernel, library, name)));
    Registry::get().accept(*pKernel, library);
    return {};
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t lib) {
  return with_context([&](const Driver& cu) { return check(cu.cuLibraryGetKernelCount(count, lib)); });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned int numKernels, cudaLibrary_t lib) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(kernels, "kernels"));
    unsigned there = 0;
    TRY(check(cu.cuLibraryGetKernelCount(&there, lib)));
    TRY(check(cu.cuLibraryEnumerateKernels(kernels, numKernels, lib)));
    for (unsigned i = 0; i < numKernels && i < there; ++i) Registry::get().accept(kernels[i], lib);
    return {};
  });
}

cudaError_t cudaLibraryGetGlobal(void** dptr, size_t* bytes, cudaLibrary_t library, const char* name) {
  return with_context([&](const Driver& cu) { return variable(cu.cuLibraryGetGlobal, dptr, bytes, library, name); });
}

cudaError_t cudaLibraryGetManaged(void** dptr, size_t* bytes, cudaLibrary_t library, const char* name) {
  return with_context([&](const Driver& cu) { return variable(cu.cuLibraryGetManaged, dptr, bytes, library, name); });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attr, int value, int device) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuKernelSetAttribute(static_cast<CUfunction_attribute>(attr), value, kernel, device));
  });
}
