#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupola::image {

/// How a serialised expression of arrays (src/array/expression.h) begins: these eight characters, then its whole length
/// in bytes, 64 bits, so that a pointer alone says how much there is to read.
inline constexpr std::string_view kExpressionMagic = "cupexpr1";
inline constexpr size_t kExpressionHeader = 16, kMostExpressionBytes = size_t{1} << 24;

std::vector<std::byte> frame_expression(std::span<const std::byte> contents);

/// The whole expression at `bytes`, of which `limit` are readable: header and contents. Error: InvalidImage for one
/// that is cut, or says that it is longer than any is.
Result<std::span<const std::byte>> expression_at(const std::byte* bytes, size_t limit);

/// What follows the header of exactly one expression. Error: InvalidImage.
Result<std::span<const std::byte>> expression_contents(std::span<const std::byte> bytes);

}  // namespace cupola::image
