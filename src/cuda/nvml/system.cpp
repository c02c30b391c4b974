// Initialisation, versions, errors, processes by number. "NVML API Reference, Initialization and Cleanup, Error
// reporting, System Queries".

#include <cuda.h>

#include <filesystem>
#include <fstream>

#include "cuda/nvml/api.h"

using namespace cupola;
using namespace cupola::nvml;

nvmlReturn_t cupola::nvml::store_text(char* to, unsigned int length, std::string_view text) {
  if (!to) return NVML_ERROR_INVALID_ARGUMENT;
  if (length <= text.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
  to[text.copy(to, text.size())] = '\0';
  return NVML_SUCCESS;
}

namespace {

nvmlReturn_t begin() {
  const Result<> begun = Library::get().begin();
  if (begun) return NVML_SUCCESS;
  log::line(log::Topic::Error, "nvmlInit: {}", begun.error().message);
  return begun.error().code == ErrorCode::OutOfMemory ? NVML_ERROR_MEMORY : NVML_ERROR_DRIVER_NOT_LOADED;
}

nvmlReturn_t driver_version(int* version) {
  const Result<DynLib> driver = Library::open_driver();
  if (!driver) return NVML_ERROR_LIBRARY_NOT_FOUND;
  const Result<void*> symbol = driver->symbol("cuDriverGetVersion");
  if (!symbol) return NVML_ERROR_FUNCTION_NOT_FOUND;
  return reinterpret_cast<decltype(&cuDriverGetVersion)>(*symbol)(version) == CUDA_SUCCESS ? NVML_SUCCESS
                                                                                           : NVML_ERROR_UNKNOWN;
}

/// What a process was started as: the first word of its command line. Empty for one without, as the kernel's are.
std::string name_of_process(const std::filesystem::path& folder) {
  std::ifstream file(folder / "cmdline", std::ios::binary);
  std::string name;
  std::getline(file, name, '\0');
  return name;
}

}  // namespace

nvmlReturn_t nvmlInit_v2() {
  return api_call_before_init(&begin);
}
nvmlReturn_t nvmlInit() {
  return api_call_before_init(&begin);
}
nvmlReturn_t nvmlInitWithFlags(unsigned int) {  // both flags allow what always holds here
  return api_call_before_init(&begin);
}

nvmlReturn_t nvmlShutdown() {
  return api_call_before_init([] { return Library::get().end() ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED; });
}

const char* nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
#define NVML_ERROR_ROW(name, number, text) \
  case name:                               \
    return text;
#include "cupola/nvml_errors.def"
  }
  return "no error of NVML has this number";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  return api_call([&] { return store_text(version, length, CUPOLA_VERSION); });
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned int length) {
  return api_call([&] { return store_text(version, length, NVML_API_VERSION_STR "." CUPOLA_VERSION); });
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* cudaDriverVersion) {
  return api_call_before_init(
      [&] { return cudaDriverVersion ? driver_version(cudaDriverVersion) : NVML_ERROR_INVALID_ARGUMENT; });
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* cudaDriverVersion) {
  return api_call_before_init([&] {
    if (!cudaDriverVersion) return NVML_ERROR_INVALID_ARGUMENT;
    if (driver_version(cudaDriverVersion) != NVML_SUCCESS) *cudaDriverVersion = CUDA_VERSION;  // as documented
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char* name, unsigned int length) {
  return api_call([&] {
    if (!name || length == 0) return NVML_ERROR_INVALID_ARGUMENT;
    const std::filesystem::path folder = "/proc/" + std::to_string(pid);
    std::error_code error;
    if (!std::filesystem::exists(folder, error)) return NVML_ERROR_NOT_FOUND;
    // Cut to the buffer: there is no error for one that is too small.
    return store_text(name, length, name_of_process(folder).substr(0, length - 1));
  });
}
