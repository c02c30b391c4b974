#include <nvrtc.h>

#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "property.h"

namespace {

bool expected(nvrtcResult result) {
  return result == NVRTC_SUCCESS || result == NVRTC_ERROR_COMPILATION || result == NVRTC_ERROR_INVALID_OPTION ||
         result == NVRTC_ERROR_TIME_FILE_WRITE_FAILED;
}

/// Options that read or write files of the fuzzer's choice are left out.
bool harmless(const std::string& option) {
  for (const char* name : {"time", "I", "include"})
    if (option.contains(name)) return false;
  return true;
}

}  // namespace

/// The first line is a name expression, the second options, the rest a source: it compiles, or the log says why not.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::istringstream text(std::string(reinterpret_cast<const char*>(data), size));
  std::string name, line, source;
  std::getline(text, name);
  std::getline(text, line);
  std::getline(text, source, '\0');
  std::vector<std::string> options;
  std::istringstream words(line);
  for (std::string word; words >> word;)
    if (harmless(word)) options.push_back(word);
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());

  nvrtcProgram program = nullptr;
  FUZZ_CHECK(nvrtcCreateProgram(&program, source.c_str(), "fuzz.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  if (!name.empty()) FUZZ_CHECK(nvrtcAddNameExpression(program, name.c_str()) == NVRTC_SUCCESS);
  const nvrtcResult result = nvrtcCompileProgram(program, static_cast<int>(pointers.size()), pointers.data());
  FUZZ_CHECK(expected(result));
  size_t bytes = 0;
  FUZZ_CHECK(nvrtcGetProgramLogSize(program, &bytes) == NVRTC_SUCCESS && bytes > 0);
  std::string log(bytes, '?');
  FUZZ_CHECK(nvrtcGetProgramLog(program, log.data()) == NVRTC_SUCCESS && log.back() == '\0');
  FUZZ_CHECK(result == NVRTC_SUCCESS || bytes > 1);
  FUZZ_CHECK(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS);
  return 0;
}
