#pragma once

#include <optional>
#include <string>

#include "image/wire.h"

// What every kernel image looks like from outside, whatever device it is for: magic, version, target, body, and the
// hash of all before it.

namespace cupola::image {

inline constexpr uint32_t kFormatVersion = 19;

void begin_image(wire::Writer& out, std::string_view target);
std::vector<std::byte> end_image(wire::Writer out);

/// The target and the body, for the reader that knows it. Errors: InvalidImage for what is no image, of another
/// version, damaged or cut.
Result<wire::Reader> open_image(std::span<const std::byte> bytes);

/// The target alone, read from the front; nothing where the bytes begin no image of this format.
std::optional<std::string> target_of(std::span<const std::byte> bytes);

}  // namespace cupola::image
