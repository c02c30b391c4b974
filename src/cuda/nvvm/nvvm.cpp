// libnvvm.so.4: NVVM IR to PTX, or to code for libnvJitLink. include/cuda/nvvm.h has the contract. The work is
// libcupola-compiler's; its LLVM stays out of the program's way.

#pragma GCC visibility push(default)
#include <nvvm.h>
#pragma GCC visibility pop

#include <cstring>

#include "base/guarded.h"
#include "base/handles.h"
#include "cuda/nvvm/command.h"
#include "image/compiler_library.h"
#include "image/lto_code.h"

using namespace cupola;

struct _nvvmProgram {
  Mutex mutex;
  std::vector<image::CodeUnit> modules GUARDED_BY(mutex);
  std::vector<std::byte> result GUARDED_BY(mutex);
  std::string log GUARDED_BY(mutex);
};

namespace {

using Program = _nvvmProgram;

Handles<Program>& programs() {
  static auto* const instance = new Handles<Program>;  // leaked: used after static destructors
  return *instance;
}

/// Every function that does more than answer a number has this around it: exceptions stay inside.
template <typename Body>
nvvmResult api_call(Body&& body) {
  return guarded(Thrown{"nvvm", NVVM_ERROR_OUT_OF_MEMORY, NVVM_ERROR_COMPILATION}, body);
}

/// Calls `body` with the live program, locked.
template <typename Body>
nvvmResult with_program(nvvmProgram handle, Body&& body) {
  return api_call([&] { return programs().with(handle, NVVM_ERROR_INVALID_PROGRAM, body); });
}

nvvmResult add(nvvmProgram handle, const char* buffer, size_t size, image::CodeKind kind) {
  return with_program(handle, [&](Program& program) REQUIRES(program.mutex) {
    if (!buffer || size == 0) return NVVM_ERROR_INVALID_INPUT;
    const auto bytes = std::as_bytes(std::span(buffer, size));
    program.modules.push_back({kind, {bytes.begin(), bytes.end()}});
    return NVVM_SUCCESS;
  });
}

nvvmResult failed(Program& program, nvvmResult result, const std::string& why) REQUIRES(program.mutex) {
  program.log = "error: " + why + "\n";
  return result;
}

/// The number of an error that the compiler gave, where it is not one of the code's.
nvvmResult number_of(const Error& error, nvvmResult of_code) {
  constexpr std::pair<ErrorCode, nvvmResult> kNumbers[] = {
      {ErrorCode::UnsupportedPtxVersion, NVVM_ERROR_IR_VERSION_MISMATCH},
      {ErrorCode::OutOfMemory, NVVM_ERROR_OUT_OF_MEMORY}};
  for (const auto& [code, number] : kNumbers)
    if (error.code == code) return number;
  return of_code;
}

/// Reads the options and compiles `units` to what they ask for, or to `target`.
nvvmResult run(Program& program, std::vector<image::CodeUnit> units, int count, const char** options,
               std::string target, nvvmResult of_code) REQUIRES(program.mutex) {
  program.log.clear();
  if (count < 0 || (count > 0 && !options)) return NVVM_ERROR_INVALID_INPUT;
  const Result<nvvm::Command> command =
      nvvm::read_command(std::span<const char* const>(options, static_cast<size_t>(count)));
  if (!command) return failed(program, NVVM_ERROR_INVALID_OPTION, command.error().message);
  if (units.empty()) return failed(program, NVVM_ERROR_NO_MODULE_IN_PROGRAM, "the program holds no module");
  const Result<image::CompilerLibrary>& compiler = image::CompilerLibrary::ours();
  if (!compiler) return failed(program, NVVM_ERROR_COMPILATION, compiler.error().message);
  const bool to_result = target.empty();
  if (target.empty()) target = command->lto ? "unit" : "ptx:" + command->architecture;
  Result<std::vector<std::byte>> answer =
      compiler->compile({.target = target, .units = std::move(units), .options = command->code});
  if (!answer) return failed(program, number_of(answer.error(), of_code), answer.error().message);
  program.result = to_result && command->lto ? image::write_lto(*answer) : std::move(*answer);
  if (to_result && !command->lto) program.result.push_back(std::byte{0});
  return NVVM_SUCCESS;
}

}  // namespace

