#include <cstring>

#include "image/compile_request.h"
#include "property.h"

using namespace cupola;

/// Bytes become a request that serialises to the same bytes, or InvalidImage.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size);
  if (size) std::memcpy(bytes.data(), data, size);
  Result<image::CompileRequest> read = image::deserialize_request(bytes);
  if (read) {
    FUZZ_CHECK(image::serialize(*read) == bytes);
    FUZZ_CHECK(image::cache_key(*read).size() == 32);
  } else {
    FUZZ_CHECK(read.error().code == ErrorCode::InvalidImage);
  }
  return 0;
}
