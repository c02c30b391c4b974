#pragma once

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Of greatest and least numbers (`atomicMax(result, x[i])`) whose old value nobody asks for, has those left out that
/// would change nothing, as a look at the place tells: an update takes the line from other cores, a look shares it. To
/// relaxed updates, as CUDA's are, it is no difference. For the end: what is looked at may not be gathered any more
/// (block_updates.h).
void leave_out_idle_updates(llvm::Function& function);

}  // namespace cupola::cpu::build