const char* nvvmGetErrorString(nvvmResult result) {
  switch (result) {
#define NAME(code) \
  case code:       \
    return #code;
    NAME(NVVM_SUCCESS)
    NAME(NVVM_ERROR_OUT_OF_MEMORY)
    NAME(NVVM_ERROR_PROGRAM_CREATION_FAILURE)
    NAME(NVVM_ERROR_IR_VERSION_MISMATCH)
    NAME(NVVM_ERROR_INVALID_INPUT)
    NAME(NVVM_ERROR_INVALID_PROGRAM)
    NAME(NVVM_ERROR_INVALID_IR)
    NAME(NVVM_ERROR_INVALID_OPTION)
    NAME(NVVM_ERROR_NO_MODULE_IN_PROGRAM)
    NAME(NVVM_ERROR_COMPILATION)
    NAME(NVVM_ERROR_CANCELLED)
#undef NAME
  }
  return "NVVM_ERROR_UNKNOWN";
}

nvvmResult nvvmVersion(int* major, int* minor) {
  if (!major || !minor) return NVVM_ERROR_INVALID_INPUT;
  *major = 2;
  *minor = 0;
  return NVVM_SUCCESS;
}

nvvmResult nvvmIRVersion(int* majorIR, int* minorIR, int* majorDbg, int* minorDbg) {
  if (!majorIR || !minorIR || !majorDbg || !minorDbg) return NVVM_ERROR_INVALID_INPUT;
  *majorIR = 2;
  *minorIR = 0;
  *majorDbg = 3;
  *minorDbg = 2;
  return NVVM_SUCCESS;
}

nvvmResult nvvmCreateProgram(nvvmProgram* prog) {
  if (!prog) return NVVM_ERROR_INVALID_PROGRAM;
  return api_call([&] {
    *prog = programs().add(std::make_shared<Program>());
    return NVVM_SUCCESS;
  });
}

nvvmResult nvvmDestroyProgram(nvvmProgram* prog) {
  return api_call([&] {
    if (!prog || !programs().remove(*prog)) return NVVM_ERROR_INVALID_PROGRAM;
    *prog = nullptr;
    return NVVM_SUCCESS;
  });
}

nvvmResult nvvmAddModuleToProgram(nvvmProgram prog, const char* buffer, size_t size, const char*) {
  return add(prog, buffer, size, image::CodeKind::Nvvm);
}

nvvmResult nvvmLazyAddModuleToProgram(nvvmProgram prog, const char* buffer, size_t size, const char*) {
  return add(prog, buffer, size, image::CodeKind::NvvmLibrary);
}

nvvmResult nvvmCompileProgram(nvvmProgram prog, int numOptions, const char** options) {
  return with_program(prog, [&](Program& program) REQUIRES(program.mutex) {
    program.result.clear();
    return run(program, program.modules, numOptions, options, {}, NVVM_ERROR_COMPILATION);
  });
}

nvvmResult nvvmVerifyProgram(nvvmProgram prog, int numOptions, const char** options) {
  return with_program(prog, [&](Program& program) REQUIRES(program.mutex) {
    std::vector<image::CodeUnit> units;
    for (const image::CodeUnit& unit : program.modules)
      if (unit.kind == image::CodeKind::Nvvm) units.push_back(unit);
    std::vector<std::byte> kept = std::exchange(program.result, {});
    const nvvmResult result = run(program, std::move(units), numOptions, options, "check", NVVM_ERROR_INVALID_IR);
    program.result = std::move(kept);
    return result;
  });
}

nvvmResult nvvmGetCompiledResultSize(nvvmProgram prog, size_t* bufferSizeRet) {
  return with_program(prog, [&](Program& program) REQUIRES(program.mutex) {
    if (!bufferSizeRet) return NVVM_ERROR_INVALID_INPUT;
    *bufferSizeRet = program.result.size();
    return NVVM_SUCCESS;
  });
}

nvvmResult nvvmGetCompiledResult(nvvmProgram prog, char* buffer) {
  return with_program(prog, [&](Program& program) REQUIRES(program.mutex) {
    if (!buffer) return NVVM_ERROR_INVALID_INPUT;
    std::memcpy(buffer, program.result.data(), program.result.size());
    return NVVM_SUCCESS;
  });
}

nvvmResult nvvmGetProgramLogSize(nvvmProgram prog, size_t* bufferSizeRet) {
  return with_program(prog, [&](Program& program) REQUIRES(program.mutex) {
    if (!bufferSizeRet) return NVVM_ERROR_INVALID_INPUT;
    *bufferSizeRet = program.log.size() + 1;
    return NVVM_SUCCESS;
  });
}

nvvmResult nvvmGetProgramLog(nvvmProgram prog, char* buffer) {
  return with_program(prog, [&](Program& program) REQUIRES(program.mutex) {
    if (!buffer) return NVVM_ERROR_INVALID_INPUT;
    std::memcpy(buffer, program.log.c_str(), program.log.size() + 1);
    return NVVM_SUCCESS;
  });
}

nvvmResult nvvmDisableConcurrentAPI() {
  return NVVM_SUCCESS;
}
