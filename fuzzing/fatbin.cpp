#include <cstring>

#include "image/fatbin.h"
#include "property.h"

using namespace cupola;

/// Bytes become entries inside them, or InvalidImage; entries that are written again and read back are the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size);  // exactly as long as it says, so that the sanitizer sees a read beyond
  if (size) std::memcpy(bytes.data(), data, size);
  Result<std::vector<image::FatbinEntry>> read = image::read_fatbin(bytes.data(), bytes.size());
  if (!read) {
    FUZZ_CHECK(read.error().code == ErrorCode::InvalidImage);
    return 0;
  }
  for (const image::FatbinEntry& entry : *read) {
    FUZZ_CHECK(entry.payload.data() >= bytes.data());
    const Result<std::vector<std::byte>> unpacked = image::contents(entry);
    FUZZ_CHECK(!unpacked ||
               unpacked->size() == (entry.is_compressed() ? entry.uncompressed_size : entry.payload.size()));
    FUZZ_CHECK(entry.payload.data() + entry.payload.size() <= bytes.data() + bytes.size());
  }
  const std::vector<std::byte> written = image::write_fatbin(*read).value();
  Result<std::vector<image::FatbinEntry>> again = image::read_fatbin(written.data(), written.size());
  FUZZ_CHECK(again && again->size() == read->size());
  for (size_t i = 0; i < read->size(); ++i) {
    const image::FatbinEntry &before = (*read)[i], &after = (*again)[i];
    FUZZ_CHECK(after.kind == before.kind && after.sm == before.sm);
    FUZZ_CHECK(after.payload.size() == before.payload.size());
    FUZZ_CHECK(before.payload.empty() ||
               std::memcmp(after.payload.data(), before.payload.data(), before.payload.size()) == 0);
  }
  return 0;
}
