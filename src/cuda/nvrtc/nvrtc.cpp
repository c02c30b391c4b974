// libnvrtc.so.13: CUDA C++ to PTX and what Cupola loads. include/cuda/nvrtc.h has the contract. libcupola-frontend and
// libcupola-compiler do the work; clang and LLVM stay out of the program's way.

#include <atomic>
#include <cstring>

#include "base/guarded.h"
#include "base/handles.h"
#include "cuda/nvrtc/program.h"
#include "cuda/nvrtc/public.h"

using namespace cupola;

struct _nvrtcProgram {
  explicit _nvrtcProgram(nvrtc::Program contents) : program(std::move(contents)) {}
  Mutex mutex;
  nvrtc::Program program GUARDED_BY(mutex);
};

namespace {

constexpr int kVersionMajor = 13, kVersionMinor = 0;
constexpr size_t kDefaultHeap = 256u << 20;

Handles<_nvrtcProgram>& programs() {
  static auto* const instance = new Handles<_nvrtcProgram>;  // leaked: used after static destructors
  return *instance;
}

/// Every function that does more than answer a number has this around it: exceptions stay inside.
template <typename Body>
nvrtcResult api_call(Body&& body) {
  return guarded(Thrown{"nvrtc", NVRTC_ERROR_OUT_OF_MEMORY, NVRTC_ERROR_INTERNAL_ERROR}, body);
}

/// Calls `body` with the live program, locked.
template <typename Body>
nvrtcResult with_program(nvrtcProgram handle, Body&& body) {
  return api_call([&] {
    return programs().with(handle, NVRTC_ERROR_INVALID_PROGRAM,
                           [&](_nvrtcProgram& found) REQUIRES(found.mutex) { return body(found.program); });
  });
}

nvrtcResult number_of(nvrtc::Outcome outcome) {
  switch (outcome) {
    case nvrtc::Outcome::Success:
      return NVRTC_SUCCESS;
    case nvrtc::Outcome::InvalidOption:
      return NVRTC_ERROR_INVALID_OPTION;
    case nvrtc::Outcome::Compilation:
      return NVRTC_ERROR_COMPILATION;
    case nvrtc::Outcome::Cancelled:
      return NVRTC_ERROR_CANCELLED;
    case nvrtc::Outcome::TimeFile:
      return NVRTC_ERROR_TIME_FILE_WRITE_FAILED;
    case nvrtc::Outcome::Internal:
      return NVRTC_ERROR_INTERNAL_ERROR;
  }
  return NVRTC_ERROR_INTERNAL_ERROR;
}

/// A result of the program, if it has one: `get` answers a range of bytes.
template <typename Get>
nvrtcResult size_of(nvrtcProgram handle, size_t* size, size_t end, Get get) {
  return with_program(handle, [&](nvrtc::Program& program) {
    if (!size) return NVRTC_ERROR_INVALID_INPUT;
    if (!program.compiled()) return NVRTC_ERROR_INVALID_PROGRAM;
    const auto& bytes = get(program);
    *size = bytes.empty() ? 0 : bytes.size() + end;
    return NVRTC_SUCCESS;
  });
}

template <typename Get>
nvrtcResult copy_of(nvrtcProgram handle, char* to, size_t end, Get get) {
  return with_program(handle, [&](nvrtc::Program& program) {
    if (!to) return NVRTC_ERROR_INVALID_INPUT;
    if (!program.compiled()) return NVRTC_ERROR_INVALID_PROGRAM;
    const auto& bytes = get(program);
    if (bytes.empty()) return NVRTC_ERROR_INVALID_PROGRAM;
    std::memcpy(to, bytes.data(), bytes.size());
    if (end) to[bytes.size()] = '\0';
    return NVRTC_SUCCESS;
  });
}

constexpr auto ptx = [](const nvrtc::Program& program) -> const std::string& { return program.ptx(); };
constexpr auto cubin = [](const nvrtc::Program& program) -> const auto& { return program.cubin(); };
constexpr auto ltoir = [](const nvrtc::Program& program) -> const auto& { return program.ltoir(); };

std::atomic<size_t>& pch_heap() {
  static auto* const size = new std::atomic<size_t>(kDefaultHeap);
  return *size;
}

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(nvrtcResult result) {
  switch (static_cast<int>(result)) {
#define NVRTC_RESULT(name, number) \
  case number:                     \
    return #name;
#include "cupola/nvrtc_results.def"
#undef NVRTC_RESULT
  }
  return "NVRTC_ERROR unknown";
}

nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (!major || !minor) return NVRTC_ERROR_INVALID_INPUT;
  *major = kVersionMajor;
  *minor = kVersionMinor;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int* numArchs) {
  if (!numArchs) return NVRTC_ERROR_INVALID_INPUT;
  *numArchs = static_cast<int>(nvrtc::supported_architectures().size());
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int* supportedArchs) {
  if (!supportedArchs) return NVRTC_ERROR_INVALID_INPUT;
  for (const int architecture : nvrtc::supported_architectures()) *supportedArchs++ = architecture;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* prog, const char* src, const char* name, int numHeaders,
                               const char* const* headers, const char* const* includeNames) {
  if (!prog || !src || numHeaders < 0 || (numHeaders > 0 && (!headers || !includeNames)))
    return NVRTC_ERROR_INVALID_INPUT;
  return api_call([&] {
    std::vector<image::SourceHeader> texts;
    for (int i = 0; i < numHeaders; ++i) {
      if (!headers[i] || !includeNames[i]) return NVRTC_ERROR_INVALID_INPUT;
      texts.push_back({includeNames[i], headers[i]});
    }
    *prog = programs().add(std::make_shared<_nvrtcProgram>(
        nvrtc::Program(src, name && *name ? name : "default_program", std::move(texts))));
    return NVRTC_SUCCESS;
  });
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* prog) {
  return api_call([&] {
    if (!prog || !programs().remove(*prog)) return NVRTC_ERROR_INVALID_PROGRAM;
    *prog = nullptr;
    return NVRTC_SUCCESS;
  });
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions, const char* const* options) {
  return with_program(prog, [&](nvrtc::Program& program) {
    if (numOptions < 0 || (numOptions > 0 && !options)) return NVRTC_ERROR_INVALID_INPUT;
    return number_of(program.compile(std::span(options, static_cast<size_t>(numOptions))));
  });
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram prog, size_t* ptxSizeRet) {
  return size_of(prog, ptxSizeRet, 1, ptx);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram prog, char* to) {
  return copy_of(prog, to, 1, ptx);
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t* cubinSizeRet) {
  return size_of(prog, cubinSizeRet, 0, cubin);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char* to) {
  return copy_of(prog, to, 0, cubin);
}

nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram prog, size_t* LTOIRSizeRet) {
  return size_of(prog, LTOIRSizeRet, 0, ltoir);
}

nvrtcResult nvrtcGetLTOIR(nvrtcProgram prog, char* LTOIR) {
  return copy_of(prog, LTOIR, 0, ltoir);
}

nvrtcResult nvrtcGetOptiXIRSize(nvrtcProgram prog, size_t* optixirSizeRet) {
  return with_program(
      prog, [&](nvrtc::Program&) { return optixirSizeRet ? NVRTC_ERROR_INVALID_PROGRAM : NVRTC_ERROR_INVALID_INPUT; });
}

nvrtcResult nvrtcGetOptiXIR(nvrtcProgram prog, char* optixir) {
  return with_program(
      prog, [&](nvrtc::Program&) { return optixir ? NVRTC_ERROR_INVALID_PROGRAM : NVRTC_ERROR_INVALID_INPUT; });
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram prog, size_t* logSizeRet) {
  return with_program(prog, [&](nvrtc::Program& program) {
    if (!logSizeRet) return NVRTC_ERROR_INVALID_INPUT;
    *logSizeRet = program.log().size() + 1;
    return NVRTC_SUCCESS;
  });
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram prog, char* log) {
  return with_program(prog, [&](nvrtc::Program& program) {
    if (!log) return NVRTC_ERROR_INVALID_INPUT;
    std::memcpy(log, program.log().c_str(), program.log().size() + 1);
    return NVRTC_SUCCESS;
  });
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram prog, const char* const name_expression) {
  return with_program(prog, [&](nvrtc::Program& program) {
    if (!name_expression) return NVRTC_ERROR_INVALID_INPUT;
    if (program.was_compiled()) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    program.add_name_expression(name_expression);
    return NVRTC_SUCCESS;
  });
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram prog, const char* const name_expression, const char** lowered_name) {
  return with_program(prog, [&](nvrtc::Program& program) {
    if (!name_expression || !lowered_name) return NVRTC_ERROR_INVALID_INPUT;
    if (!program.compiled()) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    const std::string* name = program.lowered_name(name_expression);
    if (!name) return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
    *lowered_name = name->c_str();
    return NVRTC_SUCCESS;
  });
}

nvrtcResult nvrtcGetPCHHeapSize(size_t* ret) {
  if (!ret) return NVRTC_ERROR_INVALID_INPUT;
  *ret = pch_heap();
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcSetPCHHeapSize(size_t size) {
  pch_heap() = size;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPCHCreateStatus(nvrtcProgram prog) {
  return with_program(prog, [](nvrtc::Program&) { return NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED; });
}

nvrtcResult nvrtcGetPCHHeapSizeRequired(nvrtcProgram prog, size_t* size) {
  return with_program(
      prog, [&](nvrtc::Program&) { return size ? NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED : NVRTC_ERROR_INVALID_INPUT; });
}

nvrtcResult nvrtcSetFlowCallback(nvrtcProgram prog, int (*callback)(void*, void*), void* payload) {
  return with_program(prog, [&](nvrtc::Program& program) {
    if (!callback) return NVRTC_ERROR_INVALID_INPUT;
    program.set_flow_callback({callback, payload});
    return NVRTC_SUCCESS;
  });
}
}
