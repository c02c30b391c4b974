#include "backend/cpu/build/vector_found_rows.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "backend/cpu/build/vector_lanes.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using llvm::Instruction;
using llvm::Value;

/// That an index is followed through.
constexpr size_t kMostValues = 32;

bool computes(const Instruction& instruction) {
  if (llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::CmpInst, llvm::SelectInst, llvm::PHINode>(instruction))
    return true;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->doesNotAccessMemory() &&
         (llvm::isa<llvm::IntrinsicInst>(call) || kir::effect_of(*call) == kir::Effect::kPure);
}

/// Made of the thread's place and of what threads share: what threads read for themselves, or of each other, is rarely
/// in order.
bool follows_from_place(const Lanes& lanes, Value* index) {
  llvm::SmallSetVector<Value*, kMostValues> values;
  values.insert(index);
  for (size_t i = 0; i < values.size(); ++i) {
    auto* made = llvm::dyn_cast<Instruction>(values[i]);
    if (!made || !lanes.shapes.of(made).is_varying()) continue;
    if (values.size() > kMostValues || !computes(*made)) return false;
    for (Value* operand : made->operands())
      if (!llvm::isa<llvm::Function>(operand)) values.insert(operand);
  }
  return true;
}

/// The extension of the number of 32 bits that counts elements of the type; null: the address is none of such.
llvm::CastInst* counter_of(const Lanes& lanes, const llvm::GetElementPtrInst& address, llvm::Type* type) {
  if (address.getNumIndices() != 1 || !lanes.shape(address.getPointerOperand()).is_uniform()) return nullptr;
  if (lanes.layout.getTypeAllocSize(address.getSourceElementType()) != lanes.layout.getTypeAllocSize(type) ||
      lanes.layout.getTypeAllocSizeInBits(type) != lanes.layout.getTypeSizeInBits(type))
    return nullptr;
  auto* extension = llvm::dyn_cast<llvm::CastInst>(*address.idx_begin());
  if (!extension || !llvm::isa<llvm::SExtInst, llvm::ZExtInst>(extension)) return nullptr;
  const Value* number = extension->getOperand(0);
  // Of what lanes left a loop with, what is made of it was kept.
  if (!number->getType()->isIntegerTy(32) || lanes.shapes.left_apart(number, lanes.current)) return nullptr;
  return extension;
}

}  // namespace

std::optional<FoundRow> look_for_row(Lanes& lanes, Value* address, llvm::Type* type) {
  const auto* sum = llvm::dyn_cast<llvm::GetElementPtrInst>(address);
  if (!sum || !lanes.shape(address).is_varying() || lanes.at_length >= Lanes::kMostAtLength) return std::nullopt;
  llvm::CastInst* extension = counter_of(lanes, *sum, type);
  if (!extension || !follows_from_place(lanes, extension->getOperand(0))) return std::nullopt;
  ++lanes.at_length;

  llvm::IRBuilder<>& builder = lanes.builder;
  Value* numbers = builder.CreateFreeze(lanes.vector(extension->getOperand(0)));  // lanes may not be there
  Value* first = builder.CreateExtractElement(numbers, uint64_t{0});
  Value* row = builder.CreateAdd(lanes.splat(first), lanes.lane_numbers(builder.getInt32Ty()));
  Value* in_order = builder.CreateICmpEQ(lanes.bits(builder.CreateICmpEQ(numbers, row)), builder.getInt32(~0u));
  const bool is_signed = llvm::isa<llvm::SExtInst>(extension);
  Value* last = builder.getInt32((is_signed ? INT32_MAX : UINT32_MAX) - (kLanes - 1));
  Value* stays = is_signed ? builder.CreateICmpSLE(first, last) : builder.CreateICmpULE(first, last);
  Value* wide = builder.CreateCast(extension->getOpcode(), first, extension->getDestTy());
  return FoundRow{builder.CreateAnd(in_order, stays),
                  builder.CreateGEP(sum->getSourceElementType(), lanes.scalar(sum->getOperand(0)), wide)};
}

}  // namespace cupola::cpu::build
