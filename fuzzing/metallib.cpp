#include <algorithm>
#include <cstring>

#include "backend/metal/metallib/check.h"
#include "backend/metal/metallib/module_summary.h"
#include "property.h"

using namespace cupola;

namespace {

bool is_line(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

/// What is read is written byte for byte, and all else is InvalidImage with a line of text. Whatever stands in
/// sections, metadata and modules can be looked at. The bytes are tried as a module too.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size);  // exactly as long as it says, so that the sanitizer sees a read beyond
  if (size) std::memcpy(bytes.data(), data, size);
  const Result<metallib::ModuleSummary> module = metallib::summarize(bytes);
  FUZZ_CHECK(module || module.error().code == ErrorCode::InvalidImage);

  const Result<metallib::Library> library = metallib::read(bytes);
  if (!library) {
    FUZZ_CHECK(library.error().code == ErrorCode::InvalidImage);
    FUZZ_CHECK(library.error().message.starts_with("metallib: ") && is_line(library.error().message));
    return 0;
  }
  FUZZ_CHECK(metallib::is_metallib(bytes));
  FUZZ_CHECK(metallib::stated_size(bytes) == bytes.size());
  FUZZ_CHECK(metallib::sources(*library) && metallib::reflections(*library) && metallib::library_name(*library));
  FUZZ_CHECK(std::ranges::all_of(metallib::check(*library, {true, true}), is_line));
  const Result<std::vector<std::byte>> written = metallib::write(*library);
  FUZZ_CHECK(written && *written == bytes);
  return 0;
}
