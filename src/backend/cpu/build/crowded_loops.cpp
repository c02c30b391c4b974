#include "backend/cpu/build/crowded_loops.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/LoopIterator.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

llvm::FixedVectorType* as_vector(const Value& value) {
  return llvm::dyn_cast<llvm::FixedVectorType>(value.getType());
}

/// What the vector has in all lanes, if that is how it is made; else null.
Value* splat_of(Instruction& instruction) {
  using namespace llvm::PatternMatch;
  Value* scalar = nullptr;
  const bool is_splat =
      match(&instruction, m_Shuffle(m_InsertElt(m_Undef(), m_Value(scalar), m_ZeroInt()), m_Undef(), m_ZeroMask()));
  return is_splat ? scalar : nullptr;
}

/// The first half of a splat.
bool is_inserted_scalar(Instruction& instruction) {
  return llvm::isa<llvm::InsertElementInst>(instruction) && llvm::all_of(instruction.users(), [&](llvm::User* user) {
           auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(user);
           return shuffle && shuffle->getParent() == instruction.getParent() && splat_of(*shuffle);
         });
}

/// A lane's result is made of the same lane of the operands.
bool is_lane_by_lane(const Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return llvm::isTriviallyVectorizable(call->getIntrinsicID()) &&
           llvm::all_of(call->args(), [&](const llvm::Use& each) { return each->getType() == call->getType(); });
  return llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::CmpInst, llvm::FreezeInst>(
             instruction) ||
         (llvm::isa<llvm::SelectInst>(instruction) && instruction.getOperand(0)->getType()->isVectorTy());
}

/// One that may be run again and again: it reads what nothing in the loop writes.
bool is_repeatable(const Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->isSimple();
  return !instruction.mayHaveSideEffects() && !instruction.mayReadFromMemory();
}

/// An innermost loop, if it can be narrowed.
class CrowdedLoop {
 public:
  CrowdedLoop(const llvm::Loop& loop, const llvm::LoopInfo& loops)
      : header_(*loop.getHeader()),
        before_(loop.getLoopPreheader()),
        exiting_(loop.getExitingBlock()),
        after_(loop.getExitBlock()) {
    if (!loop.isInnermost() || !before_ || !exiting_ || !after_) return;
    llvm::LoopBlocksRPO order(const_cast<llvm::Loop*>(&loop));
    order.perform(&loops);
    blocks_.assign(order.begin(), order.end());
    can_be_narrowed_ = llvm::all_of(blocks_, [&](BasicBlock* block) {
      return llvm::all_of(*block, [&](Instruction& each) { return take(each); });
    });
    can_be_narrowed_ &= lanes_ > 0;
  }

  /// Lanes at a time; 0: it stays as it is.
  unsigned width(const llvm::TargetTransformInfo& target) const {
    if (!can_be_narrowed_) return 0;
    const auto bits = static_cast<unsigned>(
        target.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue());
    const unsigned there_are = target.getNumberOfRegisters(target.getRegisterClassForType(/*Vector=*/true));
    unsigned needed = 0, widest = 8;
    for (const llvm::PHINode& value : header_.phis())
      if (const auto* type = as_vector(value)) {
        const unsigned all = lanes_ * type->getScalarSizeInBits();
        needed += (all + bits - 1) / bits;
        widest = std::max(widest, type->getScalarSizeInBits());
      }
    const unsigned fitting = bits / widest;
    return needed > there_are && fitting >= 4 && fitting < lanes_ && lanes_ % fitting == 0 ? fitting : 0;
  }

  void narrow(unsigned width) {
    const unsigned count = lanes_ / width;
    llvm::SmallVector<Slice, 8> slices(count);
    BasicBlock* from = before_;
    for (unsigned k = 0; k < count; ++k) {
      make(slices[k], k * width, width, *from);
      from = slices[k].over;
    }
    finish(slices, *from);
  }

 private:
  /// The loop for some of the lanes.
  struct Slice {
    llvm::DenseMap<BasicBlock*, BasicBlock*> blocks;
    BasicBlock* over = nullptr;             ///< where it goes then
    llvm::DenseMap<Value*, Value*> values;  ///< what its values are for these lanes
    unsigned first = 0, width = 0;
  };

  bool take(Instruction& instruction) {
    const auto* type = as_vector(instruction);
    if (!type)
      return instruction.isTerminator() ? llvm::isa<llvm::BranchInst>(instruction)
                                        : is_repeatable(instruction) && !reads_lanes(instruction);
    if (lanes_ == 0) lanes_ = type->getNumElements();
    if (type->getNumElements() != lanes_) return false;
    return llvm::isa<llvm::PHINode>(instruction) || is_inserted_scalar(instruction) || splat_of(instruction) ||
           (is_lane_by_lane(instruction) && takes_lanes(instruction));
  }
  /// Of vectors of as many lanes alone.
  bool takes_lanes(const Instruction& instruction) const {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return llvm::all_of(call ? call->args() : instruction.operands(), [&](const llvm::Use& each) {
      const auto* type = as_vector(*each);
      return type && type->getNumElements() == lanes_;
    });
  }
  static bool reads_lanes(const Instruction& instruction) {
    return llvm::any_of(instruction.operands(), [](const llvm::Use& each) { return each->getType()->isVectorTy(); });
  }

