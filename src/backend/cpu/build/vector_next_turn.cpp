#include "backend/cpu/build/vector_next_turn.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "backend/cpu/build/vector_steps.h"
#include "backend/cpu/build/vector_turns.h"

namespace cupola::cpu::build {
namespace {

using llvm::SCEV;

/// Of one loop.
class NextTurn {
 public:
  NextTurn(llvm::ScalarEvolution& evolution, const llvm::Loop& loop, uint32_t turns)
      : evolution_(evolution), loop_(loop), turns_(turns), expander_(evolution, "next_turn") {}

  /// What is read in loops within is read often.
  void fetch_in(const llvm::LoopInfo& loops, Fetches& fetches) {
    for (llvm::BasicBlock* block : loop_.blocks())
      if (loops.getLoopFor(block) == &loop_)
        for (llvm::Instruction& instruction : *block)
          if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) fetch(*load, fetches);
  }

 private:
  void fetch(llvm::LoadInst& load, Fetches& fetches) {
    llvm::Value* place = load.getPointerOperand();
    const SCEV* step = Steps(evolution_, loop_).of(evolution_.getSCEV(place));
    llvm::Instruction* before = loop_.getLoopPreheader()->getTerminator();
    if (!step || is_near(step) || !expander_.isSafeToExpandAt(step, before)) return;
    llvm::IRBuilder<> builder(&load);
    llvm::Value* distance = expander_.expandCodeFor(step, builder.getInt64Ty(), before);
    distance = llvm::IRBuilder<>(before).CreateMul(distance, builder.getInt64(turns_));
    fetches.push_back(fetch_line(builder, builder.CreateGEP(builder.getInt8Ty(), place, distance), Level::Second));
  }

  llvm::ScalarEvolution& evolution_;
  const llvm::Loop& loop_;
  const uint32_t turns_;
  llvm::SCEVExpander expander_;
};

}  // namespace

Fetches fetch_next_turns(Evolution& evolution, const llvm::LoopInfo& loops, uint32_t turns) {
  Fetches fetches;
  for (const llvm::Loop* loop : loops.getLoopsInPreorder())
    if (loop->getLoopPreheader() && meets(*loop)) NextTurn(*evolution, *loop, turns).fetch_in(loops, fetches);
  return fetches;
}

}  // namespace cupola::cpu::build
