#pragma once

#include <cstdint>

#include "base/result.h"

namespace llvm {
class CallInst;
}

namespace cupola::metal::build {

class HeldPointers;

/// Rewrites a call of a row of kir's intrinsics.def that takes or gives pointers. True: the call has something in its
/// place, and goes. Error: NotSupported, with the place, for those that Metal has nothing for. `constant_bytes`: as
/// kir::ModuleData has it.
Result<bool> rewrite_kir_call(HeldPointers& pointers, llvm::CallInst& call, uint64_t constant_bytes);

}  // namespace cupola::metal::build
