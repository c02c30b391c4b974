#include "backend/metal/build/raise/meetings.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "backend/metal/build/raise/grid_barriers.h"
#include "backend/metal/build/raise/launch_facts.h"
#include "backend/metal/build/raise/metal_intrinsics.h"
#include "backend/metal/build/raise/spaces.h"
#include "kir/block_uniformity.h"
#include "kir/branch_ways.h"
#include "kir/intrinsics.h"
#include "kir/refusal.h"

namespace cupola::metal::build {
namespace {

/// Of all of the block's threads.
bool is_barrier(const llvm::Instruction& instruction) {
  const auto known = kir::intrinsic_of(instruction);
  if (known != kir::Intrinsic::Barrier && known != kir::Intrinsic::BarrierReduce) return false;
  return llvm::all_of(llvm::ArrayRef<int>{0, 1}, [&](int i) {
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(static_cast<unsigned>(i)));
    return number && number->isZero();
  });
}

bool ends_thread(const llvm::Instruction& instruction) {
  return metal_intrinsic_of(instruction) == MetalIntrinsic::Fail ||
         kir::effect_of(instruction) == kir::Effect::kNoReturn;
}

bool is_grid_barrier(const llvm::Instruction& instruction) {
  return kir::intrinsic_of(instruction) == kir::Intrinsic::GridSync;
}

bool needs_kernel(const llvm::Instruction& instruction) {
  return is_barrier(instruction) || is_grid_barrier(instruction) || ends_thread(instruction);
}

bool has_any(llvm::Function& function, bool (*which)(const llvm::Instruction&)) {
  return llvm::any_of(llvm::instructions(function), which);
}

/// Between threads that come by together.
bool differs_by_itself(const llvm::Instruction& instruction) {
  using kir::Intrinsic;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return load->getPointerAddressSpace() != kConstant || !load->isSimple();
  if (const auto known = kir::intrinsic_of(instruction)) switch (*known) {
      case Intrinsic::TidX:
      case Intrinsic::TidY:
      case Intrinsic::TidZ:
      case Intrinsic::LaneId:
      case Intrinsic::WarpId:
        return true;
      default:
        return kir::effect_of(*known) != kir::Effect::kPure;
    }
  return instruction.mayReadOrWriteMemory() || llvm::isa<llvm::AllocaInst, llvm::FreezeInst>(instruction);
}

/// A branch may part threads that then meet at barriers, or do not all come there.
bool may_part_at_barriers(llvm::Function& kernel) {
  const llvm::PostDominatorTree post_dominators(kernel);
  const kir::BlockUniformity uniformity(kernel, {}, post_dominators, {is_barrier, differs_by_itself});
  for (llvm::BasicBlock& block : kernel)
    if (!uniformity.is_uniform(block.getTerminator()))
      for (llvm::BasicBlock* reached : kir::ways_from(&block, post_dominators))
        if (llvm::any_of(*reached, is_barrier)) return true;
  return false;
}

/// Of a meeting's sum: how many came to a grid-wide barrier, and what barriers add up.
constexpr uint32_t kOneAtGrid = 1u << 16, kAddedUp = kOneAtGrid - 1;

/// The kernel as a loop around one barrier. A block whose threads have all come to a grid-wide barrier, or returned,
/// keeps its variables and returns; its next launch begins there.
class MeetingLoop {
 public:
  explicit MeetingLoop(llvm::Function& kernel)
      : kernel_(kernel), context_(kernel.getContext()), has_grid_(has_any(kernel, is_grid_barrier)) {}

