#include "backend/cpu/build/crowded_loops.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/LoopIterator.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <bit>

#include "backend/cpu/build/lane_by_lane.h"
#include "backend/cpu/build/register_bits.h"

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

/// One that may be run again and again: it reads what nothing in the loop writes.
bool is_repeatable(const Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->isSimple();
  return !instruction.mayHaveSideEffects() && !instruction.mayReadFromMemory();
}

/// A lane by itself.
bool can_lie_in_memory(const llvm::Type& element) {
  if (!element.isIntegerTy()) return true;
  const unsigned bits = element.getIntegerBitWidth();
  return bits == 1 || (bits >= 8 && std::has_single_bit(bits));
}

constexpr unsigned kRegister = 64;  // bytes of the largest

/// An innermost loop, if it can be narrowed.
class CrowdedLoop {
 public:
  CrowdedLoop(const llvm::Loop& loop, const llvm::LoopInfo& loops)
      : loop_(loop),
        header_(*loop.getHeader()),
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
    const CarriedRegisters registers = registers_for_turns(loop_, target);
    unsigned widest = 8;
    for (const llvm::PHINode& value : header_.phis())
      if (const auto* type = as_vector(value)) widest = std::max(widest, type->getScalarSizeInBits());
    const unsigned fitting = register_bits(target) / widest;
    return registers.needed > registers.there_are && fitting >= 4 && fitting < lanes_ && lanes_ % fitting == 0 ? fitting
                                                                                                               : 0;
  }

  void narrow(unsigned width) {
    width_ = width;
    llvm::LLVMContext& context = header_.getContext();
    const auto made_block = [&](const llvm::Twine& name) {
      return BasicBlock::Create(context, name, header_.getParent(), after_);
    };
    group_ = made_block("narrow_group");
    for (BasicBlock* block : blocks_) narrow_blocks_[block] = made_block(block->getName() + ".narrow");
    over_ = made_block("narrow_over");
    narrow_blocks_[before_] = group_;
    narrow_blocks_[after_] = over_;

    llvm::IRBuilder<> b(group_);
    first_ = b.CreatePHI(b.getInt64Ty(), 2, "narrow_first");
    b.CreateBr(narrow_blocks_[&header_]);
    copy_blocks();
    BasicBlock* together = made_block("narrow_together");
    b.SetInsertPoint(over_);
    Value* next = b.CreateAdd(first_, b.getInt64(width_));
    llvm::BranchInst* leave = b.CreateCondBr(b.CreateICmpULT(next, b.getInt64(lanes_)), group_, together);
    first_->addIncoming(b.getInt64(0), before_);
    first_->addIncoming(next, over_);
    before_->getTerminator()->replaceSuccessorWith(&header_, group_);
    b.SetInsertPoint(together);
    hand_on(b, *leave);
    b.CreateBr(after_);
    for (llvm::PHINode& phi : after_->phis()) phi.addIncoming(phi.getIncomingValueForBlock(exiting_), together);
    llvm::DeleteDeadBlocks(blocks_);  // and their edges
  }

 private:
  bool take(Instruction& instruction) {
    const auto* type = as_vector(instruction);
    if (!type)
      return instruction.isTerminator() ? llvm::isa<llvm::BranchInst>(instruction)
                                        : is_repeatable(instruction) && !reads_lanes(instruction);
    if (lanes_ == 0) lanes_ = type->getNumElements();
    if (type->getNumElements() != lanes_ || !can_lie_in_memory(*type->getElementType())) return false;
    return llvm::isa<llvm::PHINode>(instruction) || is_inserted_scalar(instruction) || splat_of(instruction) ||
           (is_lane_by_lane(instruction) && takes_what_lies_in_memory(instruction));
  }
  static bool takes_what_lies_in_memory(const Instruction& instruction) {
    return llvm::all_of(instruction.operands(), [](const llvm::Use& each) {
      const auto* type = as_vector(*each);
      return !type || can_lie_in_memory(*type->getElementType());
    });
  }
  static bool reads_lanes(const Instruction& instruction) {
    return llvm::any_of(instruction.operands(), [](const llvm::Use& each) { return each->getType()->isVectorTy(); });
  }

  llvm::Type* narrowed(llvm::Type* type) const {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector ? llvm::FixedVectorType::get(vector->getElementType(), width_) : type;
  }

  /// Room for all lanes of a vector: bits take bytes.
  struct Slot {
    llvm::AllocaInst* place;
    llvm::FixedVectorType *all, *part;
    llvm::Align part_alignment;
  };
  Slot made_slot(const llvm::FixedVectorType& type) const {
    BasicBlock& entry = header_.getParent()->getEntryBlock();
    llvm::IRBuilder<> b(&entry, entry.getFirstInsertionPt());
    llvm::Type* element = type.getElementType()->isIntegerTy(1) ? b.getInt8Ty() : type.getElementType();
    Slot slot = {nullptr, llvm::FixedVectorType::get(element, lanes_), llvm::FixedVectorType::get(element, width_), {}};
    const auto bytes = header_.getDataLayout().getTypeStoreSize(slot.part).getFixedValue();
    slot.part_alignment = llvm::Align(std::min<uint64_t>(bytes, kRegister));
    slot.place = b.CreateAlloca(slot.all);
    slot.place->setAlignment(llvm::Align(kRegister));
    return slot;
  }
  /// The group's lanes of it.
  Value* place_of_part(llvm::IRBuilder<>& b, const Slot& slot) const {
    return b.CreateInBoundsGEP(slot.part->getElementType(), slot.place, first_);
  }

  /// A vector of all lanes from before the loop, as the group has it.
  Value* from_before(Value* value) {
    llvm::IRBuilder<> before(before_->getTerminator()), b(group_->getTerminator());
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(value))
      if (llvm::Constant* same = constant->getSplatValue())
        return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(width_), same);
    if (auto* made = llvm::dyn_cast<Instruction>(value))
      if (Value* scalar = splat_of(*made)) return before.CreateVectorSplat(width_, scalar);
    const Slot slot = made_slot(*as_vector(*value));
    before.CreateAlignedStore(before.CreateZExtOrBitCast(value, slot.all), slot.place, llvm::Align(kRegister));
    Value* part = b.CreateAlignedLoad(slot.part, place_of_part(b, slot), slot.part_alignment);
    return b.CreateTruncOrBitCast(part, narrowed(value->getType()));
  }

  /// In the group's loop.
  Value* narrow_value(Value* value) {
    if (const auto known = values_.find(value); known != values_.end()) return known->second;
    if (!value->getType()->isVectorTy()) return value;
    Value* part = from_before(value);
    return values_[value] = part;
  }

  void copy_blocks() {
    for (BasicBlock* block : blocks_) {
      llvm::IRBuilder<> b(narrow_blocks_[block]);
      for (Instruction& each : *block) {
        if (is_inserted_scalar(each)) continue;
        b.SetCurrentDebugLocation(each.getDebugLoc());
        values_[&each] = copy(b, each);
      }
    }
    for (BasicBlock* block : blocks_)
      for (llvm::PHINode& phi : block->phis()) {
        auto* made = llvm::cast<llvm::PHINode>(values_[&phi]);
        for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
          made->addIncoming(narrow_value(phi.getIncomingValue(i)), narrow_blocks_[phi.getIncomingBlock(i)]);
      }
  }

  Value* copy(llvm::IRBuilder<>& b, Instruction& each) {
    llvm::Type* type = narrowed(each.getType());
    if (llvm::isa<llvm::PHINode>(each)) return b.CreatePHI(type, 2, each.getName());
    if (Value* scalar = splat_of(each)) return b.CreateVectorSplat(width_, narrow_value(scalar));
    Instruction* made = nullptr;
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&each); call && type->isVectorTy()) {
      llvm::SmallVector<Value*, 3> arguments;
      for (const llvm::Use& argument : call->args()) arguments.push_back(narrow_value(argument));
      made = b.CreateIntrinsic(type, call->getIntrinsicID(), arguments);
      made->copyIRFlags(call);
    } else {
      made = each.clone();
      for (llvm::Use& operand : made->operands())
        if (!llvm::isa<BasicBlock>(operand.get())) operand.set(narrow_value(operand.get()));
      made->mutateType(type);
      b.Insert(made, each.getName());
    }
    if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(made))
      for (unsigned i = 0; i < branch->getNumSuccessors(); ++i)
        branch->setSuccessor(i, narrow_blocks_[branch->getSuccessor(i)]);
    return made;
  }

  /// What follows takes the lanes of all groups together, in `b`'s block; of what is one for all lanes, the last
  /// group's. Groups put theirs down before they `leave`.
  void hand_on(llvm::IRBuilder<>& b, llvm::BranchInst& leave) {
    llvm::IRBuilder<> group(&leave);
    for (BasicBlock* block : blocks_)
      for (Instruction& each : *block) {
        llvm::SmallVector<llvm::Use*, 8> uses;
        for (llvm::Use& use : each.uses())
          if (!llvm::is_contained(blocks_, llvm::cast<Instruction>(use.getUser())->getParent())) uses.push_back(&use);
        if (uses.empty()) continue;
        Value* whole = values_[&each];
        if (const auto* type = as_vector(each)) {
          const Slot slot = made_slot(*type);
          Value* part = group.CreateZExtOrBitCast(whole, slot.part);
          group.CreateAlignedStore(part, place_of_part(group, slot), slot.part_alignment);
          whole =
              b.CreateTruncOrBitCast(b.CreateAlignedLoad(slot.all, slot.place, llvm::Align(kRegister)), each.getType());
        }
        for (llvm::Use* use : uses) use->set(whole);
      }
  }

  const llvm::Loop& loop_;
  BasicBlock& header_;
  BasicBlock *const before_, *const exiting_, *const after_;
  llvm::SmallVector<BasicBlock*, 8> blocks_;
  unsigned lanes_ = 0;
  bool can_be_narrowed_ = false;

  // Of the loop for a group of lanes.
  unsigned width_ = 0;
  BasicBlock *group_ = nullptr, *over_ = nullptr;  ///< where a group begins and ends
  llvm::PHINode* first_ = nullptr;                 ///< the group's first lane
  llvm::DenseMap<BasicBlock*, BasicBlock*> narrow_blocks_;
  llvm::DenseMap<Value*, Value*> values_;  ///< what the loop's values are there
};

}  // namespace

CarriedRegisters registers_for_turns(const llvm::Loop& loop, const llvm::TargetTransformInfo& target) {
  const unsigned bits = register_bits(target);
  CarriedRegisters registers = {0, target.getNumberOfRegisters(target.getRegisterClassForType(/*Vector=*/true))};
  for (const llvm::PHINode& value : loop.getHeader()->phis())
    if (const auto* type = as_vector(value))
      registers.needed += (type->getNumElements() * type->getScalarSizeInBits() + bits - 1) / bits;
  return registers;
}

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
