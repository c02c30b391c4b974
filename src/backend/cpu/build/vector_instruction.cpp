#include "backend/cpu/build/vector_instruction.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicInst.h>

#include "backend/cpu/build/dot_products.h"
#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_atomics.h"
#include "backend/cpu/build/vector_groups.h"
#include "backend/cpu/build/vector_lanes.h"
#include "backend/cpu/build/vector_meetings.h"
#include "backend/cpu/build/vector_memory.h"
#include "backend/cpu/build/vector_prefetch.h"
#include "backend/cpu/build/vector_structures.h"
#include "backend/cpu/build/vector_turns.h"
#include "image/cpu_abi.h"
#include "kir/dot_product.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using llvm::Instruction;
using llvm::Type;
using llvm::Value;

/// Of the block's shape: threadIdx in a dimension, of the warp's lanes.
Value* places_in_block(Lanes& lanes, llvm::CallInst& call) {
  using image::cpu::ThreadContext;
  const auto dimension = static_cast<unsigned>(*kir::intrinsic_of(call)) - static_cast<unsigned>(kir::Intrinsic::TidX);
  return load_field(lanes.builder, lanes.context, offsetof(ThreadContext, places) + dimension * sizeof(void*),
                    lanes.builder.getPtrTy(), true);
}

Value* place_in_block(Lanes& lanes, llvm::CallInst& call) {
  return lanes.builder.CreateAlignedLoad(widened(lanes.builder.getInt32Ty()), places_in_block(lanes, call),
                                         llvm::Align(4));
}

/// threadIdx.y or z of the segments.
Bases rows_in_block(Lanes& lanes, llvm::CallInst& call) {
  Bases result;
  if (kir::intrinsic_of(call) == kir::Intrinsic::TidY && lanes.block_shape && lanes.block_shape->z == 1) {
    // Not of the table: rows that follow each other are read as such, and those of a warp that is written out are
    // known.
    llvm::IRBuilder<>& builder = lanes.builder;
    Value* warp = load_field(builder, lanes.context, offsetof(image::cpu::ThreadContext, warp), builder.getInt32Ty(),
                             /*constant=*/true);
    Value* first = builder.CreateNUWMul(warp, builder.getInt32(lanes.segment_count()));
    for (unsigned i = 0; i < lanes.segment_count(); ++i)
      result.push_back(builder.CreateAdd(first, builder.getInt32(i), "", /*HasNUW=*/true, /*HasNSW=*/true));
    return result;
  }
  Value* table = places_in_block(lanes, call);
  for (unsigned i = 0; i < lanes.segment_count(); ++i) {
    Value* place =
        lanes.builder.CreateConstInBoundsGEP1_64(lanes.builder.getInt32Ty(), table, i * lanes.segment_lanes());
    llvm::LoadInst* read = lanes.builder.CreateAlignedLoad(lanes.builder.getInt32Ty(), place, llvm::Align(4));
    for (const unsigned known : {llvm::LLVMContext::MD_invariant_load, llvm::LLVMContext::MD_noundef})
      read->setMetadata(known, llvm::MDNode::get(read->getContext(), {}));
    result.push_back(read);
  }
  return result;
}

bool is_dot_product(const llvm::CallInst& call) {
  const auto known = kir::intrinsic_of(call);
  return known == kir::Intrinsic::Dot4 || known == kir::Intrinsic::Dot2;
}

Value* dot_product(Lanes& lanes, llvm::CallInst& call) {
  const kir::DotProduct product = kir::dot_product_of(call);
  Value *left = call.getArgOperand(1), *right = call.getArgOperand(2);
  if (product.of_bytes && product.left_signed == product.right_signed && lanes.shape(left).is_uniform())
    std::swap(left, right);
  return add_products_of_lanes(lanes.builder, product, lanes.vector(left), lanes.vector(right),
                               lanes.vector(call.getArgOperand(3)), lanes.machine);
}

