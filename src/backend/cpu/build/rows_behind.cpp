#include "backend/cpu/build/rows_behind.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_prefetch.h"
#include "backend/cpu/build/vector_steps.h"

namespace cupola::cpu::build {
namespace {

using llvm::SCEV;

/// Measured on rows of 128 bytes: with half as much a third of the gain, at twice as much there is no more.
constexpr uint64_t kAhead = 2048;
/// A thread's row: longer ones processors notice. Threads that share a row have a line each.
constexpr unsigned kLinesOfOne = 2, kLinesOfSome = 1;
/// From turn to turn, in bytes: all that go through a row together read it.
constexpr uint64_t kMostStep = 4096;

/// It is read from memory, not made of what the thread knows, as where its block's shared memory is.
bool is_read(const SCEV* value) {
  return llvm::SCEVExprContains(value, [](const SCEV* part) {
    const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
    const auto* load = unknown ? llvm::dyn_cast<llvm::LoadInst>(unknown->getValue()) : nullptr;
    return load && !constant_field(*load);
  });
}

/// What a value of the loop is in its first turn.
class FirstTurn : public llvm::SCEVRewriteVisitor<FirstTurn> {
 public:
  FirstTurn(llvm::ScalarEvolution& evolution, const llvm::Loop& loop) : SCEVRewriteVisitor(evolution), loop_(loop) {}

  const SCEV* visitAddRecExpr(const llvm::SCEVAddRecExpr* turns) {
    return turns->getLoop() == &loop_ ? turns->getStart() : turns;
  }

 private:
  const llvm::Loop& loop_;
};

/// Where the thread begins in the row that the loop goes through with this load, in steps of at most so many bytes;
/// null: it does not.
const SCEV* begin_in_row(llvm::LoadInst& load, const llvm::Loop& loop, uint64_t most_step,
                         llvm::ScalarEvolution& evolution) {
  const SCEV* place = evolution.getSCEV(load.getPointerOperand());
  const auto* step = llvm::dyn_cast_or_null<llvm::SCEVConstant>(Steps(evolution, loop).of(place));
  if (!step || !step->getAPInt().isStrictlyPositive() || step->getAPInt().ugt(most_step)) return nullptr;
  const SCEV* begin = FirstTurn(evolution, loop).visit(place);
  return is_read(begin) && evolution.isLoopInvariant(begin, &loop) ? begin : nullptr;
}

/// Of code for one thread, or of such as threads beside each other go through together.
enum class Threads { One, Some };

void fetch_in(const llvm::Loop& loop, Threads threads, llvm::ScalarEvolution& evolution, Fetches& fetches) {
  llvm::BasicBlock* before = loop.getLoopPreheader();
  if (!before) return;
  llvm::SmallSetVector<const SCEV*, 4> rows;
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& instruction : *block) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!load || load->isVolatile()) continue;
      const uint64_t bytes = load->getDataLayout().getTypeStoreSize(load->getType());
      if (const SCEV* row = begin_in_row(*load, loop, threads == Threads::One ? bytes : kMostStep, evolution))
        rows.insert(row);
    }
  llvm::SCEVExpander expander(evolution, "row");
  llvm::IRBuilder<> builder(before->getTerminator());
  for (const SCEV* row : rows) {
    if (!expander.isSafeToExpandAt(row, before->getTerminator())) continue;
    llvm::Value* begin = expander.expandCodeFor(row, row->getType(), before->getTerminator());
    for (unsigned line = 0; line < (threads == Threads::One ? kLinesOfOne : kLinesOfSome); ++line) {
      llvm::Value* behind = builder.CreateConstGEP1_64(builder.getInt8Ty(), begin, kAhead + line * kLine);
      fetches.push_back(fetch_line(builder, behind, Level::First));
    }
  }
}

Fetches fetch_in_all(const llvm::LoopInfo& loops, Threads threads, llvm::ScalarEvolution& evolution) {
  Fetches fetches;
  for (const llvm::Loop* loop : loops.getLoopsInPreorder())
    if (loop->isInnermost()) fetch_in(*loop, threads, evolution, fetches);
  return fetches;
}

}  // namespace

Fetches fetch_rows_behind(Evolution& evolution, const llvm::LoopInfo& loops) {
  return fetch_in_all(loops, Threads::Some, *evolution);
}

void fetch_rows_behind(llvm::Function& code) {
  llvm::DominatorTree dominators(code);
  llvm::LoopInfo loops(dominators);
  Evolution evolution(code, loops, dominators);
  fetch_in_all(loops, Threads::One, *evolution);
}

}  // namespace cupola::cpu::build
