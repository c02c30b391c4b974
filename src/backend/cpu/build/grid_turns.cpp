#include "backend/cpu/build/grid_turns.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <bit>
#include <limits>
#include <optional>

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
  llvm::CmpInst::Predicate goes_on;  ///< of the counter and the end
  llvm::PHINode* counter;
  Value* end;                                        ///< the same for a row of the grid
  const SCEV* begin;                                 ///< likewise
  llvm::Instruction *thread_id, *block_id, *blocks;  ///< threadIdx.x, blockIdx.x, gridDim.x
  uint64_t thread, block;                            ///< block: thread for each of its threads
  uint64_t most_blocks;                              ///< with more of them the sums may wrap
  uint32_t turns;                                    ///< that are to be taken together
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

  llvm::SCEVExpander& expander() { return expander_; }

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
    const auto& [goes_on, phi, moves, end] = known;
    if (!(phi->getType()->isIntegerTy(32) || phi->getType()->isIntegerTy(64)) || !is_of_grid(evolution_.getSCEV(end)))
      return std::nullopt;
    return begun(GridLoop{.loop = &loop,
                          .goes_on = goes_on,
                          .counter = phi,
                          .end = end,
                          .thread_id = thread_,
                          .block_id = block_,
                          .blocks = blocks_,
                          .turns = turns},
                 moves->getStart(), moves->getStepRecurrence(evolution_));
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

/// Writes the turns that all threads of the grid have before the loop.
class Batches {
 public:
  Batches(const GridLoop& grid, llvm::SCEVExpander& expander)
      : grid_(grid),
        expander_(expander),
        header_(grid.loop->getHeader()),
        latch_(grid.loop->getLoopLatch()),
        before_(grid.loop->getLoopPreheader()),
        rest_(llvm::SplitEdge(before_, header_)),
        blocks_(grid.loop->getBlocks()),
        builder_(before_->getTerminator()),
        is_signed_(llvm::CmpInst::isSigned(grid.goes_on)) {}

  void write() {
    llvm::Function& function = *header_->getParent();
    Value* begin = wide(*expander_.expandCodeFor(grid_.begin, grid_.counter->getType(), before_->getTerminator()));
    step_ = builder_.CreateMul(wide(*grid_.blocks), builder_.getInt64(grid_.block));
    Value* batches = number(*begin);
    first_ = of_thread(*begin);
    start_ = grid_.counter->getIncomingValueForBlock(rest_);
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
    for (uint32_t turn = 0; turn < grid_.turns; ++turn) write_turn(end);
    builder_.CreateBr(end);

    builder_.SetInsertPoint(end);
    left->addIncoming(builder_.CreateSub(left, builder_.getInt64(1)), end);
    distance_->addIncoming(builder_.CreateAdd(distance_, length(grid_.turns)), end);
    for (const auto& [phi, kept] : kept_) kept->addIncoming(now_[phi], end);
    meet_before(*builder_.CreateBr(batch));
  }

 private:
  /// As a number of 64 bits.
  Value* wide(Value& number) {
    return is_signed_ ? builder_.CreateSExt(&number, builder_.getInt64Ty())
                      : builder_.CreateZExt(&number, builder_.getInt64Ty());
  }

  /// Of batches that all threads have. Turn t is all threads', from 0 on, where begin + (t + 1) * step - thread, the
  /// last one's counter, is before the end.
  Value* number(Value& begin) {
    Value* end = wide(*grid_.end);
    // What lies between them is less than 2^64 then. From 2^63 on there seems to be no room.
    Value* is_exact = builder_.CreateICmp(is_signed_ ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_ULE, &begin, end);
    Value* most_step = builder_.getInt64(grid_.most_blocks * grid_.block);
    is_exact = builder_.CreateAnd(is_exact, builder_.CreateICmpULE(step_, most_step));
    const bool with_end = grid_.goes_on == llvm::CmpInst::ICMP_SLE || grid_.goes_on == llvm::CmpInst::ICMP_ULE;
    Value* room =
        builder_.CreateAdd(builder_.CreateSub(end, &begin), builder_.getInt64(grid_.thread - (with_end ? 0 : 1)));
    is_exact = builder_.CreateAnd(is_exact, builder_.CreateICmpSGT(room, builder_.getInt64(0)));
    Value* batches = builder_.CreateUDiv(room, length(grid_.turns));
    return builder_.CreateSelect(is_exact, batches, builder_.getInt64(0));
  }

  /// So many turns further on.
  Value* length(uint32_t count) { return builder_.CreateMul(step_, builder_.getInt64(count)); }

  /// The thread's counter in the first turn.
  Value* of_thread(Value& begin) {
    Value* sum = &begin;
    for (const auto& [known, factor] : {std::pair(grid_.block_id, grid_.block), {grid_.thread_id, grid_.thread}}) {
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
    if (&phi == grid_.counter) return;
    llvm::PHINode* kept = builder_.CreatePHI(phi.getType(), 2);
    kept->addIncoming(phi.getIncomingValueForBlock(rest_), before_);
    now_[&phi] = kept_[&phi] = kept;
  }

  /// The loop begins with what the batches left.
  void go_on() {
    builder_.SetInsertPoint(rest_->getTerminator());
    grid_.counter->setIncomingValueForBlock(rest_, builder_.CreateAdd(start_, as_counter(distance_)));
    for (const auto& [phi, kept] : kept_) phi->setIncomingValueForBlock(rest_, kept);
  }

  Value* counter(uint32_t turn) { return builder_.CreateAdd(first_, builder_.CreateAdd(distance_, length(turn))); }
  Value* as_counter(Value* wide_counter) { return builder_.CreateTrunc(wide_counter, grid_.counter->getType()); }

  /// The turn behind what is written, without the question whether it is one.
  void write_turn(BasicBlock* end) {
    Value* wide_counter = counter(written_);
    now_[grid_.counter] = as_counter(wide_counter);
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
        grid_.loop->contains(llvm::cast<llvm::BranchInst>(header_->getTerminator())->getSuccessor(0)) ? 0 : 1;
    llvm::IRBuilder<>(branch).CreateBr(branch->getSuccessor(body));
    branch->eraseFromParent();
    latch->getTerminator()->eraseFromParent();
    builder_.SetInsertPoint(latch);
    take_wide(copies, now_[grid_.counter], wide_counter);
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

  const GridLoop& grid_;
  llvm::SCEVExpander& expander_;
  BasicBlock *const header_, *const latch_, *const before_, *const rest_;
  const llvm::SmallVector<BasicBlock*, 8> blocks_;
  llvm::IRBuilder<> builder_;
  const bool is_signed_;
  Value *step_ = nullptr, *first_ = nullptr;  ///< of the counter, of 64 bits: in a turn, and where the thread begins
  Value* start_ = nullptr;                    ///< there, as the loop has it
  llvm::PHINode* distance_ = nullptr;         ///< from there to the batch
  llvm::MapVector<llvm::PHINode*, llvm::PHINode*> kept_;
  llvm::DenseMap<const llvm::PHINode*, Value*> now_;  ///< what the loop's phis are behind what is written
  uint32_t written_ = 0;
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
  for (const GridLoop& grid : grids) Batches(grid, all.expander()).write();
  return !grids.empty();
}

}  // namespace cupola::cpu::build
