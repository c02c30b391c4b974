#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace cupola::cpu {

// Facts of the machine that the process runs on. Any thread.

std::string processor_name();   ///< "AMD EPYC 7763", or "unknown processor"
std::string instruction_set();  ///< "x86_64" or "aarch64"
/// What code may use: the level of x86-64 that is `wanted`, where this processor has it, else a digest of all that it
/// has. Equal answers run each other's code. A level that it has not is reported.
std::string processor_to_compile_for(const std::string& wanted);
uint64_t memory_bytes();
uint32_t clock_khz();  ///< 0 when unknown

}  // namespace cupola::cpu
