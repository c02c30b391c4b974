#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compile.h"
#include "hal/device.h"
#include "image/compile_request.h"

// For tests only.

namespace cupola {

/// What the C entry answers.
inline Result<std::shared_ptr<const std::vector<std::byte>>> compiled(const image::CompileRequest& request) {
  const auto bytes = image::serialize(request);
  void* output = nullptr;
  size_t size = 0;
  const int code = cupola_compile(bytes.data(), bytes.size(), &output, &size);
  const auto* first = static_cast<const std::byte*>(output);
  auto answer = std::make_shared<const std::vector<std::byte>>(first, first + size);
  cupola_compile_free(output);
  if (code == 0) return answer;
  return fail(static_cast<ErrorCode>(code), "{}",
              std::string_view(reinterpret_cast<const char*>(answer->data()), answer->size()));
}

inline std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Text on the device, as programs load it: kernels are compiled when they are launched.
inline Result<std::shared_ptr<hal::Executable>> load_code(hal::Device& device, image::CodeKind kind,
                                                          const std::string& text) {
  const std::string target = device.properties().image_target;
  TRY(const auto image, compiled({target, "", {{kind, bytes_of(text)}}, {}}));
  return device.load(
      *image,
      [target](std::span<const std::byte> unit, std::string_view code,
               hal::Ask ask) -> Result<std::shared_ptr<const std::vector<std::byte>>> {
        if (ask == hal::Ask::Look) return nullptr;
        return compiled({target, "", {{image::CodeKind::KernelUnit, {unit.begin(), unit.end()}}}, std::string(code)});
      });
}

}  // namespace cupola
