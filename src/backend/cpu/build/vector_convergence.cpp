#include "backend/cpu/build/vector_convergence.h"

#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include <vector>

#include "backend/cpu/build/polling.h"
#include "backend/cpu/build/vector_departures.h"
#include "backend/cpu/build/vector_meetings.h"
#include "backend/cpu/build/vector_shapes.h"
#include "image/thread_operations.h"
#include "kir/branch_ways.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using kir::Intrinsic;

struct Meeting {
  const llvm::CallInst* call;
  Intrinsic operation;

  const llvm::BasicBlock* block() const { return call->getParent(); }
  bool is_of_block() const {
    return operation == Intrinsic::Barrier || operation == Intrinsic::BarrierArrive ||
           operation == Intrinsic::BarrierReduce;
  }
  const llvm::Value* members() const { return call->getArgOperand(0); }
};

class Question {
 public:
  Question(llvm::Function& function, const Shapes& shapes, const llvm::LoopInfo& loops,
           const llvm::PostDominatorTree& post_dominators, const Departures& departures)
      : shapes_(shapes), loops_(loops), post_dominators_(post_dominators), departures_(departures) {
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (const auto operation = meeting_of(instruction))
        meetings_.push_back({llvm::cast<llvm::CallInst>(&instruction), *operation});
  }

  std::string obstacle() const {
    for (const Meeting& meeting : meetings_)
      if (std::string why = obstacle(meeting); !why.empty()) return why;
    return {};
  }

 private:
  std::string obstacle(const Meeting& meeting) const {
    if (meeting.is_of_block())
      for (unsigned i = 0; i < 2; ++i)
        if (!shapes_.at(meeting.call->getArgOperand(i), meeting.block()).is_uniform())
          return "threads of a warp name different barriers";
    if (const std::string why = operand_obstacle(meeting); !why.empty()) return why;
    if (!shapes_.is_masked(meeting.block())) return {};
    if (meeting.operation == Intrinsic::GridSync) return "a grid-wide barrier stands under divergence";
    if (meeting.is_of_block() &&
        !llvm::PatternMatch::match(meeting.call->getArgOperand(1), llvm::PatternMatch::m_Zero()))
      return "a barrier for some of the block's threads stands under divergence";
    if (names_members(meeting.operation)) {
      if (!departures_.may_miss_members(*meeting.call)) return {};
    } else if (others_may_be_gone(meeting.block())) {
      return "threads meet while others of their warp leave the kernel";
    }
    if (is_in_nested_turns(meeting.block())) return "threads meet in nested loops that they leave one by one";
    for (const Meeting& other : meetings_)
      if (may_pair(meeting, other)) return "threads may meet at several places under divergence";
    return {};
  }

  /// What is only written for one set of members.
  std::string operand_obstacle(const Meeting& meeting) const {
    const auto is_uniform = [&](unsigned i) {
      return shapes_.at(meeting.call->getArgOperand(i), meeting.block()).is_uniform();
    };
    if (meeting.operation == Intrinsic::Match && !is_uniform(0) && !kir::does(*meeting.call, image::MatchOp::Any))
      return "groups of lanes match all";
    if (meeting.operation == Intrinsic::WarpPublish && !llvm::isa<llvm::ConstantInt>(meeting.call->getArgOperand(1)))
      return "a matrix of unknown size";
    return {};
  }

  /// Whether lanes that are not there are on a way to the return that separate_exits left as it is: barriers count them
  /// as lanes that are left until the others come there too.
  bool others_may_be_gone(const llvm::BasicBlock* block) const {
    return llvm::any_of(*block->getParent(), [&](const llvm::BasicBlock& parting) {
      if (!shapes_.diverges(&parting)) return false;
      const llvm::BasicBlock* join = kir::end_of_ways(&parting, post_dominators_);
      return join && llvm::isa<llvm::ReturnInst>(join->getTerminator()) &&
             llvm::isPotentiallyReachable(&parting, block);
    });
  }

  bool is_in_nested_turns(const llvm::BasicBlock* block) const {
    const llvm::Loop* loop = loops_.getLoopFor(block);
    return loop && loop->getParentLoop() && shapes_.is_masked(loop->getHeader()) &&
           shapes_.is_masked(loop->getParentLoop()->getHeader());
  }

  bool may_pair(const Meeting& meeting, const Meeting& other) const {
    if (meeting.call == other.call || meeting.is_of_block() != other.is_of_block()) return false;
    if (!meeting.is_of_block() && meeting.operation != other.operation) return false;
    if (!shapes_.is_masked(other.block()) || departures_.companions().run_together(meeting.block(), other.block()))
      return false;
    if (!names_members(meeting.operation)) return true;
    const auto *mine = llvm::dyn_cast<llvm::ConstantInt>(meeting.members()),
               *others = llvm::dyn_cast<llvm::ConstantInt>(other.members());
    return !mine || !others || mine->getValue() == others->getValue();
  }

  const Shapes& shapes_;
  const llvm::LoopInfo& loops_;
  const llvm::PostDominatorTree& post_dominators_;
  const Departures& departures_;
  std::vector<Meeting> meetings_;
};

}  // namespace

std::string convergence_obstacle(llvm::Function& function, const Shapes& shapes, const llvm::LoopInfo& loops,
                                 const llvm::PostDominatorTree& post_dominators, const Departures& departures,
                                 const kir::CallReach& reach) {
  for (const llvm::BasicBlock* header : waiting_loops(function, reach))
    if (shapes.is_masked(header)) return "threads of a warp wait for each other in a loop";
  return Question(function, shapes, loops, post_dominators, departures).obstacle();
}

}  // namespace cupola::cpu::build
