#include "cupola/driver_call.h"

#include <string>

#include "base/library_names.h"

namespace cupola::tool {

Result<DynLib> open_driver(const std::filesystem::path& libraries) {
  return DynLib::open((libraries / kDriverLibrary).string());
}

Result<void*> load_module(const DynLib& driver, std::span<const std::byte> image) {
  constexpr int kErrorLogBuffer = 5, kErrorLogBufferBytes = 6;  // "CUDA Driver API, CUjit_option"
  char log[4096] = "";
  int options[] = {kErrorLogBuffer, kErrorLogBufferBytes};
  void* values[] = {&log[0], reinterpret_cast<void*>(sizeof log)};
  void* module = nullptr;
  const Result<> loaded = driver_call(driver, "cuModuleLoadDataEx", &module, static_cast<const void*>(image.data()), 2u,
                                      &options[0], &values[0]);
  if (loaded) return module;
  return fail(loaded.error().code, "{}", log[0] ? std::string(log) : loaded.error().message);
}

}  // namespace cupola::tool
