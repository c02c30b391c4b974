#include "backend/cpu/build/vector_lanes.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <numeric>

#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_instruction.h"

namespace cupola::cpu::build {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Type;
using llvm::Value;

namespace {

constexpr const char* kScratch = "cupola.scratch";

/// Where the use takes place: of a phi, at the end of the block that the value comes from.
const BasicBlock* block_of(const llvm::Use& use) {
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(use.getUser())) return phi->getIncomingBlock(use);
  return llvm::cast<Instruction>(use.getUser())->getParent();
}

}  // namespace

bool is_scratch(const llvm::AllocaInst& array) {
  return array.hasMetadata(kScratch);
}

Type* widened(Type* type) {
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    llvm::SmallVector<Type*, 2> parts;
    for (Type* part : structure->elements()) parts.push_back(widened(part));
    return llvm::StructType::get(type->getContext(), parts);
  }
  return llvm::FixedVectorType::get(type, kLanes);
}

Lanes::Lanes(llvm::Function& old, llvm::Function& made, const image::BlocksOfCode& of, const Shapes& known,
             const Exits& exits, const llvm::TargetMachine& processor)
    : from(old),
      to(made),
      machine(processor),
      target(processor.getTargetTransformInfo(old)),
      shapes(known),
      layout(old.getDataLayout()),
      blocks(of.blocks),
      block_shape(of.shape),
      is_hot(of.hot),
      builder(made.getContext()),
      context(context_of(made)),
      has_exits_(!exits.empty()) {
  entry_ = make_block("slots");
  for (unsigned i = 0; i < from.arg_size(); ++i) arguments_[from.getArg(i)] = to.getArg(i);
}

// ---- preparation ----

void Lanes::begin(llvm::ArrayRef<BasicBlock*> order) {
  find_needed(order);
  builder.SetInsertPoint(entry_);
  make_live();
  for (BasicBlock* block : order) {
    if (shapes.is_masked(block)) {
      mask_of_[block] = slot(mask_type(), "mask");
      builder.CreateStore(no_lanes(), mask_of_[block]);
    }
    for (Instruction& instruction : *block)
      if (!instruction.getType()->isVoidTy() && !llvm::isa<llvm::AllocaInst>(instruction)) make_slots(instruction);
  }
  make_local_memory();
}

void Lanes::end(BasicBlock* first) {
  builder.SetInsertPoint(entry_);
  builder.CreateBr(first);
  llvm::DominatorTree dominators(to);
  llvm::SmallVector<llvm::AllocaInst*, 32> slots;
  for (Instruction& instruction : *entry_)
    if (auto* one = llvm::dyn_cast<llvm::AllocaInst>(&instruction); one && llvm::isAllocaPromotable(one))
      slots.push_back(one);
  llvm::PromoteMemToReg(slots, dominators);
}

void Lanes::make_live() {
  if (!may_be_partial(blocks) && !has_exits_) return;
  live_ = slot(mask_type(), "live");
  Value* all = builder.getInt32(~0u);
  if (may_be_partial(blocks))
    all = load_field(builder, context, offsetof(image::cpu::ThreadContext, lanes), builder.getInt32Ty(), true);
  builder.CreateStore(from_bits(all), live_);
}

/// The values that other blocks need; also what an affine one is made of, which they may have to compute again.
void Lanes::find_needed(llvm::ArrayRef<BasicBlock*> order) {
  llvm::SmallVector<const Instruction*, 32> open;
  for (BasicBlock* block : order)
    for (Instruction& instruction : *block) {
      const auto is_elsewhere = [&](const llvm::Use& use) {
        return block_of(use) != block || llvm::isa<llvm::PHINode>(use.getUser());
      };
      if (llvm::isa<llvm::PHINode>(instruction) || llvm::any_of(instruction.uses(), is_elsewhere))
        open.push_back(&instruction);
    }
  while (!open.empty()) {
    const Instruction* next = open.pop_back_val();
    if (!needed_.insert(next).second || llvm::isa<llvm::PHINode>(next)) continue;
    // What an address is made of, too: see look_for_runs.
    if (!shapes.of(next).is_extended && !llvm::isa<llvm::GetElementPtrInst, llvm::SExtInst, llvm::ZExtInst>(next))
      continue;
    for (const Value* operand : next->operands())
      if (const auto* made = llvm::dyn_cast<Instruction>(operand)) open.push_back(made);
  }
}

