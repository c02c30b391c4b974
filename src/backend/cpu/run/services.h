#pragma once

#include "image/cpu_abi.h"

namespace cupola::cpu {

/// What generated code calls, on the fibres of blocks.
const image::cpu::Services& services();

}  // namespace cupola::cpu
