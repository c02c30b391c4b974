// libnvJitLink.so.13: links device code at run time. include/cuda/nvJitLink.h has the contract. The linker is LLVM's,
// in libcupola-compiler; what comes out is a fat binary with kir, which the driver compiles where it is loaded.

#include <chrono>
#include <cstring>

#include "base/file.h"
#include "base/guarded.h"
#include "base/handles.h"
#include "cuda/nvjitlink/link_command.h"
#include "image/code.h"
#include "image/compiler_library.h"
#include "image/fatbin.h"
#include "image/lto_code.h"

using namespace cupola;

struct nvJitLink {
  Mutex mutex;
  nvjitlink::LinkCommand command GUARDED_BY(mutex);
  std::vector<image::CodeUnit> units GUARDED_BY(mutex);
  std::vector<std::byte> linked GUARDED_BY(mutex);  ///< cubin or PTX
  std::string error_log GUARDED_BY(mutex), info_log GUARDED_BY(mutex);
};

namespace {

using Link = nvJitLink;

Handles<Link>& links() {
  static auto* const instance = new Handles<Link>;  // leaked: used after static destructors
  return *instance;
}

/// Every function that does more than answer a number has this around it: exceptions stay inside.
template <typename Body>
nvJitLinkResult api_call(Body&& body) {
  return guarded(Thrown{"nvJitLink", NVJITLINK_ERROR_INTERNAL, NVJITLINK_ERROR_INTERNAL}, body);
}

/// Calls `body` with the live link, locked.
template <typename Body>
nvJitLinkResult with_link(nvJitLinkHandle handle, Body&& body) {
  if (!handle) return NVJITLINK_ERROR_NULL_INPUT;
  return api_call([&] { return links().with(handle, NVJITLINK_ERROR_INVALID_INPUT, body); });
}

nvJitLinkResult failed(Link& link, nvJitLinkResult result, const std::string& why) REQUIRES(link.mutex) {
  link.error_log += "error: " + why + "\n";
  return result;
}

/// What code of such a type may be; NVJITLINK_SUCCESS where it fits.
nvJitLinkResult check_type(nvJitLinkInputType type, bool is_ptx, bool for_lto, bool lto) {
  switch (type) {
    case NVJITLINK_INPUT_PTX:
      return is_ptx ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
    case NVJITLINK_INPUT_LTOIR:
      if (!for_lto) return NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
      return lto ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_LTO_NOT_ENABLED;
    case NVJITLINK_INPUT_CUBIN:
    case NVJITLINK_INPUT_FATBIN:
    case NVJITLINK_INPUT_OBJECT:
    case NVJITLINK_INPUT_LIBRARY:
      return is_ptx || for_lto ? NVJITLINK_ERROR_INCORRECT_INPUT_TYPE : NVJITLINK_SUCCESS;
    case NVJITLINK_INPUT_ANY:
      return for_lto && !lto ? NVJITLINK_ERROR_LTO_NOT_ENABLED : NVJITLINK_SUCCESS;
    case NVJITLINK_INPUT_NONE:
    case NVJITLINK_INPUT_INDEX:
      break;
  }
  return NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
}

/// Whether it can be read: what is wrong with PTX is said when it is added, as CUDA 13.0's library does.
Result<> check_ptx(const std::vector<image::CodeUnit>& units) {
  TRY(const image::CompilerLibrary compiler, image::CompilerLibrary::ours());
  TRY(compiler.compile({.target = "check", .units = units}));
  return {};
}

nvJitLinkResult add(Link& link, nvJitLinkInputType type, std::string_view bytes, const char* name)
    REQUIRES(link.mutex) {
  const std::string called = name ? name : "<unnamed>";
  Result<image::Code> code = image::read_code(bytes.data(), bytes.size());
  if (!code)
    return failed(link,
                  code.error().code == ErrorCode::NoBinaryForGpu ? NVJITLINK_ERROR_ARCH_MISMATCH
                  : type == NVJITLINK_INPUT_ANY                  ? NVJITLINK_ERROR_UNRECOGNIZED_INPUT
                                                                 : NVJITLINK_ERROR_INCORRECT_INPUT_TYPE,
                  called + ": " + code.error().message);
  const bool for_lto = image::is_lto(std::as_bytes(std::span(bytes))) || bytes.starts_with("BC\xC0\xDE");
  const bool is_ptx = !for_lto && code->compile_at_load;
  if (const nvJitLinkResult fits = check_type(type, is_ptx, for_lto, link.command.lto); fits != NVJITLINK_SUCCESS)
    return failed(link, fits,
                  formatted("{}: {}", called,
                            fits == NVJITLINK_ERROR_LTO_NOT_ENABLED ? "code for LTO needs the option -lto"
                                                                    : "it is not of the type that is said"));
  if (code->units.empty())
    return failed(link, NVJITLINK_ERROR_MISSING_FATBIN,
                  called + ": a compiled kernel image cannot be linked with others: add PTX");
  if (is_ptx)
    if (const Result<> readable = check_ptx(code->units); !readable)
      return failed(link, NVJITLINK_ERROR_PTX_COMPILE, called + ": " + readable.error().message);
  for (image::CodeUnit& unit : code->units) link.units.push_back(std::move(unit));
  if (link.command.verbose) link.info_log += formatted("info: {}: {} bytes\n", called, bytes.size());
  return NVJITLINK_SUCCESS;
}

/// The linked code as its users take it.
Result<std::vector<std::byte>> linked_code(const nvjitlink::LinkCommand& command,
                                           const std::vector<image::CodeUnit>& units) {
  TRY(const image::CompilerLibrary compiler, image::CompilerLibrary::ours());
  TRY(std::vector<std::byte> code, compiler.compile({.target = command.ptx ? "ptx:" + command.architecture : "linked",
                                                     .units = units,
                                                     .options = {.externs = command.ptx}}));
  if (command.ptx) {
    code.push_back(std::byte{0});
    return code;
  }
  const image::FatbinEntry entry{.kind = image::FatbinKind::Kir, .sm = image::kArchitecture, .payload = code};
  return image::write_fatbin({&entry, 1});
}

/// NVJITLINK_SUCCESS where there is a result, of the kind that is asked for.
nvJitLinkResult check_linked(Link& link, bool ptx) REQUIRES(link.mutex) {
  if (!link.linked.empty() && link.command.ptx == ptx) return NVJITLINK_SUCCESS;
  return failed(link, NVJITLINK_ERROR_INVALID_INPUT, "there is no such result: nvJitLinkComplete makes one");
}

nvJitLinkResult size_of_linked(nvJitLinkHandle handle, size_t* size, bool ptx) {
  return with_link(handle, [&](Link& link) REQUIRES(link.mutex) {
    if (!size) return NVJITLINK_ERROR_NULL_INPUT;
    if (const nvJitLinkResult there = check_linked(link, ptx); there != NVJITLINK_SUCCESS) return there;
    *size = link.linked.size();
    return NVJITLINK_SUCCESS;
  });
}

nvJitLinkResult copy_linked(nvJitLinkHandle handle, void* to, bool ptx) {
  return with_link(handle, [&](Link& link) REQUIRES(link.mutex) {
    if (const nvJitLinkResult there = check_linked(link, ptx); there != NVJITLINK_SUCCESS) return there;
    if (!to) return NVJITLINK_ERROR_NULL_INPUT;
    std::memcpy(to, link.linked.data(), link.linked.size());
    return NVJITLINK_SUCCESS;
  });
}

nvJitLinkResult log_size(nvJitLinkHandle handle, size_t* size, std::string Link::* log) {
  return with_link(handle, [&](Link& link) REQUIRES(link.mutex) {
    if (!size) return NVJITLINK_ERROR_NULL_INPUT;
    *size = (link.*log).size() + 1;
    return NVJITLINK_SUCCESS;
  });
}

nvJitLinkResult copy_log(nvJitLinkHandle handle, char* to, std::string Link::* log) {
  return with_link(handle, [&](Link& link) REQUIRES(link.mutex) {
    if (!to) return NVJITLINK_ERROR_NULL_INPUT;
    std::memcpy(to, (link.*log).c_str(), (link.*log).size() + 1);
    return NVJITLINK_SUCCESS;
  });
}

}  // namespace

nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle* handle, uint32_t numOptions, const char** options) {
  if (!handle || !options) return NVJITLINK_ERROR_NULL_INPUT;
  return api_call([&] {
    auto link = std::make_shared<Link>();
    Lock lock(link->mutex);
    link->command = nvjitlink::read_command(std::span<const char* const>(options, numOptions));
    const nvJitLinkResult result = link->command.result;
    if (result != NVJITLINK_SUCCESS) failed(*link, result, link->command.error);
    lock.unlock();
    *handle = links().add(std::move(link));
    return result;
  });
}

nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle* handle) {
  if (!handle || !*handle) return NVJITLINK_ERROR_NULL_INPUT;
  return api_call([&] {
    if (!links().remove(*handle)) return NVJITLINK_ERROR_INVALID_INPUT;
    *handle = nullptr;
    return NVJITLINK_SUCCESS;
  });
}

nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType inputType, const void* data, size_t size,
                                 const char* name) {
  return with_link(handle, [&](Link& link) REQUIRES(link.mutex) {
    if (!data || size == 0) return NVJITLINK_ERROR_NULL_INPUT;
    return add(link, inputType, {static_cast<const char*>(data), size}, name);
  });
}

nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType inputType, const char* fileName) {
  return with_link(handle, [&](Link& link) REQUIRES(link.mutex) {
    if (!fileName) return NVJITLINK_ERROR_NULL_INPUT;
    const Result<std::string> bytes = read_file(fileName);
    if (!bytes) return failed(link, NVJITLINK_ERROR_INVALID_INPUT, bytes.error().message);
    return add(link, inputType, *bytes, fileName);
  });
}

nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle) {
  return with_link(handle, [&](Link& link) REQUIRES(link.mutex) {
    link.linked.clear();  // after a failure there is no result
    if (link.command.result != NVJITLINK_SUCCESS) return link.command.result;
    if (link.units.empty()) return failed(link, NVJITLINK_ERROR_FINALIZE, "nothing was added that could be linked");
    const auto begin = std::chrono::steady_clock::now();
    Result<std::vector<std::byte>> code = linked_code(link.command, link.units);
    if (!code) return failed(link, NVJITLINK_ERROR_FINALIZE, code.error().message);
    link.linked = std::move(*code);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (link.command.time) link.info_log += formatted("info: linked in {:.3f} ms\n", took.count());
    return NVJITLINK_SUCCESS;
  });
}

nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t* size) {
  return size_of_linked(handle, size, false);
}
nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void* cubin) {
  return copy_linked(handle, cubin, false);
}
nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t* size) {
  return size_of_linked(handle, size, true);
}
nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char* ptx) {
  return copy_linked(handle, ptx, true);
}

nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t* size) {
  return log_size(handle, size, &Link::error_log);
}
nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char* log) {
  return copy_log(handle, log, &Link::error_log);
}
nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t* size) {
  return log_size(handle, size, &Link::info_log);
}
nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char* log) {
  return copy_log(handle, log, &Link::info_log);
}

nvJitLinkResult nvJitLinkVersion(unsigned int* major, unsigned int* minor) {
  if (!major || !minor) return NVJITLINK_ERROR_NULL_INPUT;
  *major = 13;
  *minor = 0;
  return NVJITLINK_SUCCESS;
}

// The names under which programs that were built with CUDA 13's own header ask for the functions.
extern "C" {
#if defined(__APPLE__)  // whose assembler has aliases, and whose compiler has not
#define ALIAS(name) __asm__(".globl ___" #name "_13_0\n.set ___" #name "_13_0, _" #name);
#else
#define ALIAS(name) decltype(name) __##name##_13_0 __attribute__((alias(#name), visibility("default")));
#endif
ALIAS(nvJitLinkCreate)
ALIAS(nvJitLinkDestroy)
ALIAS(nvJitLinkAddData)
ALIAS(nvJitLinkAddFile)
ALIAS(nvJitLinkComplete)
ALIAS(nvJitLinkGetLinkedCubinSize)
ALIAS(nvJitLinkGetLinkedCubin)
ALIAS(nvJitLinkGetLinkedPtxSize)
ALIAS(nvJitLinkGetLinkedPtx)
ALIAS(nvJitLinkGetErrorLogSize)
ALIAS(nvJitLinkGetErrorLog)
ALIAS(nvJitLinkGetInfoLogSize)
ALIAS(nvJitLinkGetInfoLog)
#undef ALIAS
}
