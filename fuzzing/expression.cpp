#include "array/expression.h"

#include <algorithm>

#include "property.h"

using namespace cupola;

/// Bytes become an expression that serialises to the same bytes, or InvalidImage.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  if (const auto expression = array::deserialize_expression(bytes))
    FUZZ_CHECK(std::ranges::equal(array::serialize(*expression), bytes));
  else
    FUZZ_CHECK(expression.error().code == ErrorCode::InvalidImage);
  return 0;
}
