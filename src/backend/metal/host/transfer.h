#pragma once

#include "hal/command.h"

namespace cupola::metal {

// Memory is one: the host copies and fills, also what lies in the arena.
void run(const hal::Copy& copy);
Result<> run(const hal::Fill& fill);

}  // namespace cupola::metal
