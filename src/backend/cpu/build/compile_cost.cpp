#include "backend/cpu/build/compile_cost.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/InstIterator.h>

#include "backend/cpu/build/polling.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

/// An access of memory becomes several pieces of code: for whole rows and others, for all lanes and some.
constexpr uint64_t kOfInstruction = 1, kOfAccess = 6;

/// Some 30 ms on a processor of 2023.
constexpr uint64_t kLong = 220;

/// What warps do together, or may do in step as older programs expect it: what one lane writes, the others read.
bool is_of_warps(const llvm::Instruction& instruction) {
  const auto intrinsic = kir::intrinsic_of(instruction);
  const bool is_together =
      intrinsic && kir::effect_of(*intrinsic) == kir::Effect::kSync && *intrinsic != kir::Intrinsic::Barrier;
  return is_together || instruction.isVolatile();
}

bool waits_or_acts_as_warp(llvm::Function& function, const kir::CallReach& reach) {
  return llvm::any_of(llvm::instructions(function), is_of_warps) || !waiting_loops(function, reach).empty();
}

}  // namespace

bool may_begin_by_thread(const KernelBody& kernel, const kir::CallReach& reach) {
  const auto functions = reach.from(kernel.body);
  uint64_t cost = 0;
  for (const llvm::Function* function : functions)
    for (const llvm::Instruction& instruction : llvm::instructions(*function))
      cost += instruction.mayReadOrWriteMemory() ? kOfAccess : kOfInstruction;
  return cost >= kLong &&
         llvm::none_of(functions, [&](llvm::Function* function) { return waits_or_acts_as_warp(*function, reach); });
}

}  // namespace cupola::cpu::build