llvm::AllocaInst* Lanes::scratch(Type* type, const llvm::Twine& name) {
  llvm::AllocaInst* array = slot(type, name);
  array->setMetadata(kScratch, llvm::MDNode::get(array->getContext(), {}));
  return array;
}

llvm::AllocaInst* Lanes::slot(Type* type, const llvm::Twine& name) {
  llvm::IRBuilder<> at(entry_, entry_->begin());
  return at.CreateAlloca(type, nullptr, name);
}

void Lanes::make_slots(Instruction& instruction) {
  const bool is_needed = needed_.contains(&instruction);
  bool is_left = false;
  for (const llvm::Use& use : instruction.uses()) is_left |= shapes.left_apart(&instruction, block_of(use)) != nullptr;
  Slot& made = slots_[&instruction];
  const Shape known = shapes.of(&instruction);
  Type* type = instruction.getType();
  if (is_needed && known.is_varying()) made.vector = slot(widened(type), instruction.getName());
  if (is_needed && !known.is_varying() && !known.is_segmented()) made.scalar = slot(type, instruction.getName());
  for (unsigned i = 0; is_needed && known.is_segmented() && i < segment_count(); ++i)
    made.bases.push_back(slot(type, instruction.getName()));
  if (is_needed && known.is_extended) made.straight = slot(builder.getInt1Ty(), "straight");
  // A phi changes for those lanes alone that come to it: it has what the others left with.
  if (is_left && !(llvm::isa<llvm::PHINode>(instruction) && made.vector)) made.apart = slot(widened(type), "apart");
  llvm::SmallVector<llvm::AllocaInst*, 8> places(made.bases.begin(), made.bases.end());
  for (llvm::AllocaInst* each : {made.vector, made.scalar, made.apart})
    if (each) places.push_back(each);
  for (llvm::AllocaInst* each : places)
    builder.CreateStore(llvm::Constant::getNullValue(each->getAllocatedType()), each);
  if (made.straight) builder.CreateStore(builder.getTrue(), made.straight);
}

/// Thread-local arrays: a copy for each lane, one after the other.
void Lanes::make_local_memory() {
  for (Instruction& instruction : from.getEntryBlock()) {
    auto* old = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (!old) continue;
    const uint64_t bytes = llvm::alignTo(old->getAllocationSize(layout)->getFixedValue(), old->getAlign());
    auto* made =
        builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), bytes * kLanes), nullptr, old->getName());
    made->setAlignment(std::max(old->getAlign(), llvm::Align(64)));
    arguments_[old] = made;
  }
}

// ---- blocks ----

void Lanes::enter(BasicBlock* block) {
  builder.SetInsertPoint(block);
  forms_.clear();
}

BasicBlock* Lanes::make_block(const llvm::Twine& name) {
  return BasicBlock::Create(to.getContext(), name, &to);
}

// ---- values ----

Value* Lanes::scalar(Value* value) {
  if (Value* known = arguments_.lookup(value)) return known;
  if (!llvm::isa<Instruction>(value)) return value;
  if (shapes.of(value).is_segmented()) return bases(value).front();
  if (Value* known = forms_.lookup(value).scalar) return known;
  return forms_[value].scalar = builder.CreateLoad(value->getType(), slots_.lookup(value).scalar);
}

Bases Lanes::bases(Value* value) {
  const Shape known = shapes.of(value);
  if (known.is_segmented()) {
    Bases& made = forms_[value].bases;
    if (made.empty())
      for (llvm::AllocaInst* place : slots_.lookup(value).bases)
        made.push_back(builder.CreateLoad(value->getType(), place));
    return made;
  }
  Value* first = scalar(value);
  Bases result(segment_count(), first);
  if (known.kind != Shape::Kind::Affine) return result;
  for (unsigned i = 1; i < segment_count(); ++i)
    result[i] = stepped(first, known.stride * static_cast<int64_t>(i * segment_lanes()));
  return result;
}

