#include "backend/cpu/build/vector_shapes.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "kir/branch_ways.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using Kind = Shape::Kind;

std::optional<int64_t> constant(const llvm::Value* value) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value);
  if (!number || number->getBitWidth() > 64) return std::nullopt;
  return number->getSExtValue();
}

Shape of_constant(const llvm::Value* value) {
  const auto number = constant(value);
  if (!number) return kUniform;
  return affine(0, *number ? static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(*number))) : 64);
}

/// Of what an intrinsic gives; nothing where its operands say that.
std::optional<Shape> of_intrinsic(kir::Intrinsic intrinsic, BlockClass blocks) {
  using enum kir::Intrinsic;
  const bool is_any = blocks == BlockClass::Any, has_segments = segment_lanes(blocks) != kLanes;
  const auto segment_bits = static_cast<unsigned>(std::countr_zero(segment_lanes(blocks)));
  switch (intrinsic) {
    case TidX:
      if (has_segments) return stepped(Kind::Periodic, 1, Shape::kMostZeros);
      return is_any ? kVarying : affine(1, segment_bits);
    case TidY:
    case TidZ:
      return is_any ? kVarying : has_segments ? kFlat : kUniform;
    case NtidX:
      return affine(0, may_be_partial(blocks) ? 0 : segment_bits);
    case LaneId:
      return affine(1, Shape::kMostZeros);
    case NtidY:
    case NtidZ:
    case CtaidX:
    case CtaidY:
    case CtaidZ:
    case NctaidX:
    case NctaidY:
    case NctaidZ:
    case WarpId:
    case NwarpId:
    case SmId:
    case NsmId:
    case GridId:
    case Clock:
    case GlobalTimer:
    case DynamicSharedBytes:
    case TotalSharedBytes:
    case GridIsCooperative:
    case DeviceFacts:
    case ActiveMask:
    case BarrierReduce:
    case WarpPublish:
      return kUniform;
    case Match:
    case Shuffle:
    case IsShared:
    case IsLocal:
    case IsConstant:
    case Vprintf:
    case Malloc:
    case DeviceCall:
    case LastError:
      return kVarying;
    case Dot4:
    case Dot2:
    case Vote:
    case Redux:
      return std::nullopt;
    case Barrier:
    case BarrierArrive:
    case WarpSync:
    case Nanosleep:
    case GridSync:
    case Exit:
    case Trap:
    case AssertFail:
    case Free:  // they give nothing
      return kVarying;
  }
}

/// It can be written for each segment as it stands.
bool can_be_flat(const llvm::Instruction& instruction) {
  if (instruction.getType()->isStructTy()) return false;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return !call || llvm::isTriviallyVectorizable(call->getIntrinsicID());
}

}  // namespace

Shapes::Shapes(llvm::Function& function, BlockClass blocks, const llvm::LoopInfo& loops,
               const llvm::PostDominatorTree& post_dominators)
    : function_(function), blocks_(blocks), loops_(loops), post_dominators_(post_dominators) {
  do {
    while (propagate()) {
    }
  } while (find_masked());
  for (auto& [value, shape] : shapes_)
    if (shape.kind == Kind::Unknown) shape = kUniform;  // made of undefined values only
}

Shape Shapes::of(const llvm::Value* value) const {
  if (!llvm::isa<llvm::Instruction>(value)) return of_constant(value);  // or an argument
  const auto found = shapes_.find(value);
  return found == shapes_.end() ? Shape{} : found->second;
}

const llvm::Loop* Shapes::left_apart(const llvm::Value* value, const llvm::BasicBlock* user) const {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  const llvm::Loop* apart = nullptr;
  if (!instruction) return nullptr;
  for (const llvm::Loop* loop = loops_.getLoopFor(instruction->getParent()); loop && !loop->contains(user);
       loop = loop->getParentLoop())
    if (is_masked(loop->getHeader())) apart = loop;
  return apart;
}

Shape Shapes::at(const llvm::Value* value, const llvm::BasicBlock* user) const {
  const Shape shape = of(value);
  return shape.kind != Kind::Unknown && left_apart(value, user) ? kVarying : shape;
}

bool Shapes::diverges(const llvm::BasicBlock* block) const {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
  if (!branch || branch->isUnconditional() || branch->getSuccessor(0) == branch->getSuccessor(1)) return false;
  const Shape condition = at(branch->getCondition(), block);
  return condition.kind != Kind::Unknown && !condition.is_uniform();
}

bool Shapes::propagate() {
  bool changed = false;
  for (const llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function_))
    for (const llvm::Instruction& instruction : *block) {
      if (instruction.getType()->isVoidTy()) continue;
      Shape& known = shapes_[&instruction];
      Shape found = join(known, transfer(instruction), blocks_);
      if (const auto* integer = llvm::dyn_cast<llvm::IntegerType>(instruction.getType()))  // no more than it has
        found.zeros = std::min(found.zeros, counted_zeros(integer->getBitWidth() - 1));
      if (found == known) continue;
      known = found;
      changed = true;
    }
  return changed;
}

