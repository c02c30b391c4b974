#pragma once

#include "base/trace.h"
#include "hal/command.h"

namespace cupola::cpu {

/// Puts a command that is done into the trace: from `begin` (trace::now()), when its queue began it, to now. Only
/// launches, copies and fills are recorded.
void record_command(const hal::Command& command, uint64_t queue, uint64_t begin);

/// A number for a queue in the trace, from 1.
uint64_t next_traced_queue();

}  // namespace cupola::cpu