Value* elementwise_intrinsic(Lanes& lanes, llvm::IntrinsicInst& call) {
  llvm::SmallVector<Value*, 4> arguments;
  llvm::SmallVector<Type*, 4> types;
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  Type* type = widened(call.getType());
  if (auto* parts = llvm::dyn_cast<llvm::StructType>(type)) {  // frexp: the fraction's type and the exponent's
    for (unsigned i = 0; i < parts->getNumElements(); ++i)
      if (llvm::isVectorIntrinsicWithStructReturnOverloadAtField(id, static_cast<int>(i), nullptr))
        types.push_back(parts->getElementType(i));
  } else if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1, nullptr)) {
    types.push_back(type);
  }
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    Value* argument = call.getArgOperand(i);
    const bool is_scalar = llvm::isVectorIntrinsicWithScalarOpAtArg(id, i, nullptr);
    arguments.push_back(is_scalar ? lanes.scalar(argument) : lanes.vector(argument));
    if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(i), nullptr))
      types.push_back(arguments.back()->getType());
  }
  llvm::CallInst* made = lanes.builder.CreateIntrinsic(id, types, arguments);
  if (llvm::isa<llvm::FPMathOperator>(made)) made->copyFastMathFlags(&call);
  return made;
}

bool is_lane_by_lane(const Lanes& lanes, const llvm::CallInst& call, Shape shape) {
  if (const llvm::Intrinsic::ID id = call.getIntrinsicID(); llvm::isTriviallyVectorizable(id))
    return shape.is_varying() && llvm::any_of(llvm::enumerate(call.args()), [&](const auto& each) {
             return llvm::isVectorIntrinsicWithScalarOpAtArg(id, static_cast<unsigned>(each.index()), nullptr) &&
                    !lanes.shape(each.value().get()).is_uniform();
           });
  if (is_dot_product(call)) return false;
  using enum kir::Intrinsic;
  const auto known = kir::intrinsic_of(call);
  if (known == TidX || known == TidY || known == TidZ) return false;
  return shape.is_varying() || call.getType()->isVoidTy();
}

/// The operation as the first lane of a segment does it, which may not be there. What is promised of the lanes that
/// are does not hold then, unless it is the same for all: the operation may wrap, and or is no addition.
Instruction* scalar_copy(Lanes& lanes, Instruction& instruction, unsigned segment) {
  const Shape shape = lanes.shapes.of(&instruction);
  auto* bits = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction);
  Instruction* copy = !shape.is_uniform() && bits && bits->isDisjoint()
                          ? llvm::BinaryOperator::CreateAdd(bits->getOperand(0), bits->getOperand(1))
                          : instruction.clone();
  if (!shape.is_uniform()) copy->dropPoisonGeneratingFlags();
  if (shape.is_segmented()) copy->dropUBImplyingAttrsAndMetadata();
  for (llvm::Use& operand : copy->operands())
    if (!llvm::isa<llvm::Function>(operand.get()))
      operand.set(shape.is_segmented() ? lanes.bases(operand.get())[segment] : lanes.scalar(operand.get()));
  return copy;
}

Value* both(Lanes& lanes, Value* a, Value* b) {
  return !a ? b : !b ? a : lanes.builder.CreateAnd(a, b);
}

/// True when no lane's narrow value is on the other side of the wrap than `first`, the first one's.
Value* does_not_wrap(Lanes& lanes, Instruction& extension, Value* first) {
  const Value* narrow = extension.getOperand(0);
  const Shape shape = lanes.shapes.of(narrow);
  const int64_t distance = shape.stride * (shape.lanes_in_step(lanes.blocks) - 1);
  auto* span = llvm::ConstantInt::get(narrow->getType(), static_cast<uint64_t>(distance), true, true);
  const auto which = llvm::isa<llvm::SExtInst>(extension) ? llvm::Intrinsic::sadd_with_overflow
                     : shape.stride > 0                   ? llvm::Intrinsic::uadd_with_overflow
                                                          : llvm::Intrinsic::usub_with_overflow;
  Value* step = which == llvm::Intrinsic::usub_with_overflow ? llvm::ConstantExpr::getNeg(span) : span;
  Value* sum = lanes.builder.CreateBinaryIntrinsic(which, first, step);
  return lanes.builder.CreateNot(lanes.builder.CreateExtractValue(sum, 1));
}

