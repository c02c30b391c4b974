#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace cupola::metallib {

using Sha256 = std::array<std::byte, 32>;

/// SHA-256 (FIPS 180-4). Modules are named by it; nothing here is secret.
Sha256 sha256(std::span<const std::byte> bytes);

/// 64 hexadecimal digits.
std::string hex(std::span<const std::byte> bytes);

}  // namespace cupola::metallib