/// The blocks between a divergent branch and where its ways meet for certain.
bool Shapes::find_masked() {
  const size_t before = masked_.size() + joins_.size();
  for (llvm::BasicBlock& block : function_) {
    if (!diverges(&block)) continue;
    if (const llvm::BasicBlock* end = kir::end_of_ways(&block, post_dominators_)) joins_.insert(end);
    const kir::Ways ways = kir::ways_from(&block, post_dominators_);
    masked_.insert(ways.begin(), ways.end());
  }
  return masked_.size() + joins_.size() != before;
}

Shape Shapes::of_phi(const llvm::PHINode& phi) const {
  const llvm::BasicBlock* block = phi.getParent();
  const llvm::Loop* loop = loops_.getLoopFor(block);
  const bool is_header = loop && loop->getHeader() == block;
  Shape result;
  const llvm::Value* same = nullptr;
  bool all_same = true;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    const llvm::Value* value = phi.getIncomingValue(i);
    if (llvm::isa<llvm::UndefValue>(value)) continue;
    const Shape shape = at(value, block);
    // What came of an extended one could not be computed again.
    result = join(result, shape.is_extended ? kVarying : shape, blocks_);
    all_same &= !same || same == value;
    same = value;
  }
  if (is_header || all_same || (!is_masked(block) && !joins_.contains(block))) return result;
  return result.kind == Kind::Unknown ? result : kVarying;
}

/// Of an operation that works lane by lane.
Shape Shapes::of_operands(const llvm::Instruction& instruction) const {
  bool is_known = true, is_uniform = true;
  for (const llvm::Value* operand : instruction.operands()) {
    const Shape shape = at(operand, instruction.getParent());
    if (shape.kind == Kind::Unknown)
      is_known = false;
    else if (!shape.is_flat())
      return kVarying;
    else
      is_uniform &= shape.is_uniform();
  }
  if (!is_known) return {};
  return is_uniform ? kUniform : can_be_flat(instruction) ? kFlat : kVarying;
}

/// Of a value whose lanes differ in low bits only, from which additions to lane 0's do not carry: what does not touch
/// those bits touches lane 0's value alone, and what drops them is uniform. Shifts and divisions by powers of two, and
/// operations bit by bit.
Shape Shapes::of_bits(const llvm::Instruction& instruction) const {
  const Shape value = at(instruction.getOperand(0), instruction.getParent());
  const auto number = constant(instruction.getOperand(1));
  if (!number || value.is_flat() || !value.shares_bits_from(value.zeros, blocks_)) return of_operands(instruction);
  const Shape shared = shared_bits(value);
  const auto bits = static_cast<uint64_t>(*number);
  const uint64_t low = (uint64_t{1} << value.zeros) - 1;
  const auto drops = [&](unsigned count) {
    return value.shares_bits_from(std::min<unsigned>(count, value.zeros), blocks_);
  };
  const auto masked = [&](uint64_t mask) {
    if (mask <= low && std::has_single_bit(mask + 1) && drops(static_cast<unsigned>(std::countr_one(mask))))
      return stepped(value.kind, value.stride, Shape::kMostZeros);
    if ((mask & low) == low) return stepped(value.kind, value.stride, value.zeros);
    return mask == 0 || drops(static_cast<unsigned>(std::countr_zero(mask))) ? shared : kVarying;
  };
  switch (instruction.getOpcode()) {
    case llvm::Instruction::LShr:
    case llvm::Instruction::AShr:
      return bits < 64 && drops(static_cast<unsigned>(bits)) ? shared : kVarying;
    case llvm::Instruction::UDiv:
      return std::has_single_bit(bits) && drops(static_cast<unsigned>(std::countr_zero(bits))) ? shared : kVarying;
    case llvm::Instruction::URem:
      return std::has_single_bit(bits) ? masked(bits - 1) : kVarying;
    case llvm::Instruction::And:
      return masked(bits);
    default:  // or, exclusive or
      return (bits & low) == 0 ? stepped(value.kind, value.stride, value.zeros) : kVarying;
  }
}

/// Lanes that share their high bits are all on the same side of a number whose low bits are zero.
Shape Shapes::of_comparison(const llvm::Instruction& instruction) const {
  const auto& compare = llvm::cast<llvm::ICmpInst>(instruction);
  Shape value = at(compare.getOperand(0), compare.getParent());
  Shape limit = at(compare.getOperand(1), compare.getParent());
  if (!value.has_steps() || value.is_flat() || !limit.is_flat()) return of_operands(instruction);
  if (limit.is_segmented()) value = segmented(value, blocks_);
  switch (compare.getPredicate()) {
    case llvm::CmpInst::ICMP_UGT:
    case llvm::CmpInst::ICMP_ULE:
    case llvm::CmpInst::ICMP_SGT:
    case llvm::CmpInst::ICMP_SLE: {
      const auto number = constant(compare.getOperand(1));
      if (!number || *number == -1 || *number == INT64_MAX) return kVarying;
      limit = of_constant(
          llvm::ConstantInt::get(compare.getOperand(1)->getType(), static_cast<uint64_t>(*number) + 1, false, true));
      break;
    }
    case llvm::CmpInst::ICMP_ULT:
    case llvm::CmpInst::ICMP_UGE:
    case llvm::CmpInst::ICMP_SLT:
    case llvm::CmpInst::ICMP_SGE:
      break;
    default:
      return kVarying;
  }
  return value.shares_bits_from(std::min(value.zeros, limit.zeros), blocks_) ? shared_bits(value) : kVarying;
}