  /// Bytes that a thread keeps from launch to launch.
  uint32_t make() {
    compute_facts_where_used(kernel_);
    values_to_memory();
    llvm::BasicBlock* entry = &kernel_.getEntryBlock();
    llvm::BasicBlock* first = entry->splitBasicBlock(behind_locals(*entry));
    choose_ = llvm::BasicBlock::Create(context_, "", &kernel_);
    meet_ = llvm::BasicBlock::Create(context_, "", &kernel_);
    {
      llvm::IRBuilder<> b(entry->getTerminator());
      state_ = b.CreateAlloca(b.getInt32Ty());
      phase_ = b.CreateAlloca(b.getInt32Ty());
      sum_ = b.CreateAlloca(b.getInt32Ty());
      live_ = b.CreateAlloca(b.getInt32Ty());
      b.CreateStore(b.getInt32(0), phase_);
      if (has_grid_) {
        at_grid_ = b.CreateAlloca(b.getInt1Ty());
        b.CreateStore(b.getFalse(), at_grid_);
        call(b, MetalIntrinsic::TakeShared);
      }
      call(b, MetalIntrinsic::BeginMeetings);
      entry->getTerminator()->setSuccessor(0, first);
    }
    places_.push_back(meet_);  // state 0: returned
    cut();
    for (llvm::BasicBlock* block : returns_) {
      llvm::IRBuilder<> b(block->getTerminator());
      call(b, MetalIntrinsic::LeaveMeetings);
      go(b, 0);
      block->getTerminator()->eraseFromParent();
    }
    finish();
    return has_grid_ ? go_on_in_next_launch(*entry, *first) : 0;
  }

 private:
  /// No value of one block is used in another, so that control may come from anywhere.
  void values_to_memory() {
    llvm::SmallVector<llvm::Instruction*, 64> crossing;
    llvm::SmallVector<llvm::PHINode*, 16> phis;
    for (llvm::Instruction& instruction : llvm::instructions(kernel_)) {
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
        phis.push_back(phi);
      } else if (!llvm::isa<llvm::AllocaInst>(instruction) &&
                 llvm::any_of(instruction.users(), [&](const llvm::User* user) {
                   const auto* used = llvm::cast<llvm::Instruction>(user);
                   return used->getParent() != instruction.getParent() || llvm::isa<llvm::PHINode>(used);
                 })) {
        crossing.push_back(&instruction);
      }
    }
    for (llvm::Instruction* instruction : crossing) llvm::DemoteRegToStack(*instruction);
    for (llvm::PHINode* phi : phis) llvm::DemotePHIToStack(phi);
  }

