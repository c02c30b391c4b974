#include "backend/cpu/build/stream_habits.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

namespace cupola::cpu::build {
namespace {

/// Of Zen 3 and 4.
constexpr StreamHabits kAmd = {.ahead = 1024, .level = Level::First, .rows_of_grid = 6, .fetches_next_of_grid = true};
/// Of a Xeon with AMX. Intel's second cache fetches of many streams at a time by itself, each up to the end of a page
/// of 4 KiB (Intel 64 and IA-32 Architectures Optimization Reference Manual, "Data Prefetching"): it is shown the next
/// one.
constexpr StreamHabits kIntel = {
    .ahead = 4096, .level = Level::Second, .rows_of_grid = 12, .fetches_next_of_grid = false};

/// Of processors' names in LLVM: those of x86 that are no level and not AMD's.
bool is_intel(const llvm::TargetMachine& machine) {
  constexpr llvm::StringLiteral kOthers[] = {"x86-64", "generic", "znver", "bdver", "btver", "amdfam", "k8", "athlon"};
  const llvm::StringRef name = machine.getTargetCPU();
  return machine.getTargetTriple().isX86() && !name.empty() &&
         llvm::none_of(kOthers, [&](llvm::StringRef other) { return name.starts_with(other); });
}

}  // namespace

const StreamHabits& stream_habits(const llvm::TargetMachine& machine) {
  return is_intel(machine) ? kIntel : kAmd;
}

}  // namespace cupola::cpu::build
