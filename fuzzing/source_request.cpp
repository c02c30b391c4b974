#include <algorithm>

#include "image/source_request.h"
#include "property.h"

using namespace cupola;

/// Bytes become a request, or an answer, that serialises to the same bytes, or InvalidImage.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  if (const auto request = image::deserialize_source_request(bytes))
    FUZZ_CHECK(std::ranges::equal(image::serialize(*request), bytes));
  else
    FUZZ_CHECK(request.error().code == ErrorCode::InvalidImage);
  if (const auto answer = image::deserialize_source_answer(bytes))
    FUZZ_CHECK(std::ranges::equal(image::serialize(*answer), bytes));
  else
    FUZZ_CHECK(answer.error().code == ErrorCode::InvalidImage);
  return 0;
}
