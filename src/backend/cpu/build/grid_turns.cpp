#include "backend/cpu/build/grid_turns.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <bit>
#include <limits>
#include <optional>

#include "backend/cpu/build/common_turns.h"
#include "backend/cpu/build/counted_loop.h"
#include "backend/cpu/build/kernel_barriers.h"
#include "backend/cpu/build/vector_shape.h"
#include "backend/cpu/build/vector_steps.h"
#include "backend/cpu/build/vector_turns.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;
using llvm::SCEV;
using llvm::Value;

/// Of the turns that are written out.
constexpr size_t kMostInstructions = 160;
/// So many for what is done lane after lane.
constexpr size_t kInstructionsOfUpdate = 16;

/// Where thread t of block b of a grid of g blocks counts i = begin + block * b + thread * t, then on by block * g: in
/// each turn the grid's threads have what lies behind each other.
struct GridLoop {
  const llvm::Loop* loop;
  CountedLoop counted;     ///< its end is the same for a row of the grid
  const SCEV* begin;       ///< likewise
  uint64_t thread, block;  ///< block: thread for each of its threads
  uint64_t most_blocks;    ///< with more of them the sums may wrap
  uint32_t turns;          ///< that are to be taken together
};

/// A call in the function that asks for the register; null: there is none.
llvm::Instruction* find(llvm::Function& function, kir::Intrinsic wanted) {
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (kir::intrinsic_of(instruction) == wanted) return &instruction;
  return nullptr;
}

/// The same for all threads of a row of the grid.
bool is_of_grid(const SCEV* value) {
  return !llvm::SCEVExprContains(value, [](const SCEV* part) {
    const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
    if (!unknown) return llvm::isa<llvm::SCEVAddRecExpr>(part);  // each thread has turns of its own
    if (llvm::isa<llvm::Argument, llvm::Constant>(unknown->getValue())) return false;
    using enum kir::Intrinsic;
    const auto known = register_of(unknown);
    return !known || !is_place_or_size(*known) || known == TidX || known == TidY || known == TidZ || known == CtaidX;
  });
}

size_t instructions_of(const llvm::Loop& loop) {
  size_t count = 0;
  for (const BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& each : *block) count += each.isAtomic() ? kInstructionsOfUpdate : 1;
  return count;
}

class GridLoops {
 public:
  GridLoops(llvm::Function& function, llvm::ScalarEvolution& evolution, const llvm::PostDominatorTree& post_dominators,
            const KernelBarriers& barriers, uint32_t threads, uint32_t rows_at_a_time)
      : evolution_(evolution),
        post_dominators_(post_dominators),
        barriers_(barriers),
        threads_(threads),
        rows_at_a_time_(rows_at_a_time),
        thread_(find(function, kir::Intrinsic::TidX)),
        block_(find(function, kir::Intrinsic::CtaidX)),
        blocks_(find(function, kir::Intrinsic::NctaidX)),
        expander_(evolution, "begin") {}

  /// Before the loop.
  CommonTurns turns_of(const GridLoop& grid) {
    llvm::Instruction* place = grid.loop->getLoopPreheader()->getTerminator();
    Value* begin = expander_.expandCodeFor(grid.begin, grid.counted.counter->getType(), place);
    llvm::IRBuilder<> builder(place);
    Value* step = builder.CreateMul(builder.CreateZExt(blocks_, builder.getInt64Ty()), builder.getInt64(grid.block));
    return {.loop = grid.loop,
            .counted = grid.counted,
            .begin = begin,
            .places = {{block_, grid.block}, {thread_, grid.thread}},
            .between = grid.thread,
            .step = step,
            .most_step = grid.most_blocks * grid.block,
            .at_a_time = grid.turns};
  }

  /// Whether a turn may be far from the one before.
  bool goes_far(const llvm::Loop& loop) const {
    return any_access(loop, [&](llvm::Instruction&, const SCEV* place) { return is_far(loop, place); });
  }

  /// What is known of a loop that may meet; nothing: it may not.
  std::optional<GridLoop> grid_loop(const llvm::Loop& loop) {
    const auto known = counted_loop(loop, evolution_, post_dominators_, barriers_);
    if (!known || !thread_ || !block_ || !blocks_) return std::nullopt;
    const size_t rows = rows_read(loop);
    if (rows == 0) return std::nullopt;
    uint32_t turns = std::bit_floor(rows_at_a_time_ / static_cast<uint32_t>(rows));
    while (turns > 1 && turns * instructions_of(loop) > kMostInstructions) turns /= 2;
    return turns > 1 ? of_grid(loop, *known, turns) : std::nullopt;
  }

 private:
  template <typename Ask>
  bool any_access(const llvm::Loop& loop, Ask ask) const {
    for (BasicBlock* block : loop.blocks())
      for (llvm::Instruction& instruction : *block)
        if (Value* address = llvm::getLoadStorePointerOperand(&instruction);
            address && ask(instruction, evolution_.getSCEV(address)))
          return true;
    return false;
  }

