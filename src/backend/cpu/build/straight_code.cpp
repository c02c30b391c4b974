#include "backend/cpu/build/straight_code.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>

#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

/// Of a call of LLVM's, which may become one of the C library's.
constexpr uint32_t kOfCall = 100;
constexpr uint32_t kOfDivision = 20;
/// Where the lanes of a warp read or write apart, each does so alone.
constexpr uint32_t kOfAccess = 8;
/// More are not counted: it is no short code.
constexpr uint32_t kMost = 1'000'000;

/// Bytes that are moved or set by an instruction.
constexpr uint64_t kBytesAtOnce = 16;

/// Nothing: not known.
std::optional<uint32_t> count_of_call(const llvm::CallBase& call) {
  if (const auto effect = kir::effect_of(call)) {
    const bool is_over_soon =
        *effect == kir::Effect::kPure || *effect == kir::Effect::kObserve || *effect == kir::Effect::kNoReturn;
    if (!is_over_soon) return std::nullopt;
    return 1;
  }
  if (const auto* const memory = llvm::dyn_cast<llvm::MemIntrinsic>(&call)) {
    const auto* const bytes = llvm::dyn_cast<llvm::ConstantInt>(memory->getLength());
    if (!bytes || bytes->getValue().uge(UINT16_MAX)) return std::nullopt;
    return static_cast<uint32_t>(kOfAccess * (bytes->getZExtValue() / kBytesAtOnce + 1));
  }
  if (llvm::isa<llvm::IntrinsicInst>(call)) return kOfCall;
  return std::nullopt;
}

std::optional<uint32_t> count_of(const llvm::Instruction& instruction) {
  if (const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction)) return count_of_call(*call);
  switch (instruction.getOpcode()) {
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem:
    case llvm::Instruction::FRem:
      return kOfDivision;
    default:
      return instruction.mayReadOrWriteMemory() ? kOfAccess : 1;
  }
}

bool goes_in_turns(const llvm::Function& function) {
  llvm::SmallVector<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>, 4> ways_back;
  llvm::FindFunctionBackedges(function, ways_back);
  return !ways_back.empty();
}

}  // namespace

uint32_t most_instructions(const llvm::Function& kernel) {
  if (goes_in_turns(kernel)) return 0;
  uint32_t sum = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(kernel)) {
    const std::optional<uint32_t> count = count_of(instruction);
    if (!count) return 0;
    sum += *count;
    if (sum > kMost) return 0;
  }
  return sum;
}

}  // namespace cupola::cpu::build