/// A number or an address that lies `distance` further on.
Value* Lanes::stepped(Value* value, int64_t distance) {
  Type* type = value->getType();
  if (type->isPointerTy())
    return builder.CreateConstGEP1_64(builder.getInt8Ty(), value, static_cast<uint64_t>(distance));
  return builder.CreateAdd(value, llvm::ConstantInt::get(type, static_cast<uint64_t>(distance), true, true));
}

Value* Lanes::straight(Value* value) {
  if (!llvm::isa<Instruction>(value) || !shapes.of(value).is_extended) return nullptr;
  Forms& forms = forms_[value];
  if (!forms.straight) forms.straight = builder.CreateLoad(builder.getInt1Ty(), slots_.lookup(value).straight);
  return forms.straight;
}

Value* Lanes::vector(Value* value) {
  if (shapes.left_apart(value, current))
    if (llvm::AllocaInst* apart = slots_.lookup(value).apart)
      return builder.CreateLoad(widened(value->getType()), apart);
  if (Value* known = forms_.lookup(value).vector) return known;
  Value* result = nullptr;
  const Shape known = shapes.of(value);
  if (known.is_varying())
    result = builder.CreateLoad(widened(value->getType()), slots_.lookup(value).vector);
  else if (known.has_steps())
    result = spread(value, known);
  else
    result = splat(scalar(value));
  return forms_[value].vector = result;
}

Value* Lanes::spread(Value* value, Shape known) {
  Type* type = value->getType();
  if (straight(value))  // it may not be: compute each lane's
    return elementwise(*this, *llvm::cast<Instruction>(value));
  Value* first = nullptr;
  if (known.is_segmented()) first = splat(bases(value));
  if (known.is_flat()) return first;
  const unsigned period = known.lanes_in_step(blocks);
  const auto steps = [&](Type* of) {
    Value* each = splat(llvm::ConstantInt::get(of, static_cast<uint64_t>(known.stride), true, true));
    return builder.CreateMul(lane_numbers(of, period), each);
  };
  if (type->isPointerTy())
    return builder.CreateGEP(builder.getInt8Ty(), first ? first : scalar(value), steps(builder.getInt64Ty()));
  return builder.CreateAdd(first ? first : splat(scalar(value)), steps(type));
}

Value* Lanes::segment(Value* wide, unsigned which) {
  llvm::SmallVector<int, kLanes> order(segment_lanes());
  std::iota(order.begin(), order.end(), static_cast<int>(which * segment_lanes()));
  return builder.CreateShuffleVector(wide, order);
}

Value* Lanes::join_segments(llvm::ArrayRef<Value*> parts) {
  return llvm::concatenateVectors(builder, parts);
}

Value* Lanes::running_lanes(Value* mask, unsigned segment) {
  return builder.CreateAnd(bits(mask), segment_bits(segment));
}

Bases Lanes::running_segments() {
  Value* lanes = mask();
  if (!lanes) return {};
  Bases result;
  for (unsigned i = 0; i < segment_count(); ++i)
    result.push_back(builder.CreateICmpNE(running_lanes(lanes, i), builder.getInt32(0)));
  return result;
}

Value* Lanes::splat(Value* value) {
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(value->getType())) {
    Value* result = llvm::PoisonValue::get(widened(structure));
    for (unsigned i = 0; i < structure->getNumElements(); ++i)
      result = builder.CreateInsertValue(result, splat(builder.CreateExtractValue(value, i)), i);
    return result;
  }
  return builder.CreateVectorSplat(kLanes, value);
}

/// Whole splats, of which lanes are chosen, become fewer instructions than parts that are joined; of truth values,
/// words.
Value* Lanes::splat(const Bases& values) {
  if (values.front()->getType()->isIntegerTy(1)) {
    Value* result = builder.getInt32(0);
    for (unsigned i = 0; i < segment_count(); ++i) {
      Value* part = builder.CreateSelect(values[i], builder.getInt32(segment_bits(i)), builder.getInt32(0));
      result = builder.CreateOr(result, part);
    }
    return from_bits(result);
  }
  Value* result = splat(values.front());
  for (unsigned i = 1; i < segment_count(); ++i) {
    llvm::SmallVector<llvm::Constant*, kLanes> is_further;
    for (unsigned lane = 0; lane < kLanes; ++lane) is_further.push_back(builder.getInt1(lane >= i * segment_lanes()));
    result = builder.CreateSelect(llvm::ConstantVector::get(is_further), splat(values[i]), result);
  }
  return result;
}

