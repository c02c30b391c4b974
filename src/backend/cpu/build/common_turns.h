#pragma once

#include <llvm/ADT/SmallVector.h>

#include <cstdint>
#include <utility>

#include "backend/cpu/build/counted_loop.h"

namespace llvm {
class Instruction;
class Loop;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// Turns of a loop that all of some threads have, a block's or a grid's: in each their counters lie in a row.
struct CommonTurns {
  const llvm::Loop* loop;
  CountedLoop counted;  ///< the end is the same for them
  llvm::Value* begin;   ///< the first one's counter when the loop begins, of the counter's type
  /// By what a thread's is more: registers, of 32 bits, and what they are multiplied by.
  llvm::SmallVector<std::pair<llvm::Instruction*, uint64_t>, 2> places;
  uint64_t between;    ///< from one thread's counter to the next one's
  llvm::Value* step;   ///< of 64 bits: of a counter in a turn, from the first thread's to behind the last one's
  uint64_t most_step;  ///< with more the sums may wrap
  uint32_t at_a_time;  ///< turns from meeting to meeting
};

/// Whether the counter is as wide as meet_in_common_turns takes it.
bool has_counter_of_turns(const CountedLoop& loop);

/// Writes the turns that all the threads have before the loop, which is left what remains: `at_a_time` of them, and a
/// meeting of each block behind, and so on. What a turn leaves to the next needs no coroutine's frame then, and none
/// of these turns is asked whether it is one. For loops in whose turns blocks may meet once more (counted_loop.h).
void meet_in_common_turns(const CommonTurns& turns);

}  // namespace cupola::cpu::build
