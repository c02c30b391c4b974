#include "backend/cpu/build/vector_next_block.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <set>
#include <utility>

#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_prefetch.h"
#include "backend/cpu/build/vector_shapes.h"
#include "backend/cpu/build/vector_steps.h"
#include "backend/cpu/build/vector_turns.h"
#include "image/cpu_abi.h"

namespace cupola::cpu::build {
namespace {

using llvm::SCEV;
using llvm::Value;

/// From block to block, in bytes. What is nearer lies where the processor goes on by itself; of more, which blocks may
/// all read, the second cache would lose the beginning before it is needed.
constexpr uint64_t kNearest = 4096, kFarthest = 128 << 10;
/// From turn to turn: a warp that goes on by less reads the same lines again.
constexpr uint64_t kLeastStep = 128;

class NextBlock {
 public:
  explicit NextBlock(llvm::ScalarEvolution& evolution) : evolution_(evolution) {}

  /// What is written too: a store that waits for its line keeps those behind it waiting.
  void fetch_in(const llvm::Loop& loop) {
    for (llvm::BasicBlock* block : loop.blocks())
      for (llvm::Instruction& instruction : *block)
        if (Value* address = llvm::getLoadStorePointerOperand(&instruction)) fetch_with(instruction, address, loop);
  }

  Fetches fetches;

 private:
  void fetch_with(llvm::Instruction& access, Value* place, const llvm::Loop& loop) {
    const SCEV* address = evolution_.getSCEV(place);
    const SCEV* turn = Steps(evolution_, loop).of(address);
    if (!turn || !is_near(turn)) return;
    if (const auto* known = llvm::dyn_cast<llvm::SCEVConstant>(turn); known && known->getAPInt().abs().ult(kLeastStep))
      return;
    const SCEV* step = Steps(evolution_).of(address);
    llvm::Instruction* before = loop.getLoopPreheader()->getTerminator();
    llvm::SCEVExpander expander(evolution_, "next_block");
    if (!step || step->isZero() || !expander.isSafeToExpandAt(step, before)) return;
    if (!rows_.insert({evolution_.getPointerBase(address), step}).second) return;
    llvm::IRBuilder<> builder(before);
    Value* distance = expander.expandCodeFor(step, builder.getInt64Ty(), before);
    distance = builder.CreateSelect(is_near_by(builder, distance), distance, builder.getInt64(0));
    builder.SetInsertPoint(&access);
    fetches.push_back(fetch_line(builder, builder.CreateGEP(builder.getInt8Ty(), place, distance)));
  }

  /// Whether the next block is run by this call, and its row lies where the cache can have it in time.
  static Value* is_near_by(llvm::IRBuilder<>& builder, Value* distance) {
    Value* blocks = load_field(builder, context_of(*builder.GetInsertBlock()->getParent()),
                               offsetof(image::cpu::ThreadContext, blocks), builder.getInt32Ty(), /*constant=*/false);
    Value* beyond = builder.CreateSub(distance, builder.getInt64(kNearest));
    return builder.CreateAnd(builder.CreateICmpUGT(blocks, builder.getInt32(1)),
                             builder.CreateICmpULE(beyond, builder.getInt64(kFarthest - kNearest)));
  }

  llvm::ScalarEvolution& evolution_;
  std::set<std::pair<const SCEV*, const SCEV*>> rows_;  ///< that are fetched: where they begin, and from block to block
};

}  // namespace

Fetches fetch_for_next_block(llvm::Function& function, llvm::LoopInfo& loops, llvm::DominatorTree& dominators) {
  const llvm::TargetLibraryInfoImpl known(function.getParent()->getTargetTriple());
  llvm::TargetLibraryInfo library(known);
  llvm::AssumptionCache assumptions(function);
  llvm::ScalarEvolution evolution(function, library, assumptions, dominators, loops);
  NextBlock next(evolution);
  for (const llvm::Loop* loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && loop->getLoopPreheader() && loop->getLoopLatch() && may_wait_for_memory(*loop))
      next.fetch_in(*loop);
  return std::move(next.fetches);
}

}  // namespace cupola::cpu::build