  static llvm::BasicBlock::iterator behind_locals(llvm::BasicBlock& entry) {
    const auto other = llvm::find_if(entry, [](llvm::Instruction& one) { return !llvm::isa<llvm::AllocaInst>(one); });
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::make_range(other, entry.end())))
      if (llvm::isa<llvm::AllocaInst>(instruction)) instruction.moveBefore(other);
    return other;
  }

  void go(llvm::IRBuilder<>& b, uint32_t state) {
    b.CreateStore(b.getInt32(state), state_);
    b.CreateBr(meet_);
  }

  /// At each barrier the block ends; the next turn begins behind it.
  void cut() {
    llvm::SmallVector<llvm::CallInst*, 8> barriers;
    for (llvm::Instruction& instruction : llvm::instructions(kernel_)) {
      if (is_barrier(instruction) || is_grid_barrier(instruction))
        barriers.push_back(llvm::cast<llvm::CallInst>(&instruction));
      if (llvm::isa<llvm::ReturnInst>(instruction)) returns_.push_back(instruction.getParent());
    }
    for (llvm::CallInst* barrier : barriers) {
      llvm::BasicBlock* before = barrier->getParent();
      llvm::BasicBlock* behind = before->splitBasicBlock(barrier->getIterator());
      for (llvm::BasicBlock*& block : returns_)
        if (block == before) block = behind;
      llvm::IRBuilder<> b(before->getTerminator());
      const bool reduces = kir::intrinsic_of(*barrier) == kir::Intrinsic::BarrierReduce;
      if (reduces)
        call(b, MetalIntrinsic::AddToMeeting, {b.CreateLoad(b.getInt32Ty(), phase_), barrier->getArgOperand(3)});
      if (is_grid_barrier(*barrier)) {
        b.CreateStore(b.getTrue(), at_grid_);
        come_to_grid(b);
      }
      go(b, static_cast<uint32_t>(places_.size()));
      before->getTerminator()->eraseFromParent();
      places_.push_back(behind);
      if (reduces) {
        b.SetInsertPoint(barrier);
        barrier->replaceAllUsesWith(reduced(b, barrier->getArgOperand(2)));
      }
      barrier->eraseFromParent();
    }
    compute_facts_where_used(kernel_);
    values_that_cross_cuts();
  }

  void come_to_grid(llvm::IRBuilder<>& b) {
    call(b, MetalIntrinsic::AddToMeeting, {b.CreateLoad(b.getInt32Ty(), phase_), b.getInt32(kOneAtGrid)});
  }

  /// Operands of a BarrierReduce are used in front of the cut; its block's values may be used behind it.
  void values_that_cross_cuts() {
    llvm::SmallVector<llvm::Instruction*, 16> crossing;
    for (llvm::Instruction& instruction : llvm::instructions(kernel_))
      if (!llvm::isa<llvm::AllocaInst>(instruction) && llvm::any_of(instruction.users(), [&](const llvm::User* user) {
            return llvm::cast<llvm::Instruction>(user)->getParent() != instruction.getParent();
          }))
        crossing.push_back(&instruction);
    for (llvm::Instruction* instruction : crossing)
      llvm::DemoteRegToStack(*instruction, false, kernel_.getEntryBlock().begin());
  }

  llvm::Value* reduced(llvm::IRBuilder<>& b, llvm::Value* kind) {
    llvm::Value* sum = b.CreateLoad(b.getInt32Ty(), sum_);
    if (has_grid_) sum = b.CreateAnd(sum, kAddedUp);
    llvm::Value* live = b.CreateLoad(b.getInt32Ty(), live_);
    llvm::Value* all = b.CreateZExt(b.CreateICmpEQ(sum, live), b.getInt32Ty());
    llvm::Value* any = b.CreateZExt(b.CreateICmpNE(sum, b.getInt32(0)), b.getInt32Ty());
    return b.CreateSelect(b.CreateICmpEQ(kind, b.getInt32(0)), sum,
                          b.CreateSelect(b.CreateICmpEQ(kind, b.getInt32(1)), all, any));
  }

  void finish() {
    llvm::IRBuilder<> b(meet_);
    llvm::Value* phase = b.CreateLoad(b.getInt32Ty(), phase_);
    llvm::Value* met = call(b, MetalIntrinsic::Meet, {phase});
    b.CreateStore(b.CreateTrunc(met, b.getInt32Ty()), sum_);
    llvm::Value* live = b.CreateTrunc(b.CreateLShr(met, 32), b.getInt32Ty());
    b.CreateStore(live, live_);
    b.CreateStore(
        b.CreateSelect(b.CreateICmpEQ(phase, b.getInt32(2)), b.getInt32(0), b.CreateAdd(phase, b.getInt32(1))), phase_);
    llvm::BasicBlock* over = llvm::BasicBlock::Create(context_, "", &kernel_);
    b.CreateCondBr(b.CreateICmpEQ(live, b.getInt32(0)), over, choose_);
    b.SetInsertPoint(over);
    b.CreateRetVoid();
    b.SetInsertPoint(choose_);
    llvm::SwitchInst* choice = b.CreateSwitch(b.CreateLoad(b.getInt32Ty(), state_), meet_);
    for (size_t i = 1; i < places_.size(); ++i) choice->addCase(b.getInt32(static_cast<uint32_t>(i)), places_[i]);
  }

  /// Between the meeting and the choice: all are at a grid-wide barrier, or those who are come to the next meeting too.
  /// And at the kernel's entry: where the last launch stopped.
  uint32_t go_on_in_next_launch(llvm::BasicBlock& entry, llvm::BasicBlock& first) {
    const auto block = [&] { return llvm::BasicBlock::Create(context_, "", &kernel_); };
    llvm::BasicBlock *keep = block(), *some = block(), *wait = block(), *take = block(), *gone = block();
    meet_->getTerminator()->setSuccessor(1, some);  // not all have left
    llvm::IRBuilder<> b(some);
    llvm::Value* at_grid = b.CreateLShr(b.CreateLoad(b.getInt32Ty(), sum_), 16);
    llvm::BasicBlock* others = block();
    b.CreateCondBr(b.CreateICmpEQ(at_grid, b.CreateLoad(b.getInt32Ty(), live_)), keep, others);
    b.SetInsertPoint(others);
    b.CreateCondBr(b.CreateLoad(b.getInt1Ty(), at_grid_), wait, choose_);
    b.SetInsertPoint(wait);
    come_to_grid(b);
    b.CreateBr(meet_);

    const SavedFrame frame(kernel_, {phase_, sum_, live_, at_grid_});
    frame.keep(*keep);
    b.SetInsertPoint(keep);
    call(b, MetalIntrinsic::KeepShared);
    b.CreateRetVoid();

    llvm::Instruction* end = entry.getTerminator();
    b.SetInsertPoint(end);
    b.CreateCondBr(b.CreateICmpEQ(call(b, MetalIntrinsic::Turn), b.getInt32(0)), &first, take);
    end->eraseFromParent();
    frame.take(*take);
    b.SetInsertPoint(take);
    // By a meeting: the loop has one entry, so that nobody meets in another one.
    b.CreateCondBr(b.CreateICmpEQ(b.CreateLoad(b.getInt32Ty(), state_), b.getInt32(0)), gone, meet_);
    b.SetInsertPoint(gone);
    call(b, MetalIntrinsic::LeaveMeetings);
    b.CreateBr(meet_);
    return frame.bytes();
  }

  llvm::Function& kernel_;
  llvm::LLVMContext& context_;
  const bool has_grid_;
  llvm::BasicBlock *choose_ = nullptr, *meet_ = nullptr;
  llvm::AllocaInst *state_ = nullptr, *phase_ = nullptr, *sum_ = nullptr, *live_ = nullptr, *at_grid_ = nullptr;
  llvm::SmallVector<llvm::BasicBlock*, 8> places_, returns_;
};

}  // namespace