  bool is_far(const llvm::Loop& loop, const SCEV* place) const {
    const SCEV* step = Steps(evolution_, loop).of(place);
    return step && !is_near(step);
  }

  /// Of threads beside each other, far from turn to turn, each with lines of its own.
  size_t rows_read(const llvm::Loop& loop) const {
    llvm::SmallVector<const SCEV*, 4> rows;
    any_access(loop, [&](llvm::Instruction& instruction, const SCEV* place) {
      const auto stride = positive_constant(Steps(evolution_, kir::Intrinsic::TidX).of(place));
      const auto is_near_it = [&](const SCEV* row) {
        const auto distance = evolution_.computeConstantDifference(place, row);
        return distance && distance->abs().ult(kNear);
      };
      if (llvm::isa<llvm::LoadInst>(instruction) && stride && *stride <= kMostStride && is_far(loop, place) &&
          llvm::none_of(rows, is_near_it))
        rows.push_back(place);
      return false;
    });
    return rows.size();
  }

  std::optional<GridLoop> of_grid(const llvm::Loop& loop, const CountedLoop& known, uint32_t turns) {
    if (!has_counter_of_turns(known) || !is_of_grid(evolution_.getSCEV(known.end))) return std::nullopt;
    return begun(GridLoop{.loop = &loop, .counted = known, .turns = turns}, known.turns->getStart(),
                 known.turns->getStepRecurrence(evolution_));
  }

  std::optional<GridLoop> begun(GridLoop grid, const SCEV* start, const SCEV* step) {
    const SCEV* first = unless_it_wraps(evolution_, start);
    const auto thread = positive_constant(Steps(evolution_, kir::Intrinsic::TidX).of(first)),
               block = positive_constant(Steps(evolution_, kir::Intrinsic::CtaidX).of(first));
    if (!thread || !block || *block != *thread * threads_) return std::nullopt;
    llvm::ValueToSCEVMapTy none;
    for (llvm::Instruction* known : {thread_, block_}) none[known] = evolution_.getZero(known->getType());
    const SCEV* begin = llvm::SCEVParameterRewriter::rewrite(first, evolution_, none);
    const SCEV* sum = evolution_.getAddExpr(begin, times(*thread, thread_, start), times(*block, block_, start));
    if (!is_of_grid(begin) || first != sum || unless_it_wraps(evolution_, step) != times(*block, blocks_, start))
      return std::nullopt;
    grid.thread = *thread;
    grid.block = *block;
    grid.most_blocks = static_cast<uint64_t>(std::numeric_limits<int32_t>::max()) / *block;
    if (first != start) {  // numbers of 32 bits are extended: with what is added they must not wrap either
      const auto* known = llvm::dyn_cast<llvm::SCEVConstant>(begin);
      if (!known || known->getAPInt().isNegative() || known->getAPInt().uge(kLargestBegin)) return std::nullopt;
      grid.most_blocks /= 2;
    }
    if (grid.most_blocks == 0 || !expander_.isSafeToExpandAt(begin, grid.loop->getLoopPreheader()->getTerminator()))
      return std::nullopt;
    grid.begin = begin;
    return grid;
  }

  /// The register, as numbers of that value's type, so many times.
  const SCEV* times(uint64_t factor, llvm::Instruction* known, const SCEV* value) const {
    const SCEV* one = evolution_.getTruncateOrSignExtend(evolution_.getSCEV(known), value->getType());
    return evolution_.getMulExpr(evolution_.getConstant(value->getType(), factor), one);
  }

  /// In bytes: rows that share their lines.
  static constexpr uint64_t kNear = 64;
  /// That a number of 32 bits may hold beside half of what it can.
  static constexpr uint64_t kLargestBegin = uint64_t{1} << 30;

  llvm::ScalarEvolution& evolution_;
  const llvm::PostDominatorTree& post_dominators_;
  const KernelBarriers& barriers_;
  const uint32_t threads_, rows_at_a_time_;
  llvm::Instruction *const thread_, *const block_, *const blocks_;
  llvm::SCEVExpander expander_;
};

}  // namespace

bool meet_in_grid_turns(llvm::Function& function, const kir::CallReach& reach, const Dim3& shape, uint32_t rows) {
  if (shape.x <= kLanes || shape.y != 1 || shape.z != 1) return false;
  const llvm::PostDominatorTree post_dominators(function);
  const KernelBarriers barriers(function, post_dominators);
  if (!barriers.are_all_of_grid(reach)) return false;
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  Evolution evolution(function, loops, dominators);
  GridLoops all(function, *evolution, post_dominators, barriers, shape.x, rows);
  llvm::SmallVector<GridLoop, 2> grids;
  for (const llvm::Loop* loop : short_loops(loops)) {
    if (!all.goes_far(*loop)) continue;
    const auto grid = all.grid_loop(*loop);
    if (!grid) return false;
    grids.push_back(*grid);
  }
  for (const GridLoop& grid : grids) meet_in_common_turns(all.turns_of(grid));
  return !grids.empty();
}

}  // namespace cupola::cpu::build