Value* Lanes::lane_numbers(Type* type, unsigned period) {
  llvm::SmallVector<llvm::Constant*, kLanes> numbers;
  for (unsigned i = 0; i < kLanes; ++i)
    numbers.push_back(llvm::ConstantInt::get(type, i % period, false, /*ImplicitTrunc=*/true));
  return llvm::ConstantVector::get(numbers);
}

Value* Lanes::blend(Value* lanes, Value* value, Value* otherwise) {
  if (!lanes) return value;
  auto* structure = llvm::dyn_cast<llvm::StructType>(value->getType());
  if (!structure) return builder.CreateSelect(lanes, value, otherwise);
  Value* result = llvm::PoisonValue::get(structure);
  for (unsigned i = 0; i < structure->getNumElements(); ++i) {
    Value* part =
        builder.CreateSelect(lanes, builder.CreateExtractValue(value, i), builder.CreateExtractValue(otherwise, i));
    result = builder.CreateInsertValue(result, part, i);
  }
  return result;
}

void Lanes::define(Instruction& instruction, Value* value, Value* is_straight) {
  if (instruction.getType()->isVoidTy()) return;
  const bool is_varying = shapes.of(&instruction).is_varying();
  Forms& forms = forms_[&instruction];
  (is_varying ? forms.vector : forms.scalar) = value;
  const Slot& slot = slots_[&instruction];
  if (llvm::AllocaInst* place = is_varying ? slot.vector : slot.scalar) builder.CreateStore(value, place);
  keep(instruction, is_straight);
}

void Lanes::define(Instruction& instruction, const Bases& values, Value* is_straight) {
  forms_[&instruction].bases = values;
  for (const auto& [value, place] : llvm::zip(values, slots_[&instruction].bases)) builder.CreateStore(value, place);
  keep(instruction, is_straight);
}

/// What else others may ask of a value that is defined now.
void Lanes::keep(Instruction& instruction, Value* is_straight) {
  forms_[&instruction].straight = is_straight;
  const Slot& slot = slots_[&instruction];
  if (slot.straight) builder.CreateStore(is_straight ? is_straight : builder.getTrue(), slot.straight);
  if (slot.apart) keep_apart(instruction, vector(&instruction));
}

void Lanes::keep_phis(BasicBlock& block) {
  for (llvm::PHINode& phi : block.phis())
    if (slots_.lookup(&phi).apart) keep_apart(phi, vector(&phi));
}

void Lanes::keep_apart(Instruction& instruction, Value* value) {
  llvm::AllocaInst* apart = slots_.lookup(&instruction).apart;
  Value* before = builder.CreateLoad(value->getType(), apart);
  builder.CreateStore(blend(mask(instruction.getParent()), value, before), apart);
}

// ---- masks ----

Value* Lanes::live() {
  return live_ && !all_run ? builder.CreateLoad(mask_type(), live_) : nullptr;
}

Value* Lanes::mask(const BasicBlock* block) {
  llvm::AllocaInst* slot = all_run ? nullptr : mask_of_.lookup(block);
  return slot ? builder.CreateLoad(mask_type(), slot) : live();
}

Value* Lanes::full_mask(const BasicBlock* block) {
  Value* lanes = mask(block);
  return lanes ? lanes : llvm::ConstantInt::getTrue(mask_type());
}

void Lanes::leave(Value* lanes) {
  Value* before = builder.CreateLoad(mask_type(), live_);
  builder.CreateStore(builder.CreateAnd(before, builder.CreateNot(lanes)), live_);
}

void Lanes::keep_departed() {
  departed_ = slot(mask_type(), "departed");
  builder.CreateStore(no_lanes(), departed_);
}

void Lanes::depart(Value* lanes) {
  if (Value* before = departed()) builder.CreateStore(builder.CreateOr(before, lanes), departed_);
}

}  // namespace cupola::cpu::build
