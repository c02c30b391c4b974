#pragma once
#define __NVRTC_H__

// NVRTC: CUDA C++ source to PTX, to an image that cuModuleLoadData takes, or to code for nvJitLink, in the process.
// "NVRTC" (https://docs.nvidia.com/cuda/nvrtc/). docs/nvrtc.md lists the options. Functions of one program may be
// called by one thread at a time, those of different programs by any number of threads.

#include <stddef.h>

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum {
#define NVRTC_RESULT(name, number) name = number,
#include "cupola/nvrtc_results.def"
#undef NVRTC_RESULT
} nvrtcResult;

typedef struct _nvrtcProgram* nvrtcProgram;

/** The enumerator's name; "NVRTC_ERROR unknown" for other numbers. The text is the library's. */
const char* nvrtcGetErrorString(nvrtcResult result);

/** The version of CUDA whose NVRTC this stands for: 13.0. NVRTC_ERROR_INVALID_INPUT for null. */
nvrtcResult nvrtcVersion(int* major, int* minor);

/** How many architectures -arch takes. */
nvrtcResult nvrtcGetNumSupportedArchs(int* numArchs);

/** Their numbers, ascending: 75 stands for compute_75 and sm_75. */
nvrtcResult nvrtcGetSupportedArchs(int* supportedArchs);

/** A program from a copy of its source. `name` is what messages call it; null or "" is default_program. The headers are
 * what #include directives of these names find, before any folder. */
nvrtcResult nvrtcCreateProgram(nvrtcProgram* prog, const char* src, const char* name, int numHeaders,
                               const char* const* headers, const char* const* includeNames);

/** Sets *prog to null. */
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* prog);

/** NVRTC_ERROR_COMPILATION for errors in the source and NVRTC_ERROR_INVALID_OPTION for options; the log says which. */
nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions, const char* const* options);

/** PTX, with the zero that ends it. Of every program but one that was compiled with -dlto. */
nvrtcResult nvrtcGetPTXSize(nvrtcProgram prog, size_t* ptxSizeRet);
nvrtcResult nvrtcGetPTX(nvrtcProgram prog, char* ptx);

/** A fat binary that Cupola loads (docs/fatbin.md), of a program that was compiled with -arch=sm_NN; else of no bytes.
 */
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t* cubinSizeRet);
nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char* cubin);

/** LLVM bitcode that Cupola's libnvJitLink links, of a program that was compiled with -dlto. */
nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram prog, size_t* LTOIRSizeRet);
nvrtcResult nvrtcGetLTOIR(nvrtcProgram prog, char* LTOIR);

/** OptiX code is not made: NVRTC_ERROR_INVALID_PROGRAM, as for any program without -optix-ir. */
nvrtcResult nvrtcGetOptiXIRSize(nvrtcProgram prog, size_t* optixirSizeRet);
nvrtcResult nvrtcGetOptiXIR(nvrtcProgram prog, char* optixir);

/** The messages of the last compilation, with the zero that ends them. */
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram prog, size_t* logSizeRet);
nvrtcResult nvrtcGetProgramLog(nvrtcProgram prog, char* log);

/** What a kernel or variable is called is wanted after the compilation; a template is instantiated. */
nvrtcResult nvrtcAddNameExpression(nvrtcProgram prog, const char* const name_expression);

/** The symbol that an expression names. The text lives as long as the program. */
nvrtcResult nvrtcGetLoweredName(nvrtcProgram prog, const char* const name_expression, const char** lowered_name);

/** Of precompiled headers there is no heap here; the size that was set is the size that is returned. */
nvrtcResult nvrtcGetPCHHeapSize(size_t* ret);
nvrtcResult nvrtcSetPCHHeapSize(size_t size);

/** NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED: what CUDA C++ has built in is precompiled for every program, no other header.
 */
nvrtcResult nvrtcGetPCHCreateStatus(nvrtcProgram prog);
nvrtcResult nvrtcGetPCHHeapSizeRequired(nvrtcProgram prog, size_t* size);

/** `callback(payload, reserved)` is called now and then while the program is compiled; when it returns 1, compilation
 * ends with NVRTC_ERROR_CANCELLED. */
nvrtcResult nvrtcSetFlowCallback(nvrtcProgram prog, int (*callback)(void*, void*), void* payload);

#if defined(__cplusplus)
}
#endif

// The name of a type, to be put into a name expression: "NVRTC, Host Helper".
#if defined(__cplusplus) && defined(NVRTC_GET_TYPE_NAME) && NVRTC_GET_TYPE_NAME

#include <cxxabi.h>
#include <stdlib.h>

#include <new>
#include <string>
#include <typeinfo>

/** The name of the type that `tinfo` stands for, which has lost its reference and its outer const and volatile.
 * NVRTC_ERROR_INTERNAL_ERROR for a name that cannot be read. */
inline nvrtcResult nvrtcGetTypeName(const std::type_info& tinfo, std::string* result) {
  if (!result) return NVRTC_ERROR_INVALID_INPUT;
  int status = 0;
  char* name = abi::__cxa_demangle(tinfo.name(), nullptr, nullptr, &status);
  if (!name) return status == -1 ? NVRTC_ERROR_OUT_OF_MEMORY : NVRTC_ERROR_INTERNAL_ERROR;
  *result = name;
  free(name);
  return NVRTC_SUCCESS;
}

template <typename T>
struct __cupola_named_type {};

/** The name of T, with reference, const and volatile. */
template <typename T>
nvrtcResult nvrtcGetTypeName(std::string* result) {
  const nvrtcResult status = nvrtcGetTypeName(typeid(__cupola_named_type<T>), result);
  if (status != NVRTC_SUCCESS) return status;
  const size_t begin = result->find('<') + 1;
  size_t end = result->rfind('>');
  if (end > begin && (*result)[end - 1] == ' ') --end;  // "Pair<int> >"
  *result = result->substr(begin, end - begin);
  return NVRTC_SUCCESS;
}

#endif
