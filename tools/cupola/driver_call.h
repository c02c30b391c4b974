#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/dynlib.h"

namespace cupola::tool {

/// Calls a function of libcuda by name; CUresult is an int, 0 is success. Error: the call's number, with the driver's
/// own words for it.
template <typename... Args>
Result<> driver_call(const DynLib& library, const char* name, Args... args) {
  TRY(void* symbol, library.symbol(name));
  const int status = reinterpret_cast<int (*)(Args...)>(symbol)(args...);
  if (status == 0) return {};
  const char* words = nullptr;
  if (const auto describe = library.symbol("cuGetErrorString"))
    reinterpret_cast<int (*)(int, const char**)>(*describe)(status, &words);
  return fail(static_cast<ErrorCode>(status), "{} failed with error {}: {}", name, status, words ? words : "unknown");
}

/// The driver library in an installation's folder of libraries.
Result<DynLib> open_driver(const std::filesystem::path& libraries);

/// cuModuleLoadDataEx in the current context. Error: the call's, with the compiler's words where it has some.
Result<void*> load_module(const DynLib& driver, std::span<const std::byte> image);

}  // namespace cupola::tool
