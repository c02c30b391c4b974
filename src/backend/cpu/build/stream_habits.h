#pragma once

#include <cstdint>
#include <optional>

#include "backend/cpu/build/vector_prefetch.h"

namespace llvm {
class TargetMachine;
}

// What helps a processor through memory that is read from one end to the other, which each fetches by itself in its own
// way.

namespace cupola::cpu::build {

struct StreamHabits {
  /// So many bytes ahead, into that cache.
  struct Ahead {
    uint64_t bytes;
    Level level;
  };
  /// Where blocks read one after the other; nullopt: nothing is asked for.
  std::optional<Ahead> ahead;
  /// In loops over the grid: of so many rows at most turns are taken together, and whether the next ones are asked for.
  uint32_t rows_of_grid;
  bool fetches_next_of_grid;
  /// Where blocks read in order, whether each asks for the next one's (row_turns.h).
  bool fetches_next_in_order;
  /// A block that reads several arrays reads of one after the other (rows_in_step.h).
  bool arrays_in_turn;
  /// Of blocks beside each other that read what others read, every second one comes first.
  bool every_second_block;
  /// A register's lanes read and write their structures before the next ones do (structures_in_turn.h).
  bool structures_in_turn;
};

/// As measured (docs/adr/0010-warps-in-step.md): of all of Intel's what is best for the one that was, a Xeon with AMX;
/// of other processors that were not, and of levels of an instruction set, what is best for AMD's.
const StreamHabits& stream_habits(const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
