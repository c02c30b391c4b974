#include "backend/cpu/build/stream_habits.h"

#include <llvm/Target/TargetMachine.h>

#include "backend/cpu/build/processor_line.h"

namespace cupola::cpu::build {
namespace {

/// Of Zen 3 and 4.
constexpr StreamHabits kAmd = {.ahead = StreamHabits::Ahead{1024, Level::First},
                               .rows_of_grid = 6,
                               .fetches_next_of_grid = true,
                               .fetches_next_in_order = true,
                               .arrays_in_turn = true,
                               .every_second_block = true,
                               .structures_in_turn = false};
/// Of Zen 5, which fetches streams by itself faster than where code asks for their lines.
constexpr StreamHabits kZen5 = {.ahead = std::nullopt,
                                .rows_of_grid = 12,
                                .fetches_next_of_grid = false,
                                .fetches_next_in_order = false,
                                .arrays_in_turn = false,
                                .every_second_block = false,
                                .structures_in_turn = true};
/// Of a Xeon with AMX. Intel's second cache fetches of many streams at a time by itself, each up to the end of a page
/// of 4 KiB (Intel 64 and IA-32 Architectures Optimization Reference Manual, "Data Prefetching"): it is shown the next
/// one.
constexpr StreamHabits kIntel = {.ahead = StreamHabits::Ahead{4096, Level::Second},
                                 .rows_of_grid = 12,
                                 .fetches_next_of_grid = false,
                                 .fetches_next_in_order = true,
                                 .arrays_in_turn = true,
                                 .every_second_block = true,
                                 .structures_in_turn = false};

}  // namespace

const StreamHabits& stream_habits(const llvm::TargetMachine& machine) {
  if (machine.getTargetCPU() == "znver5") return kZen5;
  return line_of(machine) == ProcessorLine::Intel ? kIntel : kAmd;
}

}  // namespace cupola::cpu::build
