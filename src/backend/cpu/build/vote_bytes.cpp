#include "backend/cpu/build/vote_bytes.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Local.h>

#include "backend/cpu/build/bit_tests.h"
#include "backend/cpu/build/hidden_number.h"

namespace cupola::cpu::build {
namespace {

using llvm::Value;

/// A mask that is only made a number, of a bit of each lane.
struct Vote {
  llvm::BitCastInst* number;
  unsigned bit;  ///< of the byte
};

/// A byte of each lane of a row.
using Byte = std::pair<Value*, unsigned>;

constexpr unsigned kByte = 8;

/// By the bytes that they look at, as they come.
llvm::MapVector<Byte, llvm::SmallVector<Vote, 8>> votes_of(llvm::Function& function) {
  llvm::MapVector<Byte, llvm::SmallVector<Vote, 8>> votes;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* number = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
    if (!number || !number->getType()->isIntegerTy(32) || !number->getOperand(0)->hasOneUse()) continue;
    const auto bit = bit_set_in(number->getOperand(0));
    if (!bit || bit->row->getType()->getScalarSizeInBits() != 32) continue;
    votes[{bit->row, bit->number / kByte}].push_back({number, bit->number % kByte});
  }
  return votes;
}

/// The bytes, made where the row is.
Value* bytes_of(const Byte& byte, llvm::Function& function) {
  const auto& [row, number] = byte;
  llvm::IRBuilder<> builder(&function.getEntryBlock(), function.getEntryBlock().getFirstInsertionPt());
  if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(row)) {
    auto behind = instruction->getInsertionPointAfterDef();
    if (!behind) return nullptr;
    builder.SetInsertPoint(*behind);
  }
  return builder.CreateTrunc(builder.CreateLShr(row, uint64_t{number} * kByte),
                             llvm::FixedVectorType::get(builder.getInt8Ty(), 32));
}

/// From LLVM, which makes rows of the number from a register of masks that it joins the mask with itself in first.
void hide(llvm::BitCastInst& number) {
  llvm::IRBuilder<> builder(number.getNextNode());
  Value* hidden = hidden_number(builder, &number);
  number.replaceUsesWithIf(hidden, [&](const llvm::Use& use) { return use.getUser() != hidden; });
}

}  // namespace

void vote_by_bytes(llvm::Function& function, const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& processor = *machine.getMCSubtargetInfo();
  const bool tests_bytes = processor.checkFeatures("+avx512bw") && processor.checkFeatures("+avx512vl");
  if (!tests_bytes && !processor.checkFeatures("+avx2")) return;
  for (const auto& [byte, votes] : votes_of(function)) {
    if (votes.size() < 2) continue;
    Value* bytes = bytes_of(byte, function);
    if (!bytes) continue;
    llvm::Constant* zero = llvm::Constant::getNullValue(bytes->getType());
    for (const Vote& vote : votes) {
      llvm::IRBuilder<> builder(vote.number);
      Value* mask = tests_bytes ? builder.CreateICmpNE(builder.CreateAnd(bytes, uint64_t{1} << vote.bit), zero)
                                : builder.CreateICmpSLT(builder.CreateShl(bytes, kByte - 1 - vote.bit), zero);
      Value* old = vote.number->getOperand(0);
      vote.number->setOperand(0, mask);
      llvm::RecursivelyDeleteTriviallyDeadInstructions(old);
      if (tests_bytes) hide(*vote.number);
    }
  }
}

}  // namespace cupola::cpu::build
