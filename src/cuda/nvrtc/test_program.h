#pragma once

#define NVRTC_GET_TYPE_NAME 1
#include <nvrtc.h>

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

// For tests only.

namespace cupola::nvrtc::test {

using Headers = std::map<std::string, std::string>;

/// A program of NVRTC that is destroyed with this.
class Rtc {
 public:
  explicit Rtc(const std::string& source, const Headers& headers = {}, const char* name = "t.cu") {
    std::vector<const char*> texts, names;
    for (const auto& [header, text] : headers) {
      texts.push_back(text.c_str());
      names.push_back(header.c_str());
    }
    created =
        nvrtcCreateProgram(&handle, source.c_str(), name, static_cast<int>(texts.size()), texts.data(), names.data());
  }
  ~Rtc() { nvrtcDestroyProgram(&handle); }
  Rtc(const Rtc&) = delete;
  Rtc& operator=(const Rtc&) = delete;

  nvrtcResult compile(std::initializer_list<const char*> options = {}) {
    return nvrtcCompileProgram(handle, static_cast<int>(options.size()), options.begin());
  }
  nvrtcResult compile_naming(std::initializer_list<const char*> names,
                             std::initializer_list<const char*> options = {}) {
    for (const char* name : names)
      if (const nvrtcResult result = nvrtcAddNameExpression(handle, name)) return result;
    return compile(options);
  }
  std::string log() const { return text(nvrtcGetProgramLogSize, nvrtcGetProgramLog); }
  std::string ptx() const { return text(nvrtcGetPTXSize, nvrtcGetPTX); }
  std::string cubin() const { return bytes(nvrtcGetCUBINSize, nvrtcGetCUBIN); }
  std::string ltoir() const { return bytes(nvrtcGetLTOIRSize, nvrtcGetLTOIR); }
  std::string lowered(const char* name) const {
    const char* lowered = nullptr;
    return nvrtcGetLoweredName(handle, name, &lowered) == NVRTC_SUCCESS ? lowered : "(none)";
  }

  nvrtcProgram handle = nullptr;
  nvrtcResult created;

 private:
  using Size = nvrtcResult (*)(nvrtcProgram, size_t*);
  using Get = nvrtcResult (*)(nvrtcProgram, char*);

  std::string bytes(Size size, Get get) const {
    size_t count = 0;
    if (size(handle, &count) != NVRTC_SUCCESS) return {};
    std::string result(count, '?');
    return count != 0 && get(handle, result.data()) == NVRTC_SUCCESS ? result : std::string();
  }
  /// Without the zero that ends it, which must be there.
  std::string text(Size size, Get get) const {
    std::string result = bytes(size, get);
    if (result.empty() || result.back() != '\0') return "(no zero at the end)";
    result.pop_back();
    return result;
  }
};

}  // namespace cupola::nvrtc::test
