#pragma once

#include "base/result.h"

namespace llvm {
class Function;
class Value;
}  // namespace llvm

namespace cupola::metal::build {

/// Puts AIR's functions, and those of the library of meanings (device/metal/air_meanings.c), which is linked already,
/// in the place of what AIR does not have: metal.* and cupola.* calls, LLVM's intrinsics, atomics, fences, conversions
/// between integers and floats, unreachable ends. `thread`: the function's Thread. Error: NotSupported, with the place,
/// for what has no form yet.
Result<> lower_instructions(llvm::Function& function, llvm::Value& thread);

}  // namespace cupola::metal::build