  static llvm::Type* narrowed(llvm::Type* type, unsigned width) {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector ? llvm::FixedVectorType::get(vector->getElementType(), width) : type;
  }

  /// In the slice. What comes from before the loop is cut there.
  Value* in(Slice& slice, Value* value) {
    if (const auto known = slice.values.find(value); known != slice.values.end()) return known->second;
    if (!value->getType()->isVectorTy()) return value;
    llvm::IRBuilder<> b(before_->getTerminator());
    Value* part = b.CreateShuffleVector(value, llvm::createSequentialMask(slice.first, slice.width, 0));
    return slice.values[value] = part;
  }

  void make(Slice& slice, unsigned first, unsigned width, BasicBlock& from) {
    llvm::LLVMContext& context = header_.getContext();
    const auto made_block = [&](const llvm::Twine& name) {
      return BasicBlock::Create(context, name, header_.getParent(), after_);
    };
    slice.first = first;
    slice.width = width;
    for (BasicBlock* block : blocks_) slice.blocks[block] = made_block(block->getName() + ".narrow");
    slice.over = made_block("narrow_over");
    slice.blocks[before_] = &from;
    slice.blocks[after_] = slice.over;
    if (llvm::Instruction* end = from.getTerminator())
      end->replaceSuccessorWith(&header_, slice.blocks[&header_]);
    else
      llvm::BranchInst::Create(slice.blocks[&header_], &from);
    for (BasicBlock* block : blocks_) {
      llvm::IRBuilder<> b(slice.blocks[block]);
      for (Instruction& each : *block) {
        if (is_inserted_scalar(each)) continue;
        b.SetCurrentDebugLocation(each.getDebugLoc());
        slice.values[&each] = copy(b, slice, each);
      }
    }
    for (BasicBlock* block : blocks_)
      for (llvm::PHINode& phi : block->phis()) {
        auto* made = llvm::cast<llvm::PHINode>(slice.values[&phi]);
        for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
          made->addIncoming(in(slice, phi.getIncomingValue(i)), slice.blocks[phi.getIncomingBlock(i)]);
      }
  }

  Value* copy(llvm::IRBuilder<>& b, Slice& slice, Instruction& each) {
    llvm::Type* type = narrowed(each.getType(), slice.width);
    if (llvm::isa<llvm::PHINode>(each)) return b.CreatePHI(type, 2, each.getName());
    if (Value* scalar = splat_of(each)) return b.CreateVectorSplat(slice.width, in(slice, scalar));
    Instruction* made = nullptr;
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&each); call && type->isVectorTy()) {
      llvm::SmallVector<Value*, 3> arguments;
      for (const llvm::Use& argument : call->args()) arguments.push_back(in(slice, argument));
      made = b.CreateIntrinsic(call->getIntrinsicID(), {type}, arguments);
      made->copyIRFlags(call);
    } else {
      made = each.clone();
      for (llvm::Use& operand : made->operands())
        if (!llvm::isa<BasicBlock>(operand.get())) operand.set(in(slice, operand.get()));
      made->mutateType(type);
      b.Insert(made, each.getName());
    }
    if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(made))
      for (unsigned i = 0; i < branch->getNumSuccessors(); ++i)
        branch->setSuccessor(i, slice.blocks[branch->getSuccessor(i)]);
    return made;
  }

  /// What follows takes the lanes together, from `last` on.
  void finish(llvm::MutableArrayRef<Slice> slices, BasicBlock& last) {
    llvm::IRBuilder<> b(&last);
    for (BasicBlock* block : blocks_)
      for (Instruction& each : *block) {
        llvm::SmallVector<llvm::Use*, 8> uses;
        for (llvm::Use& use : each.uses())
          if (!llvm::is_contained(blocks_, llvm::cast<Instruction>(use.getUser())->getParent())) uses.push_back(&use);
        if (uses.empty()) continue;
        llvm::SmallVector<Value*, 8> parts;
        for (Slice& slice : slices) parts.push_back(in(slice, &each));
        Value* whole = each.getType()->isVectorTy() ? llvm::concatenateVectors(b, parts) : parts.back();
        for (llvm::Use* use : uses) use->set(whole);
      }
    b.CreateBr(after_);
    for (llvm::PHINode& phi : after_->phis()) phi.addIncoming(phi.getIncomingValueForBlock(exiting_), &last);
    llvm::DeleteDeadBlocks(blocks_);  // and their edges
  }

  BasicBlock& header_;
  BasicBlock *const before_, *const exiting_, *const after_;
  llvm::SmallVector<BasicBlock*, 8> blocks_;
  unsigned lanes_ = 0;
  bool can_be_narrowed_ = false;
};

}  // namespace

void narrow_crowded_loops(llvm::Function& function, const llvm::TargetTransformInfo& target) {
  if (function.isDeclaration()) return;
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    CrowdedLoop crowded(*loop, loops);
    if (const unsigned width = crowded.width(target)) crowded.narrow(width);
  }
}

}  // namespace cupola::cpu::build
