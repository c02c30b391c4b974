#include "backend/cpu/build/vector_next_turn.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <set>

#include "backend/cpu/build/vector_prefetch.h"
#include "backend/cpu/build/vector_steps.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using llvm::SCEV;

class NextTurn {
 public:
  NextTurn(llvm::ScalarEvolution& evolution, const llvm::Loop& loop) : evolution_(evolution), loop_(loop) {}

  void fetch_with(llvm::LoadInst& load) {
    llvm::Value* place = load.getPointerOperand();
    const SCEV* address = evolution_.getSCEV(place);
    const SCEV* step = Steps(evolution_, loop_).of(address);
    llvm::Instruction* before = loop_.getLoopPreheader()->getTerminator();
    llvm::SCEVExpander expander(evolution_, "next_turn");
    if (!step || is_near(step) || !expander.isSafeToExpandAt(step, before) || !addresses_.insert(address).second)
      return;
    llvm::Value* distance = expander.expandCodeFor(step, step->getType(), before);
    llvm::IRBuilder<> builder(&load);
    fetches.push_back(fetch_line(builder, builder.CreateGEP(builder.getInt8Ty(), place, distance)));
  }

  Fetches fetches;

 private:
  /// Where the processor goes on by itself, or the same in each turn.
  static bool is_near(const SCEV* step) {
    constexpr uint64_t kNear = 512;
    const auto* known = llvm::dyn_cast<llvm::SCEVConstant>(step);
    return known && known->getAPInt().abs().ult(kNear);
  }

  llvm::ScalarEvolution& evolution_;
  const llvm::Loop& loop_;
  std::set<const SCEV*> addresses_;
};

}  // namespace

Fetches fetch_for_next_turn(llvm::Function& function, llvm::LoopInfo& loops, llvm::DominatorTree& dominators) {
  llvm::SmallSetVector<llvm::Loop*, 4> meeting;
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (llvm::Loop* loop = loops.getLoopFor(instruction.getParent());
        loop && kir::intrinsic_of(instruction) == kir::Intrinsic::Barrier && loop->getLoopPreheader())
      meeting.insert(loop);
  Fetches fetches;
  if (meeting.empty()) return fetches;
  const llvm::TargetLibraryInfoImpl known(function.getParent()->getTargetTriple());
  llvm::TargetLibraryInfo library(known);
  llvm::AssumptionCache assumptions(function);
  llvm::ScalarEvolution evolution(function, library, assumptions, dominators, loops);
  for (const llvm::Loop* loop : meeting) {
    NextTurn next(evolution, *loop);
    for (llvm::BasicBlock* block : loop->blocks())
      for (llvm::Instruction& instruction : *block)
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction); load && loops.getLoopFor(block) == loop)
          next.fetch_with(*load);
    fetches.append(next.fetches);
  }
  return fetches;
}

}  // namespace cupola::cpu::build
