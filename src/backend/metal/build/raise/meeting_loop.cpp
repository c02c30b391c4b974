#include "backend/metal/build/raise/meeting_loop.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Local.h>

#include <utility>

#include "backend/metal/build/raise/barrier_kinds.h"
#include "backend/metal/build/raise/grid_barriers.h"
#include "backend/metal/build/raise/launch_facts.h"
#include "backend/metal/build/raise/metal_intrinsics.h"
#include "image/metal_abi.h"
#include "image/thread_operations.h"
#include "kir/intrinsics.h"

namespace cupola::metal::build {
namespace {

/// Of a meeting's sum: how many came to a grid-wide barrier, and what barriers add up.
constexpr uint32_t kOneAtGrid = 1u << 16, kAddedUp = kOneAtGrid - 1;

/// Of a numbered barrier's votes: how many voted, and how many of them for it.
constexpr uint32_t kOneVoter = 1u << 16, kVotes = kOneVoter - 1;

/// What metal.meet_at is told instead of a barrier's number.
constexpr uint32_t kGoesOn = kBarriers, kDoesNotWait = kGoesOn + 1;

// Of what metal.meet_at returns.
constexpr uint32_t kLive = 0xfff;
constexpr uint64_t kOwnComplete = 44, kSomeComplete = 45, kAtGrid = 48;

class MeetingLoop {
 public:
  explicit MeetingLoop(llvm::Function& kernel)
      : kernel_(kernel), context_(kernel.getContext()), has_grid_(has_any(kernel, is_grid_barrier)) {
    if (llvm::CallInst* begin = begin_barriers_of(kernel)) {
      llvm::APInt place(64, 0);
      llvm::cast<llvm::PtrToIntInst>(begin->getArgOperand(0))
          ->getPointerOperand()
          ->stripAndAccumulateConstantOffsets(kernel.getDataLayout(), place, /*AllowNonInbounds=*/true);
      barriers_ = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), place.getZExtValue());
      begin->eraseFromParent();
    }
  }

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
      if (barriers_) {
        waits_at_ = b.CreateAlloca(b.getInt32Ty());
        waits_for_ = b.CreateAlloca(b.getInt32Ty());
        b.CreateStore(b.getInt32(kGoesOn), waits_at_);
        b.CreateStore(b.getInt32(0), waits_for_);
        call(b, MetalIntrinsic::BeginBarriers, {barriers_});
      }
      call(b, MetalIntrinsic::BeginMeetings);
      entry->getTerminator()->setSuccessor(0, first);
    }
    places_.push_back(meet_);  // state 0: returned
    cut();
    for (llvm::BasicBlock* block : returns_) {
      llvm::IRBuilder<> b(block->getTerminator());
      call(b, MetalIntrinsic::LeaveMeetings);
      if (barriers_) b.CreateStore(b.getInt32(kDoesNotWait), waits_at_);
      go(b, 0);
      block->getTerminator()->eraseFromParent();
    }
    finish();
    if (barriers_) wait_for_complete_barriers();
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
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(kernel_))) {
      if (kir::intrinsic_of(instruction) == kir::Intrinsic::BarrierArrive) {
        llvm::IRBuilder<> b(&instruction);
        arrive(b, instruction.getOperand(0), b.getInt32(0));
        instruction.eraseFromParent();
        continue;
      }
      if (is_barrier(instruction) || is_numbered_barrier(instruction) || is_grid_barrier(instruction))
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
      if (is_grid_barrier(*barrier)) {
        b.CreateStore(b.getTrue(), at_grid_);
        if (barriers_) b.CreateStore(b.getInt32(kDoesNotWait), waits_at_);
        come_to_grid(b);
      } else if (barriers_) {
        b.CreateStore(b.CreateAnd(barrier->getArgOperand(0), kBarriers - 1), waits_at_);
        b.CreateStore(barrier->getArgOperand(1), waits_for_);
        arrive(b, barrier->getArgOperand(0),
               reduces ? b.CreateOr(barrier->getArgOperand(3), kOneVoter) : b.getInt32(0));
      } else if (reduces) {
        call(b, MetalIntrinsic::AddToMeeting, {b.CreateLoad(b.getInt32Ty(), phase_), barrier->getArgOperand(3)});
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

  void arrive(llvm::IRBuilder<>& b, llvm::Value* barrier, llvm::Value* vote) {
    call(b, MetalIntrinsic::ArriveAt, {barriers_, b.CreateAnd(barrier, kBarriers - 1), vote});
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
    llvm::Value* most = barriers_ ? b.CreateLShr(sum, 16) : b.CreateLoad(b.getInt32Ty(), live_);
    if (barriers_ || has_grid_) sum = b.CreateAnd(sum, barriers_ ? kVotes : kAddedUp);
    llvm::Value* all = b.CreateZExt(b.CreateICmpEQ(sum, most), b.getInt32Ty());
    llvm::Value* any = b.CreateZExt(b.CreateICmpNE(sum, b.getInt32(0)), b.getInt32Ty());
    const auto is = [&](image::BarrierOp op) { return b.CreateICmpEQ(kind, b.getInt32(std::to_underlying(op))); };
    return b.CreateSelect(is(image::BarrierOp::Popc), sum, b.CreateSelect(is(image::BarrierOp::And), all, any));
  }

  void finish() {
    llvm::IRBuilder<> b(meet_);
    llvm::Value* phase = b.CreateLoad(b.getInt32Ty(), phase_);
    met_ = barriers_ ? call(b, MetalIntrinsic::MeetAt,
                            {phase, barriers_, b.CreateLoad(b.getInt32Ty(), waits_at_),
                             b.CreateLoad(b.getInt32Ty(), waits_for_)})
                     : call(b, MetalIntrinsic::Meet, {phase});
    b.CreateStore(b.CreateTrunc(met_, b.getInt32Ty()), sum_);
    llvm::Value* live = b.CreateAnd(b.CreateTrunc(b.CreateLShr(met_, 32), b.getInt32Ty()), kLive);
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

  /// Between the meeting and the choice, which is to come to the next meeting for those whose barrier is not complete.
  /// Where no barrier is, none will ever be.
  void wait_for_complete_barriers() {
    llvm::BasicBlock* some = llvm::BasicBlock::Create(context_, "", &kernel_);
    llvm::BasicBlock* none = llvm::BasicBlock::Create(context_, "", &kernel_);
    meet_->getTerminator()->setSuccessor(1, some);
    llvm::IRBuilder<> b(some);
    const auto bit = [&](uint64_t number) { return b.CreateTrunc(b.CreateLShr(met_, number), b.getInt1Ty()); };
    b.CreateCondBr(bit(kSomeComplete), choose_, none);
    b.SetInsertPoint(none);
    call(b, MetalIntrinsic::Fail, {b.getInt32(static_cast<uint32_t>(image::metal::Fault::Deadlock)), b.getInt64(0)});
    b.CreateRetVoid();
    auto* choice = llvm::cast<llvm::SwitchInst>(choose_->getTerminator());
    b.SetInsertPoint(choice);
    choice->setCondition(b.CreateSelect(bit(kOwnComplete), choice->getCondition(), b.getInt32(0)));
  }

  /// Between the meeting and the choice: all are at a grid-wide barrier, or those who are come to the next meeting too.
  /// And at the kernel's entry: where the last launch stopped.
  uint32_t go_on_in_next_launch(llvm::BasicBlock& entry, llvm::BasicBlock& first) {
    const auto block = [&] { return llvm::BasicBlock::Create(context_, "", &kernel_); };
    llvm::BasicBlock *keep = block(), *some = block(), *wait = block(), *take = block(), *gone = block();
    llvm::BasicBlock* choice = meet_->getTerminator()->getSuccessor(1);
    meet_->getTerminator()->setSuccessor(1, some);  // not all have left
    llvm::IRBuilder<> b(some);
    llvm::Value* at_grid = barriers_ ? b.CreateTrunc(b.CreateLShr(met_, kAtGrid), b.getInt32Ty())
                                     : b.CreateLShr(b.CreateLoad(b.getInt32Ty(), sum_), 16);
    llvm::BasicBlock* others = block();
    b.CreateCondBr(b.CreateICmpEQ(at_grid, b.CreateLoad(b.getInt32Ty(), live_)), keep, others);
    b.SetInsertPoint(others);
    b.CreateCondBr(b.CreateLoad(b.getInt1Ty(), at_grid_), wait, choice);
    b.SetInsertPoint(wait);
    come_to_grid(b);
    b.CreateBr(meet_);

    const SavedFrame frame(kernel_, {phase_, sum_, live_, at_grid_, waits_at_, waits_for_});
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
    if (barriers_) b.CreateStore(b.getInt32(kDoesNotWait), waits_at_);
    call(b, MetalIntrinsic::LeaveMeetings);
    b.CreateBr(meet_);
    return frame.bytes();
  }

  llvm::Function& kernel_;
  llvm::LLVMContext& context_;
  const bool has_grid_;
  llvm::Constant* barriers_ = nullptr;  ///< where the counts of numbered barriers lie in shared memory; null without
  llvm::CallInst* met_ = nullptr;
  llvm::BasicBlock *choose_ = nullptr, *meet_ = nullptr;
  llvm::AllocaInst *state_ = nullptr, *phase_ = nullptr, *sum_ = nullptr, *live_ = nullptr, *at_grid_ = nullptr,
                   *waits_at_ = nullptr, *waits_for_ = nullptr;
  llvm::SmallVector<llvm::BasicBlock*, 8> places_, returns_;
};

}  // namespace

llvm::CallInst* begin_barriers_of(llvm::Function& kernel) {
  for (llvm::Instruction& instruction : llvm::instructions(kernel))
    if (metal_intrinsic_of(instruction) == MetalIntrinsic::BeginBarriers)
      return llvm::cast<llvm::CallInst>(&instruction);
  return nullptr;
}

uint32_t make_meeting_loop(llvm::Function& kernel) {
  return MeetingLoop(kernel).make();
}

}  // namespace cupola::metal::build
