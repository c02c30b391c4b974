#include "backend/metal/metallib/bitcode_wrapper.h"

namespace cupola::metallib {
namespace {

constexpr uint32_t kBitcodeMagic = 0xDEC04342;  // "BC", 0xC0DE

uint32_t word_at(Bytes bytes, size_t offset) {
  uint32_t word;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

}  // namespace

bool is_wrapped(Bytes module) {
  return module.size() >= sizeof(uint32_t) && word_at(module, 0) == kWrapperMagic;
}

Result<Bytes> unwrapped(Bytes module) {
  if (is_wrapped(module)) {
    if (module.size() < kWrapperBytes)
      return fail(ErrorCode::InvalidImage, "bitcode: a wrapper of {} bytes, not {}", module.size(), kWrapperBytes);
    const uint32_t offset = word_at(module, 8), size = word_at(module, 12);
    if (offset < kWrapperBytes || offset > module.size() || size > module.size() - offset)
      return fail(ErrorCode::InvalidImage, "bitcode: the wrapper names {} bytes at {}, but the module has {}", size,
                  offset, module.size());
    module = module.subspan(offset, size);
  }
  if (module.size() < sizeof(uint32_t) || word_at(module, 0) != kBitcodeMagic)
    return fail(ErrorCode::InvalidImage, "bitcode: it does not begin with 'BC' and 0xc0de");
  return module;
}

}  // namespace cupola::metallib
