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

/// What a warp in step does as older programs expect it: what one lane writes, the others read.
bool is_volatile(const llvm::Instruction& instruction) {
  return instruction.isVolatile();
}

bool is_of_warps(const llvm::Instruction& instruction) {
  const auto intrinsic = kir::intrinsic_of(instruction);
  return intrinsic && kir::effect_of(*intrinsic) == kir::Effect::kSync && *intrinsic != kir::Intrinsic::Barrier;
}

}  // namespace

bool may_begin_by_thread(const KernelBody& kernel, const kir::CallReach& reach) {
  uint64_t cost = 0;
  for (llvm::Function* function : reach.from(kernel.body)) {
    if (llvm::any_of(llvm::instructions(*function), is_of_warps) ||
        llvm::any_of(llvm::instructions(*function), is_volatile) || !waiting_loops(*function, reach).empty())
      return false;
    for (const llvm::Instruction& instruction : llvm::instructions(*function))
      cost += instruction.mayReadOrWriteMemory() ? kOfAccess : kOfInstruction;
  }
  return cost >= kLong;
}

}  // namespace cupola::cpu::build
