#include "backend/cpu/build/vector_shapes.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using Kind = Shape::Kind;

constexpr Shape kUniform{Kind::Uniform}, kVarying{Kind::Varying};

uint8_t most(unsigned zeros) {
  return static_cast<uint8_t>(std::min<unsigned>(zeros, Shape::kMostZeros));
}

Shape affine(int64_t stride, unsigned zeros = 0, bool is_extended = false) {
  const Kind kind = stride == 0 && !is_extended ? Kind::Uniform : Kind::Affine;
  return {kind, is_extended, most(zeros), stride};
}

/// Of a value that is one or the other, the same one in all lanes.
Shape join(Shape a, Shape b) {
  if (a.kind == Kind::Unknown) return b;
  if (b.kind == Kind::Unknown) return a;
  if (a.kind != b.kind || a.stride != b.stride || a.is_extended != b.is_extended) return kVarying;
  a.zeros = std::min(a.zeros, b.zeros);
  return a;
}

Shape scaled(Shape shape, int64_t factor) {
  int64_t stride = 0;
  if (shape.is_varying() || shape.kind == Kind::Unknown) return shape;
  if (factor == 0) return affine(0, Shape::kMostZeros);
  if (__builtin_mul_overflow(shape.stride, factor, &stride) || stride > INT32_MAX || stride < INT32_MIN)
    return kVarying;
  return affine(stride, shape.zeros + static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(factor))),
                shape.is_extended);
}

Shape sum(Shape a, Shape b) {
  if (a.is_varying() || b.is_varying()) return kVarying;
  if (a.kind == Kind::Unknown || b.kind == Kind::Unknown) return {};
  const int64_t stride = a.stride + b.stride;  // each fits 32 bits
  if (stride > INT32_MAX || stride < INT32_MIN) return kVarying;
  return affine(stride, std::min(a.zeros, b.zeros), a.is_extended || b.is_extended);
}

/// Lanes' values wrap once at most, so that it is enough to look at the last lane's.
bool is_monotonic(Shape shape, const llvm::Type& type) {
  const unsigned width = type.getIntegerBitWidth();
  return width > 32 || std::abs(shape.stride) * (kLanes - 1) < (int64_t{1} << (width - 1));
}

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

/// What a thread knows of itself.
std::optional<Shape> of_register(kir::Intrinsic intrinsic, BlockClass blocks) {
  using enum kir::Intrinsic;
  constexpr unsigned kLaneBits = 5;
  const bool rows = blocks == BlockClass::Rows;
  switch (intrinsic) {
    case TidX:
      return rows ? affine(1, kLaneBits) : kVarying;
    case TidY:
    case TidZ:
      return rows ? kUniform : kVarying;
    case NtidX:
      return affine(0, rows ? kLaneBits : 0);
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
      return kVarying;
    default:
      return std::nullopt;
  }
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
  const Kind kind = at(branch->getCondition(), block).kind;
  return kind == Kind::Affine || kind == Kind::Varying;
}

bool Shapes::propagate() {
  bool changed = false;
  for (const llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function_))
    for (const llvm::Instruction& instruction : *block) {
      if (instruction.getType()->isVoidTy()) continue;
      Shape& known = shapes_[&instruction];
      Shape found = join(known, transfer(instruction));
      if (const auto* integer = llvm::dyn_cast<llvm::IntegerType>(instruction.getType()))  // no more than it has
        found.zeros = std::min(found.zeros, most(integer->getBitWidth() - 1));
      if (found == known) continue;
      known = found;
      changed = true;
    }
  return changed;
}

/// The blocks between a divergent branch and where its ways meet for certain.
bool Shapes::find_masked() {
  const size_t before = masked_.size() + joins_.size();
  for (const llvm::BasicBlock& block : function_) {
    if (!diverges(&block)) continue;
    const auto* node = post_dominators_.getNode(&block);
    const llvm::BasicBlock* end = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    if (end) joins_.insert(end);
    llvm::SmallVector<const llvm::BasicBlock*, 16> open(llvm::successors(&block));
    llvm::SmallPtrSet<const llvm::BasicBlock*, 16> seen;
    while (!open.empty()) {
      const llvm::BasicBlock* next = open.pop_back_val();
      if (next == end || !seen.insert(next).second) continue;
      masked_.insert(next);
      open.append(llvm::succ_begin(next), llvm::succ_end(next));
    }
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
    result = join(result, shape.is_extended ? kVarying : shape);  // what came of it could not be computed again
    all_same &= !same || same == value;
    same = value;
  }
  if (is_header || all_same || (!is_masked(block) && !joins_.contains(block))) return result;
  return result.kind == Kind::Unknown ? result : kVarying;
}

