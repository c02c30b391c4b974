#pragma once

#include <cstdint>

namespace cupola::hal {

/// Bytes that each of the process's devices reports and its buffers may commit: what CUPOLA_MEMORY says, else the
/// device's share of `whole`. A CUPOLA_MEMORY that is no number of bytes is logged.
uint64_t reported_memory(uint64_t whole);

}  // namespace cupola::hal
