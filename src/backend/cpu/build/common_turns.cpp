#include "backend/cpu/build/common_turns.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <cassert>

#include "backend/cpu/build/kernel_barriers.h"

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;
using llvm::Value;

class Batches {
 public:
  explicit Batches(const CommonTurns& common)
      : common_(common),
        counter_(*common.counted.counter),
        header_(common.loop->getHeader()),
        latch_(common.loop->getLoopLatch()),
        before_(common.loop->getLoopPreheader()),
        rest_(llvm::SplitEdge(before_, header_)),
        blocks_(common.loop->getBlocks()),
        builder_(before_->getTerminator()),
        is_signed_(llvm::CmpInst::isSigned(common.counted.goes_on)) {
    assert(has_counter_of_turns(common.counted));
  }

  void write() {
    llvm::Function& function = *header_->getParent();
    Value* begin = wide(*common_.begin);
    Value* batches = number(*begin);
    first_ = of_thread(*begin);
    start_ = counter_.getIncomingValueForBlock(rest_);
    const auto make_block = [&](const char* name) {
      return BasicBlock::Create(function.getContext(), name, &function, rest_);
    };
    BasicBlock *batch = make_block("batch"), *turns = make_block("turns"), *end = make_block("batch_over");
    before_->getTerminator()->replaceSuccessorWith(rest_, batch);

    builder_.SetInsertPoint(batch);
    llvm::PHINode* left = count(*batches, "left");
    distance_ = count(*builder_.getInt64(0), "distance");
    for (llvm::PHINode& phi : header_->phis()) keep(phi);
    builder_.CreateCondBr(builder_.CreateICmpNE(left, builder_.getInt64(0)), turns, rest_);
    go_on();

    builder_.SetInsertPoint(turns);
    for (uint32_t turn = 0; turn < common_.at_a_time; ++turn) write_turn(end);
    builder_.CreateBr(end);

    builder_.SetInsertPoint(end);
    left->addIncoming(builder_.CreateSub(left, builder_.getInt64(1)), end);
    distance_->addIncoming(builder_.CreateAdd(distance_, length(common_.at_a_time)), end);
    for (const auto& [phi, kept] : kept_) kept->addIncoming(now_[phi], end);
    meet_before(*builder_.CreateBr(batch));
  }

 private:
  /// As a number of 64 bits.
  Value* wide(Value& number) {
    return is_signed_ ? builder_.CreateSExt(&number, builder_.getInt64Ty())
                      : builder_.CreateZExt(&number, builder_.getInt64Ty());
  }

  /// Of batches that all threads have. Turn t is all threads', from 0 on, where begin + (t + 1) * step - between, the
  /// last one's counter, is before the end.
  Value* number(Value& begin) {
    Value* end = wide(*common_.counted.end);
    // What lies between them is less than 2^64 then. From 2^63 on there seems to be no room.
    Value* is_exact = builder_.CreateICmp(is_signed_ ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_ULE, &begin, end);
    Value* most_step = builder_.getInt64(common_.most_step);
    is_exact = builder_.CreateAnd(is_exact, builder_.CreateICmpULE(common_.step, most_step));
    const auto goes_on = common_.counted.goes_on;
    const bool with_end = goes_on == llvm::CmpInst::ICMP_SLE || goes_on == llvm::CmpInst::ICMP_ULE;
    Value* room =
        builder_.CreateAdd(builder_.CreateSub(end, &begin), builder_.getInt64(common_.between - (with_end ? 0 : 1)));
    is_exact = builder_.CreateAnd(is_exact, builder_.CreateICmpSGT(room, builder_.getInt64(0)));
    Value* batches = builder_.CreateUDiv(room, length(common_.at_a_time));
    return builder_.CreateSelect(is_exact, batches, builder_.getInt64(0));
  }

  /// So many turns further on.
  Value* length(uint32_t count) { return builder_.CreateMul(common_.step, builder_.getInt64(count)); }

  /// The thread's counter in the first turn.
  Value* of_thread(Value& begin) {
    Value* sum = &begin;
    for (const auto& [known, factor] : common_.places) {
      Value* place = builder_.CreateZExt(known, builder_.getInt64Ty());
      sum = builder_.CreateAdd(sum, builder_.CreateMul(place, builder_.getInt64(factor)));
    }
    return sum;
  }

  /// From batch to batch.
  llvm::PHINode* count(Value& first, const char* name) {
    llvm::PHINode* phi = builder_.CreatePHI(builder_.getInt64Ty(), 2, name);
    phi->addIncoming(&first, before_);
    return phi;
  }

