#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"

// What libnvvm and libnvrtc give for link-time optimisation, and libnvJitLink takes: kir bitcode behind a header. The
// header's first four bytes are those by which programs know such code whoever made it (0x7F4E43ED, little-endian;
// numba-cuda's generate_raw_ltoir.py names them); the next four say that it is Cupola's.

namespace cupola::image {

std::vector<std::byte> write_lto(std::span<const std::byte> kir);

/// True for code for link-time optimisation, whoever made it.
bool is_lto(std::span<const std::byte> code);

/// The kir in it. Error: NoBinaryForGpu for code of another compiler.
Result<std::span<const std::byte>> read_lto(std::span<const std::byte> code);

}  // namespace cupola::image
