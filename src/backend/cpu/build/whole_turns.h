#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace cupola::cpu::build {

/// Of loops that lanes leave one by one when their numbers reach a bound (`for (i = threadIdx.x; i < n; i += step)`):
/// as long as all lanes are in one, its turns ask of the last lane alone, and carry no mask; only the last turns ask
/// each lane. For the end, before ask_for_whole_rows().
void ask_for_whole_turns(llvm::Function& function);

}  // namespace cupola::cpu::build