  /// What a turn of the loop leaves to the next one, from batch to batch. The counter follows from the distance.
  void keep(llvm::PHINode& phi) {
    if (&phi == &counter_) return;
    llvm::PHINode* kept = builder_.CreatePHI(phi.getType(), 2);
    kept->addIncoming(phi.getIncomingValueForBlock(rest_), before_);
    now_[&phi] = kept_[&phi] = kept;
  }

  /// The loop begins with what the batches left.
  void go_on() {
    builder_.SetInsertPoint(rest_->getTerminator());
    counter_.setIncomingValueForBlock(rest_, builder_.CreateAdd(start_, as_counter(distance_)));
    for (const auto& [phi, kept] : kept_) phi->setIncomingValueForBlock(rest_, kept);
  }

  Value* counter(uint32_t turn) { return builder_.CreateAdd(first_, builder_.CreateAdd(distance_, length(turn))); }
  Value* as_counter(Value* wide_counter) { return builder_.CreateTrunc(wide_counter, counter_.getType()); }

  /// The turn behind what is written, without the question whether it is one.
  void write_turn(BasicBlock* end) {
    Value* wide_counter = counter(written_);
    now_[&counter_] = as_counter(wide_counter);
    llvm::ValueToValueMapTy map;
    llvm::SmallVector<BasicBlock*, 8> copies;
    for (BasicBlock* block : blocks_) {
      copies.push_back(llvm::CloneBasicBlock(block, map, ".turn", block->getParent()));
      map[block] = copies.back();
      copies.back()->moveBefore(end);
    }
    for (llvm::PHINode& phi : header_->phis()) {
      llvm::cast<llvm::PHINode>(map[&phi])->eraseFromParent();
      map[&phi] = now_[&phi];
    }
    llvm::remapInstructionsInBlocks(copies, map);
    auto *header = llvm::cast<BasicBlock>(map[header_]), *latch = llvm::cast<BasicBlock>(map[latch_]);
    builder_.CreateBr(header);
    auto* branch = llvm::cast<llvm::BranchInst>(header->getTerminator());
    const unsigned body =
        common_.loop->contains(llvm::cast<llvm::BranchInst>(header_->getTerminator())->getSuccessor(0)) ? 0 : 1;
    llvm::IRBuilder<>(branch).CreateBr(branch->getSuccessor(body));
    branch->eraseFromParent();
    latch->getTerminator()->eraseFromParent();
    builder_.SetInsertPoint(latch);
    take_wide(copies, now_[&counter_], wide_counter);
    llvm::SmallVector<std::pair<llvm::PHINode*, Value*>, 4> next;
    for (llvm::PHINode& phi : header_->phis()) {
      Value* value = phi.getIncomingValueForBlock(latch_);
      const auto known = map.find(value);
      next.push_back({&phi, known == map.end() ? value : static_cast<Value*>(known->second)});
    }
    for (const auto& [phi, value] : next) now_[phi] = value;
    ++written_;
  }

  /// What is made of the counter by extending it is known: it does not wrap.
  void take_wide(llvm::ArrayRef<BasicBlock*> copies, Value* narrow, Value* wide_counter) {
    if (narrow == wide_counter) return;
    const auto kind = is_signed_ ? llvm::Instruction::SExt : llvm::Instruction::ZExt;
    for (llvm::User* user : llvm::make_early_inc_range(narrow->users())) {
      auto* extended = llvm::dyn_cast<llvm::CastInst>(user);
      if (!extended || !llvm::is_contained(copies, extended->getParent()) || !extended->getType()->isIntegerTy(64) ||
          (extended->getOpcode() != kind && !(llvm::isa<llvm::ZExtInst>(extended) && extended->hasNonNeg())))
        continue;
      extended->replaceAllUsesWith(wide_counter);
      extended->eraseFromParent();
    }
  }

  const CommonTurns& common_;
  llvm::PHINode& counter_;
  BasicBlock *const header_, *const latch_, *const before_, *const rest_;
  const llvm::SmallVector<BasicBlock*, 8> blocks_;
  llvm::IRBuilder<> builder_;
  const bool is_signed_;
  Value *first_ = nullptr, *start_ = nullptr;  ///< the thread's counter when it begins: of 64 bits, as the loop has it
  llvm::PHINode* distance_ = nullptr;          ///< from there to the batch
  llvm::MapVector<llvm::PHINode*, llvm::PHINode*> kept_;
  llvm::DenseMap<const llvm::PHINode*, Value*> now_;  ///< what the loop's phis are behind what is written
  uint32_t written_ = 0;
};

}  // namespace

bool has_counter_of_turns(const CountedLoop& loop) {
  return loop.counter->getType()->isIntegerTy(32) || loop.counter->getType()->isIntegerTy(64);
}

void meet_in_common_turns(const CommonTurns& turns) {
  Batches(turns).write();
}

}  // namespace cupola::cpu::build
