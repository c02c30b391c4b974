#pragma once

// nvJitLink: links device code at run time. "nvJitLink" (https://docs.nvidia.com/cuda/nvjitlink/).

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum {
  NVJITLINK_SUCCESS = 0,
  NVJITLINK_ERROR_UNRECOGNIZED_OPTION = 1,
  NVJITLINK_ERROR_MISSING_ARCH = 2,
  NVJITLINK_ERROR_INVALID_INPUT = 3,
  NVJITLINK_ERROR_PTX_COMPILE = 4,
  NVJITLINK_ERROR_NVVM_COMPILE = 5,
  NVJITLINK_ERROR_INTERNAL = 6,
  NVJITLINK_ERROR_THREADPOOL = 7,
  NVJITLINK_ERROR_UNRECOGNIZED_INPUT = 8,
  NVJITLINK_ERROR_FINALIZE = 9,
  NVJITLINK_ERROR_NULL_INPUT = 10,
  NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS = 11,
  NVJITLINK_ERROR_INCORRECT_INPUT_TYPE = 12,
  NVJITLINK_ERROR_ARCH_MISMATCH = 13,
  NVJITLINK_ERROR_OUTDATED_LIBRARY = 14,
  NVJITLINK_ERROR_MISSING_FATBIN = 15,
  NVJITLINK_ERROR_UNRECOGNIZED_ARCH = 16,
  NVJITLINK_ERROR_UNSUPPORTED_ARCH = 17,
  NVJITLINK_ERROR_LTO_NOT_ENABLED = 18
} nvJitLinkResult;

typedef enum {
  NVJITLINK_INPUT_NONE = 0,
  NVJITLINK_INPUT_CUBIN = 1,
  NVJITLINK_INPUT_PTX = 2,
  NVJITLINK_INPUT_LTOIR = 3,
  NVJITLINK_INPUT_FATBIN = 4,
  NVJITLINK_INPUT_OBJECT = 5,
  NVJITLINK_INPUT_LIBRARY = 6,
  NVJITLINK_INPUT_INDEX = 7,
  NVJITLINK_INPUT_ANY = 10
} nvJitLinkInputType;

typedef struct nvJitLink* nvJitLinkHandle;

/** Begins a link. docs/nvvm.md lists the options; -arch=sm_NN must be one. The options are read here:
 * NVJITLINK_ERROR_UNRECOGNIZED_OPTION, MISSING_ARCH, UNRECOGNIZED_ARCH, INCOMPATIBLE_OPTIONS (-ptx or compute_NN
 * without -lto); the handle is made even then, for its error log, and is to be destroyed. A handle may be used by one
 * thread at a time. */
nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle* handle, uint32_t numOptions, const char** options);

/** Sets *handle to null. */
nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle* handle);

/** Adds a copy of code: PTX text, what libnvvm and libnvrtc of Cupola give for LTO, a fat binary, an object or a
 * library of cupolac. What it is, is looked at; a type that it cannot have is NVJITLINK_ERROR_INCORRECT_INPUT_TYPE,
 * code of no known kind NVJITLINK_ERROR_UNRECOGNIZED_INPUT where NVJITLINK_INPUT_ANY is said, PTX that cannot be read
 * NVJITLINK_ERROR_PTX_COMPILE, machine code of GPUs NVJITLINK_ERROR_ARCH_MISMATCH, code for LTO without -lto
 * NVJITLINK_ERROR_LTO_NOT_ENABLED. */
nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType inputType, const void* data, size_t size,
                                 const char* name);
nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType inputType, const char* fileName);

/** Links what was added. NVJITLINK_ERROR_FINALIZE; the error log says why. */
nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle);

/** The linked code, as a fat binary of Cupola's, which cuModuleLoadData and cuLibraryLoadData take. */
nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t* size);
nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void* cubin);

/** With -lto -ptx: the linked code as text, with its final zero. */
nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t* size);
nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char* ptx);

/** Bytes of the logs, with the final zero. */
nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t* size);
nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char* log);
nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t* size);
nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char* log);

/** 13.0. */
nvJitLinkResult nvJitLinkVersion(unsigned int* major, unsigned int* minor);

#if defined(__cplusplus)
}
#endif
