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

/// Where the lane's place lies, behind lane 0's.
unsigned place_of(unsigned lane, unsigned run) {
  return 2 * lane - (lane & (run - 1));
}
/// Whose it is; negative: it lies between two runs.
int owner_of(unsigned place, unsigned run) {
  const unsigned in_pair = place % (2 * run);
  return in_pair < run ? static_cast<int>(place / (2 * run) * run + in_pair) : -1;
}

/// The values of the owners of 32 places from `begin` on.
Value* spread(Lanes& lanes, Value* wide, unsigned begin, unsigned run) {
  llvm::SmallVector<int, kLanes> owners;
  for (unsigned i = 0; i < kLanes; ++i) owners.push_back(owner_of(begin + i, run));
  return lanes.builder.CreateShuffleVector(wide, owners);
}

/// Which of these places are asked for.
Value* asked_for(Lanes& lanes, unsigned begin, unsigned run) {
  llvm::SmallVector<llvm::Constant*, kLanes> are_places;
  for (unsigned i = 0; i < kLanes; ++i) are_places.push_back(lanes.builder.getInt1(owner_of(begin + i, run) >= 0));
  Value *all = llvm::ConstantVector::get(are_places), *mask = lanes.mask();
  return mask ? lanes.builder.CreateSelect(all, spread(lanes, mask, begin, run), lanes.no_lanes()) : all;
}

Value* place_at(Lanes& lanes, const FoundRuns& found, llvm::Type* type, unsigned number) {
  return lanes.builder.CreateConstGEP1_64(type, found.first, number);
}

}  // namespace

std::optional<FoundRuns> look_for_runs(Lanes& lanes, Value* address, llvm::Type* type) {
  const auto* sum = llvm::dyn_cast<llvm::GetElementPtrInst>(address);
  if (!sum || !lanes.shape(address).is_varying() || lanes.at_length >= Lanes::kMostAtLength) return std::nullopt;
  llvm::CastInst* extension = counter_of(lanes, *sum, type);
  if (!extension || !follows_from_place(lanes, extension->getOperand(0))) return std::nullopt;
  ++lanes.at_length;

  llvm::IRBuilder<>& builder = lanes.builder;
  constexpr unsigned kLast = kLanes - 1, kMostPlaces = 2 * kLanes - 1;
  Value* numbers = builder.CreateFreeze(lanes.vector(extension->getOperand(0)));  // lanes may not be there
  Value* first = builder.CreateExtractElement(numbers, uint64_t{0});
  Value* distance = builder.CreateSub(builder.CreateExtractElement(numbers, uint64_t{kLast}), first);
  Value* run = builder.CreateSub(builder.getInt32(kMostPlaces), distance);  // if it is one
  Value* lane = lanes.lane_numbers(builder.getInt32Ty());
  Value* in_run = builder.CreateAnd(lane, lanes.splat(builder.CreateSub(run, builder.getInt32(1))));
  Value* expected = builder.CreateAdd(lanes.splat(first), builder.CreateSub(builder.CreateAdd(lane, lane), in_run));
  Value* is_run = builder.CreateICmpEQ(lanes.bits(builder.CreateICmpEQ(numbers, expected)), builder.getInt32(~0u));
  const bool is_signed = llvm::isa<llvm::SExtInst>(extension);
  Value* last = builder.getInt32((is_signed ? INT32_MAX : UINT32_MAX) - kMostPlaces);
  Value* stays = is_signed ? builder.CreateICmpSLE(first, last) : builder.CreateICmpULE(first, last);
  Value* wide = builder.CreateCast(extension->getOpcode(), first, extension->getDestTy());
  return FoundRuns{builder.CreateSelect(builder.CreateAnd(is_run, stays), run, builder.getInt32(0)),
                   builder.CreateGEP(sum->getSourceElementType(), lanes.scalar(sum->getOperand(0)), wide)};
}

/// Two rows. What lies between two places that are asked for can be read: it is on the page of one of them. What lies
/// behind the last cannot, so that the second row ends with it.
Value* load_runs(Lanes& lanes, const llvm::LoadInst& load, const FoundRuns& found, unsigned run) {
  llvm::IRBuilder<>& builder = lanes.builder;
  llvm::Type *type = load.getType(), *wide = widened(type);
  const bool needs_mask = lanes.has_mask();
  const unsigned begins[] = {0, run == kLanes || needs_mask ? kLanes : kLanes - run};
  const auto read = [&](unsigned begin) -> Value* {
    Value* place = place_at(lanes, found, type, begin);
    if (!needs_mask) return builder.CreateAlignedLoad(wide, place, load.getAlign());
    return builder.CreateMaskedLoad(wide, place, load.getAlign(), asked_for(lanes, begin, run),
                                    llvm::Constant::getNullValue(wide));
  };
  Value* row = read(begins[0]);
  if (run == kLanes) return row;
  llvm::SmallVector<int, kLanes> places;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const unsigned place = place_of(lane, run);
    places.push_back(static_cast<int>(place < kLanes ? place : kLanes + place - begins[1]));
  }
  return builder.CreateShuffleVector(row, read(begins[1]), places);
}

void store_runs(Lanes& lanes, const llvm::StoreInst& store, Value* wide, const FoundRuns& found, unsigned run) {
  llvm::IRBuilder<>& builder = lanes.builder;
  if (run == kLanes && !lanes.has_mask()) return void(builder.CreateAlignedStore(wide, found.first, store.getAlign()));
  for (unsigned begin = 0; begin < (run == kLanes ? 1 : 2) * kLanes; begin += kLanes)
    builder.CreateMaskedStore(spread(lanes, wide, begin, run),
                              place_at(lanes, found, store.getValueOperand()->getType(), begin), store.getAlign(),
                              asked_for(lanes, begin, run));
}

}  // namespace cupola::cpu::build
