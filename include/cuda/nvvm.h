#pragma once

// libNVVM: NVVM IR to PTX. "libNVVM API" (https://docs.nvidia.com/cuda/libnvvm-api/).

#include <stddef.h>

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum {
  NVVM_SUCCESS = 0,
  NVVM_ERROR_OUT_OF_MEMORY = 1,
  NVVM_ERROR_PROGRAM_CREATION_FAILURE = 2,
  NVVM_ERROR_IR_VERSION_MISMATCH = 3,
  NVVM_ERROR_INVALID_INPUT = 4,
  NVVM_ERROR_INVALID_PROGRAM = 5,
  NVVM_ERROR_INVALID_IR = 6,
  NVVM_ERROR_INVALID_OPTION = 7,
  NVVM_ERROR_NO_MODULE_IN_PROGRAM = 8,
  NVVM_ERROR_COMPILATION = 9,
  NVVM_ERROR_CANCELLED = 10
} nvvmResult;

typedef struct _nvvmProgram* nvvmProgram;

/** The enumerator's name; a word of its own for other numbers. The text is the library's. Any thread. */
const char* nvvmGetErrorString(nvvmResult result);

/** The library's version: 2.0. NVVM_ERROR_INVALID_INPUT for null. */
nvvmResult nvvmVersion(int* major, int* minor);

/** The newest versions of NVVM IR, and of its debug metadata, that are read. NVVM_ERROR_INVALID_INPUT for null. */
nvvmResult nvvmIRVersion(int* majorIR, int* minorIR, int* majorDbg, int* minorDbg);

/** A program may be used by one thread at a time, different programs by different threads. */
nvvmResult nvvmCreateProgram(nvvmProgram* prog);

/** Sets *prog to null. NVVM_ERROR_INVALID_PROGRAM for null, and for what is no live program. */
nvvmResult nvvmDestroyProgram(nvvmProgram* prog);

/** Adds a copy of a module: bitcode, or text. It is read when the program is compiled or verified. */
nvvmResult nvvmAddModuleToProgram(nvvmProgram prog, const char* buffer, size_t size, const char* name);

/** As nvvmAddModuleToProgram, for a library: of it only what other modules use is taken, and it is not verified. */
nvvmResult nvvmLazyAddModuleToProgram(nvvmProgram prog, const char* buffer, size_t size, const char* name);

/** Compiles the program to PTX, or with -gen-lto to code for nvJitLink. docs/nvvm.md lists the options.
 * NVVM_ERROR_INVALID_OPTION, NVVM_ERROR_NO_MODULE_IN_PROGRAM, NVVM_ERROR_COMPILATION, NVVM_ERROR_INVALID_IR; the log
 * says why. */
nvvmResult nvvmCompileProgram(nvvmProgram prog, int numOptions, const char** options);

/** Reads and checks the modules that were not added lazily. NVVM_ERROR_INVALID_IR, NVVM_ERROR_IR_VERSION_MISMATCH,
 * NVVM_ERROR_INVALID_OPTION, NVVM_ERROR_NO_MODULE_IN_PROGRAM; the log says why. */
nvvmResult nvvmVerifyProgram(nvvmProgram prog, int numOptions, const char** options);

/** Bytes of the result, with the zero that ends PTX. */
nvvmResult nvvmGetCompiledResultSize(nvvmProgram prog, size_t* bufferSizeRet);
nvvmResult nvvmGetCompiledResult(nvvmProgram prog, char* buffer);

/** Bytes of the log of the last compilation or verification, with the final zero: at least 1. */
nvvmResult nvvmGetProgramLogSize(nvvmProgram prog, size_t* bufferSizeRet);
nvvmResult nvvmGetProgramLog(nvvmProgram prog, char* buffer);

/** Since CUDA 12: lets no two threads compile at once from now on. Without effect: compilations share nothing. */
nvvmResult nvvmDisableConcurrentAPI(void);

#if defined(__cplusplus)
}
#endif