Shape Shapes::transfer(const llvm::Instruction& instruction) const {
  const llvm::BasicBlock* block = instruction.getParent();
  const auto shape = [&](unsigned i) { return at(instruction.getOperand(i), block); };
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return of_phi(*phi);
  if (const auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
    const llvm::DataLayout& layout = function_.getParent()->getDataLayout();
    const auto bytes = alloca->getAllocationSize(layout);
    return affine(static_cast<int64_t>(llvm::alignTo(bytes->getFixedValue(), alloca->getAlign())));
  }
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    const Shape address = shape(0);
    if (address.kind == Kind::Unknown) return {};
    if (address.is_uniform()) return kUniform;
    return address.is_flat() && load->isSimple() ? kFlat : kVarying;
  }
  if (const auto intrinsic = kir::intrinsic_of(instruction)) {
    if (const auto known = of_intrinsic(*intrinsic, blocks_)) return *known;
    if (*intrinsic == kir::Intrinsic::Dot4 || *intrinsic == kir::Intrinsic::Dot2) return of_operands(instruction);
    const Shape members = shape(0);  // the same for all lanes of a group
    return members.kind == Kind::Unknown || members.is_uniform() ? members : kVarying;
  }
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
    return call->doesNotAccessMemory() ? of_operands(instruction) : kVarying;
  if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    Shape result = shape(0);
    const llvm::DataLayout& layout = function_.getParent()->getDataLayout();
    for (auto type = llvm::gep_type_begin(address); type != llvm::gep_type_end(address); ++type) {
      if (type.getStructTypeOrNull()) continue;
      const Shape index = at(type.getOperand(), block);
      const llvm::TypeSize step = type.getSequentialElementStride(layout);
      result = sum(result, scaled(index, static_cast<int64_t>(step.getFixedValue())), blocks_);
    }
    return result;
  }
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Add:
      return sum(shape(0), shape(1), blocks_);
    case llvm::Instruction::Sub:
      return sum(shape(0), scaled(shape(1), -1), blocks_);
    case llvm::Instruction::Or:
      if (llvm::cast<llvm::PossiblyDisjointInst>(instruction).isDisjoint() &&
          (shape(0).is_flat() || shape(1).is_flat()))
        return sum(shape(0), shape(1), blocks_);
      return of_bits(instruction);
    case llvm::Instruction::Mul:
      if (const auto factor = constant(instruction.getOperand(1))) return scaled(shape(0), *factor);
      if (shape(0).is_flat() && shape(1).is_flat()) {
        const bool is_segmented = shape(0).is_segmented() || shape(1).is_segmented();
        return stepped(is_segmented ? Kind::Segmented : Kind::Uniform, 0, shape(0).zeros + shape(1).zeros);
      }
      break;
    case llvm::Instruction::LShr:
    case llvm::Instruction::AShr:
    case llvm::Instruction::UDiv:
    case llvm::Instruction::URem:
    case llvm::Instruction::And:
    case llvm::Instruction::Xor:
      return of_bits(instruction);
    case llvm::Instruction::ICmp:
      return of_comparison(instruction);
    case llvm::Instruction::Shl:
      if (const auto bits = constant(instruction.getOperand(1)); bits && *bits >= 0 && *bits < 31)
        return scaled(shape(0), int64_t{1} << *bits);
      break;
    case llvm::Instruction::SExt:
    case llvm::Instruction::ZExt: {
      if (instruction.getOperand(0)->getType()->isIntegerTy(1)) break;
      Shape result = shape(0);
      const bool may_wrap = result.has_steps() && !result.shares_bits_from(result.zeros, blocks_);
      if (may_wrap && !is_monotonic(result, blocks_, *instruction.getOperand(0)->getType())) return kVarying;
      result.is_extended |= may_wrap;
      return result;
    }
    case llvm::Instruction::Trunc: {
      Shape result = shape(0);
      result.zeros = std::min(result.zeros, counted_zeros(instruction.getType()->getIntegerBitWidth() - 1));
      return result;
    }
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
    case llvm::Instruction::AddrSpaceCast:
    case llvm::Instruction::Freeze:
      return shape(0);
    case llvm::Instruction::Select:
      if (shape(0).kind == Kind::Unknown) return {};
      if (shape(0).is_flat()) {
        const Shape either = join(shape(1), shape(2), blocks_);
        if (shape(0).is_uniform() || either.is_varying() || either.kind == Kind::Unknown) return either;
        return either.is_extended || !can_be_flat(instruction) ? kVarying : segmented(either, blocks_);
      }
      break;
    case llvm::Instruction::AtomicRMW:
    case llvm::Instruction::AtomicCmpXchg:
      return kVarying;
    default:
      break;
  }
  return of_operands(instruction);
}

}  // namespace cupola::cpu::build
