#include "image/kernel_image.h"
#include "hashed_bytes.h"
#include "property.h"

using namespace cupola;

/// Bytes become an image that serialises to the same bytes, or InvalidImage; the loader's promises hold for what is
/// accepted. The hash is made right first, or nothing behind it would ever be reached.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::byte> bytes = with_hash(data, size);
  Result<image::KernelImage> read = image::deserialize(bytes);
  if (!read) {
    FUZZ_CHECK(read.error().code == ErrorCode::InvalidImage);
    return 0;
  }
  FUZZ_CHECK(image::serialize(*read) == bytes);
  FUZZ_CHECK(read->slots_offset <= read->segment.size());
  const auto is_code = [&](uint64_t entry) { return entry == image::kNoEntry || entry < read->slots_offset; };
  for (const image::Kernel& kernel : read->kernels) {
    FUZZ_CHECK(is_code(kernel.entry));
    for (const image::WideEntry& wide : kernel.wide_entries) FUZZ_CHECK(is_code(wide.place));
  }
  for (const image::Import& import : read->imports) {
    FUZZ_CHECK(import.slot >= read->slots_offset);
    FUZZ_CHECK(import.slot + 8 <= read->segment.size());
  }
  for (const image::DataRelocation& relocation : read->relocations)
    FUZZ_CHECK(relocation.offset + 8 <= read->data.size());
  return 0;
}
