#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupola::runtime {

using Uuid = std::array<unsigned char, 16>;

/// As nvidia-smi writes it: GPU-8932f937-d72c-4106-c12f-20bd9faed9f6.
std::string text_of(const Uuid& uuid);

/// Which of the machine's devices programs see, in their order: what CUDA_VISIBLE_DEVICES says, by "CUDA C++
/// Programming Guide, CUDA Environment Variables". Entries are numbers, or "GPU-" and enough of a UUID; the first that
/// is none of the devices hides those behind it. What that leaves open is as on an H200 (driver 580): all entries are
/// of the first one's kind, and what follows the digits of a number is passed over. Errors: NoDevice; InvalidDevice for
/// a device twice.
Result<std::vector<size_t>> visible_devices(std::string_view wanted, std::span<const Uuid> devices);

}  // namespace cupola::runtime
