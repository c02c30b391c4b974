#pragma once

#include "backend/metal/metallib/tags.h"

// Bitcode on Apple's systems stands in a wrapper: five 32-bit words (magic, version, offset, size, processor), then the
// bitcode itself. https://llvm.org/docs/BitCodeFormat.html#bitcode-wrapper-format

namespace cupola::metallib {

inline constexpr uint32_t kWrapperMagic = 0x0B17C0DE, kWrapperBytes = 20, kAnyProcessor = 0xFFFFFFFF;

bool is_wrapped(Bytes module);

/// The bitcode of a module, with or without a wrapper. Error: InvalidImage for what is no bitcode.
Result<Bytes> unwrapped(Bytes module);

}  // namespace cupola::metallib
