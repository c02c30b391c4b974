#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace cupola::cpu {

// Facts of the machine that the process runs on. Any thread.

std::string processor_name();      ///< "AMD EPYC 7763", or "unknown processor"
std::string instruction_set();     ///< "x86_64" or "aarch64"
std::string processor_features();  ///< a digest of what code may use; equal digests run each other's code
uint64_t memory_bytes();
uint32_t clock_khz();  ///< 0 when unknown

/// "8GiB", "512MiB", "64KiB", "1000" (bytes). Error: InvalidValue.
Result<uint64_t> parse_bytes(const std::string& text);

}  // namespace cupola::cpu
