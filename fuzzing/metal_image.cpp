#include "image/metal_image.h"

#include "hashed_bytes.h"
#include "property.h"

using namespace cupola;

/// As kernel_image.cpp, for images of the metal device.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::byte> bytes = with_hash(data, size);
  Result<image::MetalImage> read = image::deserialize_metal(bytes);
  if (!read) {
    FUZZ_CHECK(read.error().code == ErrorCode::InvalidImage);
    return 0;
  }
  FUZZ_CHECK(image::serialize(*read) == bytes);
  FUZZ_CHECK(read->target.starts_with(image::kMetalTarget));
  for (const image::MetalKernel& kernel : read->kernels) FUZZ_CHECK(kernel.entry.empty() != kernel.refusal.empty());
  for (const image::DataSymbol& symbol : read->symbols)
    FUZZ_CHECK(symbol.offset <= read->data.size() && symbol.size <= read->data.size() - symbol.offset);
  for (const image::DataRelocation& relocation : read->relocations)
    FUZZ_CHECK(relocation.offset + 8 <= read->data.size() && relocation.addend <= read->data.size());
  return 0;
}
