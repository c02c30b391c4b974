#include "backend/cpu/build/next_turns.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "backend/cpu/build/place_arguments.h"
#include "backend/cpu/build/warp_coroutine.h"
#include "image/cpu_abi.h"

namespace cupola::cpu::build {
namespace {

using image::cpu::ThreadContext;
using llvm::Instruction;
using llvm::Value;

constexpr uint64_t kLine = 64;

/// The address that a turn of `loop` has, computed a turn before, at `place`.
class NextTurn {
 public:
  NextTurn(const llvm::Loop& loop, Instruction& place, const llvm::DominatorTree& dominators)
      : loop_(loop), place_(place), dominators_(dominators) {}

  /// Null where it is the same in all turns, or cannot be told for little.
  Value* address(Value* now) {
    Value* next = of_next(now);
    if (next && next != now) return next;
    for (Instruction* copy : llvm::reverse(copies_)) copy->eraseFromParent();
    return nullptr;
  }

 private:
  static constexpr size_t kMostCopies = 16;

  Value* of_next(Value* value) {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || !loop_.contains(instruction)) return value;
    auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction);
    if (phi && phi->getParent() == loop_.getHeader())
      return of_this(phi->getIncomingValueForBlock(loop_.getLoopLatch()));
    return copy(*instruction, [&](Value* operand) { return of_next(operand); });
  }

  Value* of_this(Value* value) {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || dominators_.dominates(instruction, &place_)) return value;
    return copy(*instruction, [&](Value* operand) { return of_this(operand); });
  }

  template <typename Operand>
  Value* copy(Instruction& instruction, Operand operand) {
    if (!llvm::isa<llvm::CastInst, llvm::GetElementPtrInst, llvm::BinaryOperator>(instruction) ||
        instruction.isIntDivRem())
      return nullptr;
    llvm::SmallVector<Value*, 4> operands;
    bool is_same = true;
    for (Value* before : instruction.operands()) {
      operands.push_back(operand(before));
      if (!operands.back()) return nullptr;
      is_same &= operands.back() == before;
    }
    if (is_same && dominators_.dominates(&instruction, &place_)) return &instruction;
    if (copies_.size() == kMostCopies) return nullptr;
    Instruction* made = instruction.clone();
    for (unsigned i = 0; i < operands.size(); ++i) made->setOperand(i, operands[i]);
    made->dropPoisonGeneratingFlags();
    made->insertBefore(place_.getIterator());
    copies_.push_back(made);
    return made;
  }

  const llvm::Loop& loop_;
  Instruction& place_;
  const llvm::DominatorTree& dominators_;
  llvm::SmallVector<Instruction*, kMostCopies> copies_;
};

/// Where a row of memory is read; null: the instruction reads none.
Value* row_read_by(const Instruction& instruction) {
  Value* address = nullptr;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    address = load->isSimple() ? load->getOperand(0) : nullptr;
  else if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    address = call->getIntrinsicID() == llvm::Intrinsic::masked_load ? call->getArgOperand(0) : nullptr;
  const bool is_row = address && instruction.getType()->isVectorTy() &&
                      instruction.getDataLayout().getTypeStoreSize(instruction.getType()).getFixedValue() >= kLine;
  return is_row ? address : nullptr;
}

void prefetch(Instruction& read, Value* address) {
  llvm::IRBuilder<> builder(&read);
  const uint64_t bytes = read.getDataLayout().getTypeStoreSize(read.getType()).getFixedValue();
  for (uint64_t line = 0; line < bytes; line += kLine) {
    Value* place = builder.CreateConstGEP1_64(builder.getInt8Ty(), address, line);
    builder.CreateIntrinsic(llvm::Intrinsic::prefetch, {builder.getPtrTy()},
                            {place, builder.getInt32(0), builder.getInt32(3), builder.getInt32(1)});
  }
}

/// Memory that others than the block's threads have too.
bool is_global(const PlacedCode& placed, const Value* address) {
  const Value* object = llvm::getUnderlyingObject(address, /*MaxLookup=*/0);
  const bool has_window = llvm::is_contained(placed.fields, offsetof(ThreadContext, shared_window));
  return llvm::isa<llvm::Argument>(object) &&
         !(has_window && object == placed.place(offsetof(ThreadContext, shared_window)));
}

}  // namespace

void prefetch_next_turns(const PlacedCode& placed) {
  const llvm::DominatorTree dominators(*placed.code);
  const llvm::LoopInfo loops(dominators);
  llvm::SmallPtrSet<const llvm::Loop*, 4> stopping;
  for (llvm::CallInst* barrier : block_barriers(*placed.code))
    if (const llvm::Loop* loop = loops.getLoopFor(barrier->getParent()); loop && loop->getLoopLatch())
      stopping.insert(loop);
  llvm::SmallVector<std::pair<Instruction*, const llvm::Loop*>, 16> reads;
  for (Instruction& instruction : llvm::instructions(*placed.code)) {
    const llvm::Loop* loop = loops.getLoopFor(instruction.getParent());
    Value* address = stopping.contains(loop) ? row_read_by(instruction) : nullptr;
    if (address && is_global(placed, address)) reads.push_back({&instruction, loop});
  }
  for (const auto& [read, loop] : reads)
    if (Value* next = NextTurn(*loop, *read, dominators).address(row_read_by(*read))) prefetch(*read, next);
}

}  // namespace cupola::cpu::build
