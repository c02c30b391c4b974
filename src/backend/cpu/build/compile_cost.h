#pragma once

#include "backend/cpu/build/context_parameter.h"
#include "kir/call_reach.h"

namespace cupola::cpu::build {

/// Whether the kernel's code for warps takes longer to make than a first launch should wait, some 30 ms, and its code
/// for a thread, which is there in a third of that or less, can do until then: not where warps do things together,
/// which takes hundreds of times as long a thread at a time, or may rely on being in step (volatile accesses), and not
/// where threads may wait for others, which the one code might do in other ways than the other. After lower_shared,
/// before lower_intrinsics.
bool may_begin_by_thread(const KernelBody& kernel, const kir::CallReach& reach);

}  // namespace cupola::cpu::build