/// A number without sign, extended, under a mask: what lane 0 would have, were it in line with the lanes that run.
/// Their numbers may lie behind a wrap, and lane 0's before it: `tile[threadIdx.x - offset]`, where that is in the
/// tile.
bool extend_from_first_running(Lanes& lanes, Instruction& extension) {
  Value *narrow = extension.getOperand(0), *mask = lanes.mask();
  const Shape shape = lanes.shapes.of(narrow);
  if (!mask || !llvm::isa<llvm::ZExtInst>(extension) || !lanes.shapes.of(&extension).is_extended ||
      shape.kind != Shape::Kind::Affine || shape.stride <= 0 || lanes.straight(narrow))
    return false;
  llvm::IRBuilder<>& builder = lanes.builder;
  Type *few = narrow->getType(), *many = extension.getType();
  Value* running = lanes.bits(mask);
  Value* first = builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, running, builder.getFalse());
  Value* behind = builder.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, running, builder.getFalse());
  Value* last = builder.CreateSub(builder.getInt32(kLanes - 1), behind);
  const auto steps = [&](Value* count, Type* type) {
    return builder.CreateMul(builder.CreateZExtOrTrunc(count, type),
                             llvm::ConstantInt::get(type, static_cast<uint64_t>(shape.stride)));
  };
  Value* begin = builder.CreateAdd(lanes.scalar(narrow), steps(first, few));
  Value* sum = builder.CreateBinaryIntrinsic(llvm::Intrinsic::uadd_with_overflow, begin,
                                             steps(builder.CreateSub(last, first), few));
  Value* straight = builder.CreateNot(builder.CreateExtractValue(sum, 1));
  lanes.define(extension, builder.CreateSub(builder.CreateZExt(begin, many), steps(first, many)), straight);
  return true;
}

/// Whether an extended value is what its shape says; null: for certain.
Value* straight(Lanes& lanes, Instruction& instruction) {
  Value* condition = nullptr;
  if (!lanes.shapes.of(&instruction).is_extended) return nullptr;
  for (Value* operand : instruction.operands()) condition = both(lanes, condition, lanes.straight(operand));
  if (!llvm::isa<llvm::SExtInst, llvm::ZExtInst>(instruction)) return condition;
  Value* narrow = instruction.getOperand(0);
  if (!lanes.shapes.of(narrow).is_segmented())
    return both(lanes, condition, does_not_wrap(lanes, instruction, lanes.scalar(narrow)));
  for (Value* base : lanes.bases(narrow))  // of a segment that is not there it may be anything
    condition = both(lanes, condition, does_not_wrap(lanes, instruction, lanes.builder.CreateFreeze(base)));
  return condition;
}

void widen_segments(Lanes& lanes, Instruction& instruction) {
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && kir::intrinsic_of(*call))
    return lanes.define(instruction, rows_in_block(lanes, *call));
  const Bases runs = instruction.isIntDivRem() ? lanes.running_segments() : Bases();
  Bases values;
  for (unsigned i = 0; i < lanes.segment_count(); ++i) {
    Instruction* copy = scalar_copy(lanes, instruction, i);
    if (!runs.empty()) {  // what others divide by may be zero
      Value* divisor = copy->getOperand(1);
      copy->setOperand(1, lanes.builder.CreateSelect(runs[i], divisor, llvm::ConstantInt::get(divisor->getType(), 1)));
    }
    values.push_back(lanes.builder.Insert(copy));
  }
  lanes.define(instruction, values, straight(lanes, instruction));
}

}  // namespace