Result<> inline_what_needs_a_kernel(llvm::Module& module) {
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::Function& function : module) {
      if (function.isDeclaration() || function.use_empty() || !llvm::any_of(llvm::instructions(function), needs_kernel))
        continue;
      for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
        auto* call = llvm::dyn_cast<llvm::CallInst>(user);
        if (!call || call->getCalledFunction() != &function) continue;
        llvm::InlineFunctionInfo info;
        const std::string place = kir::place_of(*call);
        if (!llvm::InlineFunction(*call, info).isSuccess())
          return fail(ErrorCode::NotSupported,
                      "metal: {}: a function with barriers, or that may end the thread, cannot be part of its caller",
                      place);
        changed = true;
      }
    }
  }
  return {};
}

void end_by_return(llvm::Function& kernel) {
  llvm::SmallVector<llvm::Instruction*, 8> ends;
  for (llvm::Instruction& instruction : llvm::instructions(kernel))
    if (ends_thread(instruction)) ends.push_back(&instruction);
  for (llvm::Instruction* end : ends) {
    llvm::BasicBlock* block = end->getParent();
    llvm::SplitBlock(block, end->getNextNode());
    llvm::Instruction* jump = block->getTerminator();
    jump->getSuccessor(0)->removePredecessor(block);
    llvm::IRBuilder<> b(jump);
    b.CreateRetVoid();
    jump->eraseFromParent();
    if (kir::intrinsic_of(*end) == kir::Intrinsic::Exit) end->eraseFromParent();
  }
  llvm::removeUnreachableBlocks(kernel);
}

uint32_t make_threads_meet(llvm::Function& kernel) {
  const bool is_needed =
      has_any(kernel, is_grid_barrier) || (has_any(kernel, is_barrier) && may_part_at_barriers(kernel));
  return is_needed ? MeetingLoop(kernel).make() : 0;
}

}  // namespace cupola::metal::build