/// Of an operation that works lane by lane.
Shape Shapes::of_operands(const llvm::Instruction& instruction) const {
  Shape result = kUniform;
  for (const llvm::Value* operand : instruction.operands()) {
    const Shape shape = at(operand, instruction.getParent());
    if (shape.kind == Kind::Unknown)
      result = {};
    else if (!shape.is_uniform())
      return kVarying;
  }
  return result;
}

/// Of a value whose lanes differ in low bits only, from which additions to lane 0's do not carry: what does not touch
/// those bits touches lane 0's value alone, and what drops them is uniform. Shifts and divisions by powers of two, and
/// operations bit by bit.
Shape Shapes::of_bits(const llvm::Instruction& instruction) const {
  const Shape value = at(instruction.getOperand(0), instruction.getParent());
  const auto number = constant(instruction.getOperand(1));
  if (!number || !value.shares_bits_from(value.zeros)) return of_operands(instruction);
  const auto bits = static_cast<uint64_t>(*number);
  const uint64_t low = (uint64_t{1} << value.zeros) - 1;
  const auto drops = [&](unsigned count) { return value.shares_bits_from(std::min<unsigned>(count, value.zeros)); };
  const auto masked = [&](uint64_t mask) {
    if (mask <= low && std::has_single_bit(mask + 1) && drops(static_cast<unsigned>(std::countr_one(mask))))
      return affine(value.stride, Shape::kMostZeros);
    if ((mask & low) == low) return affine(value.stride, value.zeros);
    return mask == 0 || drops(static_cast<unsigned>(std::countr_zero(mask))) ? kUniform : kVarying;
  };
  switch (instruction.getOpcode()) {
    case llvm::Instruction::LShr:
    case llvm::Instruction::AShr:
      return bits < 64 && drops(static_cast<unsigned>(bits)) ? kUniform : kVarying;
    case llvm::Instruction::UDiv:
      return std::has_single_bit(bits) && drops(static_cast<unsigned>(std::countr_zero(bits))) ? kUniform : kVarying;
    case llvm::Instruction::URem:
      return std::has_single_bit(bits) ? masked(bits - 1) : kVarying;
    case llvm::Instruction::And:
      return masked(bits);
    default:  // or, exclusive or
      return (bits & low) == 0 ? affine(value.stride, value.zeros) : kVarying;
  }
}

/// Lanes that share their high bits are all on the same side of a number whose low bits are zero.
Shape Shapes::of_comparison(const llvm::Instruction& instruction) const {
  const auto& compare = llvm::cast<llvm::ICmpInst>(instruction);
  const Shape value = at(compare.getOperand(0), compare.getParent());
  Shape limit = at(compare.getOperand(1), compare.getParent());
  if (value.kind != Kind::Affine || !limit.is_uniform()) return of_operands(instruction);
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
  return value.shares_bits_from(std::min(value.zeros, limit.zeros)) ? kUniform : kVarying;
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
    return address.is_uniform() ? kUniform : kVarying;
  }
  if (const auto intrinsic = kir::intrinsic_of(instruction)) {
    if (const auto known = of_register(*intrinsic, blocks_)) return *known;
    if (*intrinsic != kir::Intrinsic::Vote && *intrinsic != kir::Intrinsic::Redux) return kVarying;
    const Shape members = shape(0);  // the same for all lanes of a group
    return members.kind == Kind::Affine ? kVarying : members.is_uniform() ? kUniform : members;
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
      result = sum(result, scaled(index, static_cast<int64_t>(step.getFixedValue())));
    }
    return result;
  }
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Add:
      return sum(shape(0), shape(1));
    case llvm::Instruction::Sub:
      return sum(shape(0), scaled(shape(1), -1));
    case llvm::Instruction::Or:
      if (llvm::cast<llvm::PossiblyDisjointInst>(instruction).isDisjoint() && shape(1).is_uniform())
        return sum(shape(0), shape(1));
      return of_bits(instruction);
    case llvm::Instruction::Mul:
      if (const auto factor = constant(instruction.getOperand(1))) return scaled(shape(0), *factor);
      if (shape(0).is_uniform() && shape(1).is_uniform()) return affine(0, shape(0).zeros + shape(1).zeros);
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
      const bool cannot_wrap = result.shares_bits_from(result.zeros);
      if (!cannot_wrap && result.kind == Kind::Affine && !is_monotonic(result, *instruction.getOperand(0)->getType()))
        return kVarying;
      result.is_extended |= result.kind == Kind::Affine && !cannot_wrap;
      return result;
    }
    case llvm::Instruction::Trunc: {
      Shape result = shape(0);
      result.zeros = std::min(result.zeros, most(instruction.getType()->getIntegerBitWidth() - 1));
      return result;
    }
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
    case llvm::Instruction::AddrSpaceCast:
    case llvm::Instruction::Freeze:
      return shape(0);
    case llvm::Instruction::Select:
      if (shape(0).kind == Kind::Unknown) return {};
      if (shape(0).is_uniform()) return join(shape(1), shape(2));
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