Value* elementwise(Lanes& lanes, Instruction& instruction) {
  Type* type = widened(instruction.getType());
  if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    llvm::SmallVector<Value*, 4> indices;
    for (Value* index : address->indices())
      indices.push_back(llvm::isa<llvm::Constant>(index) ? index : lanes.vector(index));
    return lanes.builder.CreateGEP(address->getSourceElementType(), lanes.vector(address->getPointerOperand()),
                                   indices);
  }
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction))
    return lanes.builder.CreateCast(cast->getOpcode(), lanes.vector(cast->getOperand(0)), type);
  if (auto* compare = llvm::dyn_cast<llvm::CmpInst>(&instruction))
    return lanes.builder.CreateCmp(compare->getPredicate(), lanes.vector(compare->getOperand(0)),
                                   lanes.vector(compare->getOperand(1)));
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    const bool is_uniform = lanes.shape(select->getCondition()).is_uniform();
    Value* condition = is_uniform ? lanes.scalar(select->getCondition()) : lanes.vector(select->getCondition());
    Value *then = lanes.vector(select->getTrueValue()), *otherwise = lanes.vector(select->getFalseValue());
    return is_uniform ? lanes.builder.CreateSelect(condition, then, otherwise)
                      : lanes.blend(condition, then, otherwise);
  }
  if (auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction))
    return lanes.builder.CreateExtractValue(lanes.vector(extract->getAggregateOperand()), extract->getIndices());
  if (auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&instruction))
    return lanes.builder.CreateInsertValue(lanes.vector(insert->getAggregateOperand()),
                                           lanes.vector(insert->getInsertedValueOperand()), insert->getIndices());
  if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) return elementwise_intrinsic(lanes, *call);
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
    return is_dot_product(*call) ? dot_product(lanes, *call) : place_in_block(lanes, *call);
  Instruction* copy = instruction.clone();
  copy->mutateType(type);
  for (llvm::Use& operand : copy->operands()) operand.set(lanes.vector(operand.get()));
  if (Value* mask = instruction.isIntDivRem() ? lanes.mask() : nullptr)  // what others divide by may be zero
    copy->setOperand(1, lanes.blend(mask, copy->getOperand(1), llvm::ConstantInt::get(type, 1)));
  lanes.builder.Insert(copy);
  return copy;
}

void widen_instruction(Lanes& lanes, const Groups& groups, const Departures& departures, Instruction& instruction) {
  const Shape shape = lanes.shapes.of(&instruction);
  if (const Group* group = groups.of(&instruction); group && can_widen_group(lanes, *group)) {
    if (group->place == &instruction) widen_group(lanes, *group);
    return;
  }
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    if (shape.is_varying()) return widen_load(lanes, *load);
    if (!shape.is_uniform()) return load_for_segments(lanes, *load);
    lanes.accesses[load] = Access::Once;
  }
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return widen_store(lanes, *store);
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(call); intrinsic && intrinsic->isAssumeLikeIntrinsic())
      return;
    if (widen_meeting(lanes, departures, *call)) return;
    if (is_turn_mark(*call)) return widen_turn_mark(lanes, *call);
    if (widen_prefetch(lanes, *call)) return;
    if (is_lane_by_lane(lanes, *call, shape)) return widen_lane_by_lane(lanes, instruction);
  }
  if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction); update && widen_common_update(lanes, *update)) {
    lanes.accesses[update] = Access::Together;
    return;
  }
  if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction))
    return widen_lane_by_lane(lanes, instruction);
  if (llvm::isa<llvm::FenceInst>(instruction)) {
    lanes.builder.Insert(instruction.clone());
    return;
  }
  if (shape.is_varying()) return lanes.define(instruction, elementwise(lanes, instruction));
  if (shape.is_segmented()) return widen_segments(lanes, instruction);
  if (extend_from_first_running(lanes, instruction)) return;
  if (shape.kind == Shape::Kind::Periodic && kir::intrinsic_of(instruction) == kir::Intrinsic::TidX)
    return lanes.define(instruction, lanes.builder.getInt32(0));
  lanes.define(instruction, lanes.builder.Insert(scalar_copy(lanes, instruction, 0)), straight(lanes, instruction));
}

}  // namespace cupola::cpu::build
