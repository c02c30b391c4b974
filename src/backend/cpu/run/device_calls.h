#pragma once

#include "image/device_calls.h"

namespace cupola::cpu {

class Block;

/// A call that a thread of the block makes, on its fibre; `operands` are the kind's. May end the fibre or throw
/// std::bad_alloc.
image::DeviceError answer(Block& block, image::DeviceCall kind, void* operands);

}  // namespace cupola::cpu
