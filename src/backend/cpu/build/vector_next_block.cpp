#include "backend/cpu/build/vector_next_block.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
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
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using llvm::SCEV;
using llvm::Value;

/// From block to block, in bytes. What is nearer lies where the processor goes on by itself; of more, which blocks may
/// all read, the second cache would lose the beginning before it is needed.
constexpr uint64_t kNearest = 4096, kFarthest = 128 << 10;
/// The same where each thread of a block that meets reads once, several pieces as wide as the block maybe.
constexpr uint64_t kNearestOfPieces = 512;
/// Up to that distance the block after the next one is fetched for: a short block is over before the next one's memory
/// has come.
constexpr uint64_t kShort = 8192;
/// From turn to turn: a warp that goes on by less reads the same lines again.
constexpr uint64_t kLeastStep = 128;

class NextBlock {
 public:
  NextBlock(llvm::ScalarEvolution& evolution, bool in_order) : evolution_(evolution), in_order_(in_order) {}

  /// What is written too: a store that waits for its line keeps those behind it waiting.
  void fetch_in(const llvm::Loop& loop) {
    for (llvm::BasicBlock* block : loop.blocks())
      for (llvm::Instruction& instruction : *block)
        if (Value* address = llvm::getLoadStorePointerOperand(&instruction)) fetch_with(instruction, address, loop);
  }

  /// What is read outside of loops.
  void fetch_pieces(llvm::Function& function, const llvm::LoopInfo& loops) {
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : block)
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction); load && !loops.getLoopFor(&block))
          fetch_piece(*load);
  }

  Fetches fetches;

 private:
  void fetch_with(llvm::Instruction& access, Value* place, const llvm::Loop& loop) {
    const SCEV* address = evolution_.getSCEV(place);
    const SCEV* turn = Steps(evolution_, loop).of(address);
    if (!turn || !is_near(turn)) return;
    if (const auto* known = llvm::dyn_cast<llvm::SCEVConstant>(turn); known && known->getAPInt().abs().ult(kLeastStep))
      return;
    fetch(access, place, {evolution_.getPointerBase(address), loop.getLoopPreheader()->getTerminator(), kNearest});
  }

  void fetch_piece(llvm::LoadInst& load) {
    Value* place = load.getPointerOperand();
    fetch(load, place, {evolution_.getSCEV(place), &load, kNearestOfPieces, /*next_only=*/in_order_});
  }

  struct How {
    const SCEV* once;           ///< what is fetched once for each step
    llvm::Instruction* before;  ///< where the distance is computed
    uint64_t nearest;           ///< the least distance, in bytes
    bool next_only = false;     ///< no block after the next one
  };
  void fetch(llvm::Instruction& access, Value* place, const How& how) {
    const SCEV* step = Steps(evolution_, kir::Intrinsic::CtaidX).of(evolution_.getSCEV(place));
    llvm::SCEVExpander expander(evolution_, "next_block");
    if (!step || is_never_near_by(step, how.nearest) || !expander.isSafeToExpandAt(step, how.before)) return;
    if (!fetched_.insert({how.once, step}).second) return;
    llvm::IRBuilder<> builder(how.before);
    Value* distance = expander.expandCodeFor(step, builder.getInt64Ty(), how.before);
    llvm::ConstantInt *one = builder.getInt32(1), *none = builder.getInt32(0);
    Value* is_short = how.next_only ? builder.getFalse() : builder.CreateICmpULE(distance, builder.getInt64(kShort));
    Value* passed = builder.CreateSelect(is_short, one, none);
    Value* ahead = builder.CreateShl(distance, builder.CreateZExt(passed, distance->getType()));
    distance = builder.CreateSelect(is_near_by(builder, distance, how.nearest, builder.CreateAdd(passed, one)), ahead,
                                    builder.getInt64(0));
    builder.SetInsertPoint(&access);
    fetches.push_back(fetch_line(builder, builder.CreateGEP(builder.getInt8Ty(), place, distance), Level::Second));
  }

  static bool is_never_near_by(const SCEV* distance, uint64_t nearest) {
    const auto* known = llvm::dyn_cast<llvm::SCEVConstant>(distance);
    return known && (known->getAPInt().ult(nearest) || known->getAPInt().ugt(kFarthest));
  }

  /// Whether the block that is so many further on is run by this call, and rows of blocks lie where the cache can have
  /// them in time.
  static Value* is_near_by(llvm::IRBuilder<>& builder, Value* distance, uint64_t nearest, Value* further) {
    Value* blocks = load_field(builder, context_of(*builder.GetInsertBlock()->getParent()),
                               offsetof(image::cpu::ThreadContext, blocks), builder.getInt32Ty(), /*constant=*/true);
    Value* beyond = builder.CreateSub(distance, builder.getInt64(nearest));
    return builder.CreateAnd(builder.CreateICmpUGT(blocks, further),
                             builder.CreateICmpULE(beyond, builder.getInt64(kFarthest - nearest)));
  }

  llvm::ScalarEvolution& evolution_;
  const bool in_order_;
  std::set<std::pair<const SCEV*, const SCEV*>> fetched_;  ///< rows by where they begin, pieces, and their steps
};

}  // namespace

Fetches fetch_for_next_block(llvm::Function& function, Evolution& evolution, llvm::LoopInfo& loops, bool in_order) {
  NextBlock next(*evolution, in_order);
  for (const llvm::Loop* loop : short_loops(loops)) next.fetch_in(*loop);
  if (meets(function)) next.fetch_pieces(function, loops);
  return std::move(next.fetches);
}

}  // namespace cupola::cpu::build
