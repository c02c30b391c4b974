#include "backend/cpu/build/first_lanes.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <bit>
#include <numeric>
#include <optional>

namespace cupola::cpu::build {
namespace {

using llvm::Value;

constexpr unsigned kLeastBits = 64;

/// Of the mask, which is known and has no others; 0: it is not, or has.
unsigned first_lanes(const Value& mask) {
  const auto* known = llvm::dyn_cast<llvm::Constant>(&mask);
  if (!known) return 0;
  unsigned count = 0;
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(mask.getType())->getNumElements();
  for (unsigned i = 0; i < lanes; ++i) {
    const auto* bit = llvm::dyn_cast_or_null<llvm::ConstantInt>(known->getAggregateElement(i));
    if (!bit || (bit->isOne() && count != i)) return 0;
    count += bit->isOne();
  }
  return count;
}

/// A masked load or store.
struct MaskedRow {
  llvm::IntrinsicInst* call;
  bool is_load;
  llvm::FixedVectorType* type;
  Value* mask;
};

std::optional<MaskedRow> masked_row(llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return std::nullopt;
  const bool is_load = call->getIntrinsicID() == llvm::Intrinsic::masked_load;
  if (!is_load && call->getIntrinsicID() != llvm::Intrinsic::masked_store) return std::nullopt;
  llvm::Type* type = is_load ? call->getType() : call->getArgOperand(0)->getType();
  return MaskedRow{call, is_load, llvm::cast<llvm::FixedVectorType>(type), call->getArgOperand(is_load ? 1 : 2)};
}

void shorten(const MaskedRow& row, unsigned count) {
  llvm::IntrinsicInst& call = *row.call;
  llvm::IRBuilder<> builder(&call);
  const llvm::Align alignment = call.getParamAlign(row.is_load ? 0 : 1).valueOrOne();
  auto* type = llvm::FixedVectorType::get(row.type->getElementType(), count);
  llvm::SmallVector<int, 32> lanes(row.type->getNumElements());
  std::iota(lanes.begin(), lanes.end(), 0);
  llvm::Instruction* made = nullptr;
  if (!row.is_load) {
    Value* first = builder.CreateShuffleVector(call.getArgOperand(0), llvm::ArrayRef(lanes).take_front(count));
    made = builder.CreateAlignedStore(first, call.getArgOperand(1), alignment);
  } else {
    llvm::LoadInst* read = builder.CreateAlignedLoad(type, call.getArgOperand(0), alignment);
    llvm::SmallVector<int, 32> spread(lanes);
    std::fill(spread.begin() + count, spread.end(), llvm::PoisonMaskElem);
    Value* whole = builder.CreateShuffleVector(read, spread);
    if (Value* others = call.getArgOperand(2); !llvm::isa<llvm::PoisonValue>(others)) {
      for (unsigned i = count; i < lanes.size(); ++i) lanes[i] += static_cast<int>(lanes.size());
      whole = builder.CreateShuffleVector(whole, others, lanes);
    }
    call.replaceAllUsesWith(whole);
    made = read;
  }
  made->copyMetadata(call);
  call.eraseFromParent();
}

/// The lanes of the row from bit `begin` on that the type has; null: that is not lanes of it.
Value* lanes_of(Value& row, uint64_t begin, llvm::Type& type, llvm::IRBuilder<>& builder) {
  const auto* from = llvm::dyn_cast<llvm::FixedVectorType>(row.getType());
  const uint64_t bits = type.getScalarSizeInBits();
  if (!from || from->getElementType() != type.getScalarType() || begin % bits != 0 ||
      begin + type.getPrimitiveSizeInBits() > from->getPrimitiveSizeInBits())
    return nullptr;
  const unsigned first = static_cast<unsigned>(begin / bits);
  if (!type.isVectorTy()) return builder.CreateExtractElement(&row, first);
  llvm::SmallVector<int, 32> lanes(llvm::cast<llvm::FixedVectorType>(type).getNumElements());
  std::iota(lanes.begin(), lanes.end(), static_cast<int>(first));
  return builder.CreateShuffleVector(&row, lanes);
}

}  // namespace

llvm::PreservedAnalyses ShortenRows::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    const std::optional<MaskedRow> row = masked_row(instruction);
    const unsigned count = row ? first_lanes(*row->mask) : 0;
    if (!std::has_single_bit(count) || count * row->type->getScalarSizeInBits() < kLeastBits) continue;
    shorten(*row, count);
    changed = true;
  }
  return changed ? llvm::PreservedAnalyses::allInSet<llvm::CFGAnalyses>() : llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses TakeRowsOfRows::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  if (!function.getDataLayout().isLittleEndian()) return llvm::PreservedAnalyses::all();
  using namespace llvm::PatternMatch;
  llvm::SmallVector<llvm::WeakTrackingVH, 8> unused;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    Value *row = nullptr, *number = nullptr;
    uint64_t begin = 0;
    if (!match(&instruction, m_BitCast(m_Trunc(m_Value(number)))) ||
        (!match(number, m_BitCast(m_Value(row))) &&
         !match(number, m_LShr(m_BitCast(m_Value(row)), m_ConstantInt(begin)))))
      continue;
    llvm::IRBuilder<> builder(&instruction);
    if (Value* taken = lanes_of(*row, begin, *instruction.getType(), builder)) {
      instruction.replaceAllUsesWith(taken);
      unused.push_back(&instruction);
    }
  }
  if (unused.empty()) return llvm::PreservedAnalyses::all();
  llvm::RecursivelyDeleteTriviallyDeadInstructions(unused);
  return llvm::PreservedAnalyses::allInSet<llvm::CFGAnalyses>();
}

}  // namespace cupola::cpu::build
