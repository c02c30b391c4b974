#include "backend/cpu/build/row_turns.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <optional>
#include <utility>

#include "backend/cpu/build/common_turns.h"
#include "backend/cpu/build/counted_loop.h"
#include "backend/cpu/build/kernel_barriers.h"
#include "backend/cpu/build/shared_atomics.h"
#include "backend/cpu/build/vector_shape.h"
#include "backend/cpu/build/vector_steps.h"
#include "backend/cpu/build/vector_turns.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;
using llvm::SCEV;
using llvm::Value;

/// What is known where the turns of a loop are rows of the block.
struct RowLoop {
  const llvm::Loop* loop;
  CountedLoop counted;        ///< its end is the same for the block
  Value* first;               ///< the first thread's counter when the loop begins
  llvm::Instruction* thread;  ///< threadIdx.x
  uint64_t between, step;     ///< of the counter: from thread to thread, and in a turn
};

bool is_used_within(const llvm::Instruction& instruction, const llvm::Loop& loop) {
  return llvm::all_of(instruction.users(), [&](const llvm::User* user) {
    return loop.contains(llvm::cast<llvm::Instruction>(user)->getParent());
  });
}

/// Whether the variable goes steps of one size, and is not asked for afterwards: a thread without a turn may count as
/// well then.
bool counts(const llvm::PHINode& phi, const Value* next, const llvm::Loop& loop) {
  const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(next);
  return sum && sum->getOpcode() == llvm::Instruction::Add && sum->getOperand(0) == &phi &&
         loop.isLoopInvariant(sum->getOperand(1)) && is_used_within(phi, loop);
}

class RowLoops {
 public:
  RowLoops(llvm::Function& function, llvm::ScalarEvolution& evolution, const llvm::PostDominatorTree& post_dominators,
           const KernelBarriers& barriers, uint32_t threads)
      : function_(function),
        evolution_(evolution),
        post_dominators_(post_dominators),
        barriers_(barriers),
        threads_(threads) {}

  std::optional<RowLoop> row_loop(const llvm::Loop& loop) {
    if (!updates(loop).empty() || !only_computes(loop) || !goes_through_rows(loop)) return std::nullopt;
    const auto known = counted_loop(loop, evolution_, post_dominators_, barriers_);
    return known ? of_rows(loop, *known) : std::nullopt;
  }

  /// Of a loop that updates shared memory, and keeps nothing from turn to turn, the turns that all threads have: lanes
  /// do it one after the other, and that each is asked whether it has a turn would be much beside it.
  std::optional<CommonTurns> turns_with_updates(const llvm::Loop& loop) {
    const llvm::SmallVector<const llvm::Instruction*, 4> all = updates(loop);
    if (all.empty() || !llvm::all_of(all, [](const llvm::Instruction* each) { return is_shared_atomic(*each); }) ||
        !llvm::hasSingleElement(loop.getHeader()->phis()) || !goes_through_rows(loop))
      return std::nullopt;
    const auto known = counted_loop(loop, evolution_, post_dominators_, barriers_);
    const auto row = known && has_counter_of_turns(*known) ? of_rows(loop, *known) : std::nullopt;
    if (!row) return std::nullopt;
    llvm::Type* wide = llvm::Type::getInt64Ty(function_.getContext());
    return CommonTurns{.loop = &loop,
                       .counted = *known,
                       .begin = row->first,
                       .places = {{row->thread, row->between}},
                       .between = row->between,
                       .step = llvm::ConstantInt::get(wide, row->step),
                       .most_step = row->step,
                       .at_a_time = 1};
  }

 private:
  static llvm::SmallVector<const llvm::Instruction*, 4> updates(const llvm::Loop& loop) {
    llvm::SmallVector<const llvm::Instruction*, 4> all;
    for (const BasicBlock* block : loop.blocks())
      for (const llvm::Instruction& each : *block)
        if (each.isAtomic()) all.push_back(&each);
    return all;
  }

  /// What a thread without a turn may do as well: nobody asks for it afterwards.
  static bool only_computes(const llvm::Loop& loop) {
    return llvm::all_of(*loop.getHeader(), [&](const llvm::Instruction& each) {
      return each.isTerminator() || llvm::isa<llvm::PHINode>(each) ||
             (llvm::isSafeToSpeculativelyExecute(&each) && is_used_within(each, loop));
    });
  }

  /// Whether a turn reads or writes a row of the block, and the next one the row behind it.
  bool goes_through_rows(const llvm::Loop& loop) const {
    for (BasicBlock* block : loop.blocks())
      for (llvm::Instruction& instruction : *block) {
        Value* address = llvm::getLoadStorePointerOperand(&instruction);
        if (!address) continue;
        const SCEV* place = evolution_.getSCEV(address);
        const auto turn = positive_constant(Steps(evolution_, loop).of(place));
        const auto stride = positive_constant(Steps(evolution_, kir::Intrinsic::TidX).of(place));
        if (turn && stride && *stride <= kMostStride && *turn == *stride * threads_ && *turn < kFar) return true;
      }
    return false;
  }

  std::optional<RowLoop> of_rows(const llvm::Loop& loop, const CountedLoop& known) {
    const auto& [goes_on, phi, turns, end] = known;
    if (!is_of_block(evolution_.getSCEV(end)) ||
        !counts(*phi, phi->getIncomingValueForBlock(loop.getLoopLatch()), loop))
      return std::nullopt;
    const SCEV* first = of_first_thread(turns->getStart());
    const auto step = positive_constant(turns->getStepRecurrence(evolution_));
    const auto [thread, between] = of_thread(evolution_.getMinusSCEV(turns->getStart(), first));
    if (!is_of_block(first) || !step || !thread || *step != between * threads_ ||
        *step >= uint64_t{1} << (phi->getType()->getIntegerBitWidth() - 3))
      return std::nullopt;
    llvm::Instruction* before = loop.getLoopPreheader()->getTerminator();
    llvm::SCEVExpander expander(evolution_, "first");
    if (!expander.isSafeToExpandAt(first, before)) return std::nullopt;
    return RowLoop{&loop, known, expander.expandCodeFor(first, phi->getType(), before), thread, between, *step};
  }

  /// The same for all threads of the block.
  static bool is_of_block(const SCEV* value) {
    return !llvm::SCEVExprContains(value, [](const SCEV* part) {
      const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
      if (!unknown) return llvm::isa<llvm::SCEVAddRecExpr>(part);  // each thread has turns of its own
      if (llvm::isa<llvm::Argument, llvm::Constant>(unknown->getValue())) return false;
      using enum kir::Intrinsic;
      const auto known = register_of(unknown);
      return !known || !is_place_or_size(*known) || known == TidX || known == TidY || known == TidZ;
    });
  }

  const SCEV* of_first_thread(const SCEV* value) const {
    llvm::ValueToSCEVMapTy zero;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (kir::intrinsic_of(instruction) == kir::Intrinsic::TidX)
        zero[&instruction] = evolution_.getZero(instruction.getType());
    return llvm::SCEVParameterRewriter::rewrite(value, evolution_, zero);
  }

  /// threadIdx.x and what it is multiplied by; null: the value is something else.
  static std::pair<llvm::Instruction*, uint64_t> of_thread(const SCEV* value) {
    std::optional<uint64_t> factor = 1;
    if (const auto* product = llvm::dyn_cast<llvm::SCEVMulExpr>(value); product && product->getNumOperands() == 2) {
      factor = positive_constant(product->getOperand(0));
      value = product->getOperand(1);
    }
    if (const auto* wide = llvm::dyn_cast<llvm::SCEVCastExpr>(value);
        wide && llvm::isa<llvm::SCEVZeroExtendExpr, llvm::SCEVSignExtendExpr>(wide))
      value = wide->getOperand();  // it is small
    if (!factor || register_of(value) != kir::Intrinsic::TidX) return {nullptr, 0};
    return {llvm::cast<llvm::Instruction>(llvm::cast<llvm::SCEVUnknown>(value)->getValue()), *factor};
  }

  llvm::Function& function_;
  llvm::ScalarEvolution& evolution_;
  const llvm::PostDominatorTree& post_dominators_;
  const KernelBarriers& barriers_;
  const uint32_t threads_;
};

/// A loop that is to meet.
class Meeting {
 public:
  explicit Meeting(const RowLoop& row)
      : row_(row),
        header_(row.loop->getHeader()),
        before_(llvm::SplitEdge(row.loop->getLoopPreheader(), header_)),
        latch_(row.loop->getLoopLatch()),
        exit_(split_exit(*row.loop)),
        blocks_(row.loop->getBlocks()) {}

  void write() {
    keep_for_wrapping();
    let_first_thread_count();
    join();
  }

 private:
  /// A block of its own behind the loop.
  static BasicBlock* split_exit(const llvm::Loop& loop) {
    llvm::FoldSingleEntryPHINodes(loop.getExitBlock());
    return llvm::SplitEdge(loop.getHeader(), loop.getExitBlock());
  }

  /// The loop as it is, for counters that wrap before the last thread's has come to the end.
  void keep_for_wrapping() {
    llvm::ValueToValueMapTy map;
    llvm::SmallVector<BasicBlock*, 8> copies;
    for (BasicBlock* block : blocks_) {
      copies.push_back(llvm::CloneBasicBlock(block, map, ".wraps", block->getParent()));
      map[block] = copies.back();
    }
    llvm::remapInstructionsInBlocks(copies, map);
    auto* copy = llvm::cast<BasicBlock>(map[header_]);
    BasicBlock* before_copy = BasicBlock::Create(header_->getContext(), "wraps", header_->getParent(), copy);
    llvm::IRBuilder<>(before_copy).CreateBr(copy);
    copy->replacePhiUsesWith(before_, before_copy);
    llvm::Instruction* branch = before_->getSinglePredecessor()->getTerminator();
    llvm::IRBuilder<> builder(branch);
    builder.CreateCondBr(never_wraps(builder), before_, before_copy);
    branch->eraseFromParent();
    const auto copied = [&](Value* value) -> Value* {
      const auto known = map.find(value);
      return known == map.end() ? value : static_cast<Value*>(known->second);
    };
    for (llvm::Instruction& made : *header_) choose_behind(made, copied(&made), copy);
  }

  /// What is asked for behind the loop is that of the loop that ran.
  void choose_behind(llvm::Instruction& made, Value* copy, BasicBlock* copied_header) {
    llvm::SmallVector<llvm::Use*, 4> behind;
    for (llvm::Use& use : made.uses()) {
      auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      if (!llvm::is_contained(blocks_, user->getParent())) behind.push_back(&use);
    }
    if (behind.empty()) return;
    llvm::IRBuilder<> builder(exit_, exit_->begin());
    llvm::PHINode* chosen = builder.CreatePHI(made.getType(), 2);
    chosen->addIncoming(&made, header_);
    chosen->addIncoming(copy, copied_header);
    for (llvm::Use* use : behind) use->set(chosen);
  }

  /// Where the first thread begins at least a turn before the greatest number, and all end at least two before it, no
  /// thread's counter wraps before all have come to the end: the last one is less than a turn ahead of the first.
  Value* never_wraps(llvm::IRBuilder<>& builder) const {
    llvm::Type* type = row_.counted.counter->getType();
    const unsigned bits = type->getIntegerBitWidth();
    const bool is_signed = llvm::CmpInst::isSigned(row_.counted.goes_on);
    const llvm::APInt greatest = is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
    const auto is_before = [&](Value* value, uint64_t turns) {
      Value* most = llvm::ConstantInt::get(type, greatest - turns * row_.step);
      return builder.CreateICmp(is_signed ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_ULE, value, most);
    };
    return builder.CreateAnd(is_before(row_.first, 1), is_before(row_.counted.end, 2));
  }

  void let_first_thread_count() {
    llvm::IRBuilder<> builder(header_, header_->begin());
    Value* step = llvm::ConstantInt::get(row_.counted.counter->getType(), row_.step);
    first_ = builder.CreatePHI(row_.counted.counter->getType(), 2, "first");
    first_->addIncoming(row_.first, before_);
    auto* branch = llvm::cast<llvm::BranchInst>(header_->getTerminator());
    const unsigned on = branch->getSuccessor(0) == exit_ ? 1 : 0;
    BasicBlock* body = branch->getSuccessor(on);
    join_ = BasicBlock::Create(builder.getContext(), "row", header_->getParent(), exit_);
    BasicBlock* turn = BasicBlock::Create(builder.getContext(), "turn", header_->getParent(), body);
    builder.SetInsertPoint(branch);
    builder.CreateCondBr(builder.CreateICmp(row_.counted.goes_on, first_, row_.counted.end), turn, exit_);
    builder.SetInsertPoint(turn);
    builder.CreateCondBr(branch->getCondition(), on == 0 ? body : join_, on == 0 ? join_ : body);
    branch->eraseFromParent();
    body->replacePhiUsesWith(header_, turn);
    builder.SetInsertPoint(join_);
    next_first_ = builder.CreateAdd(first_, step);
    first_->addIncoming(next_first_, join_);
    turn_ = turn;
  }

  /// Where threads that had a turn and those that had none meet.
  void join() {
    latch_->getTerminator()->replaceSuccessorWith(header_, join_);
    llvm::IRBuilder<> builder(join_, join_->begin());
    for (llvm::PHINode& phi : header_->phis()) {
      if (&phi == first_) continue;
      Value* next = phi.getIncomingValueForBlock(latch_);
      phi.removeIncomingValue(latch_, /*DeletePHIIfEmpty=*/false);
      phi.addIncoming(counts(phi, next, *row_.loop) ? count(phi, *next) : joined(phi, *next, builder), join_);
    }
    builder.SetInsertPoint(join_);
    meet_before(*builder.CreateBr(header_));
  }

  /// So that threads beside each other have numbers beside each other, whether they have a turn or not.
  Value* count(llvm::PHINode& phi, Value& next) const {
    llvm::IRBuilder<> builder(join_);
    return builder.CreateAdd(&phi, llvm::cast<llvm::BinaryOperator>(next).getOperand(1));
  }

  Value* joined(llvm::PHINode& phi, Value& next, llvm::IRBuilder<>& builder) const {
    llvm::PHINode* made = builder.CreatePHI(phi.getType(), 2);
    made->addIncoming(&next, latch_);
    made->addIncoming(&phi, turn_);
    return made;
  }

  const RowLoop& row_;
  BasicBlock *const header_, *const before_, *const latch_, *const exit_;
  const llvm::SmallVector<BasicBlock*, 8> blocks_;
  llvm::PHINode* first_ = nullptr;  ///< the first thread's counter
  Value* next_first_ = nullptr;
  BasicBlock *turn_ = nullptr, *join_ = nullptr;
};

/// Loads outside of loops, in order, with no meeting in between.
class Pieces {
 public:
  Pieces(llvm::Function& function, llvm::ScalarEvolution& evolution, const llvm::DominatorTree& dominators,
         const llvm::PostDominatorTree& post_dominators, const llvm::LoopInfo& loops, const KernelBarriers& barriers,
         uint32_t threads)
      : function_(function),
        evolution_(evolution),
        loops_(loops),
        dominators_(dominators),
        post_dominators_(post_dominators),
        barriers_(barriers),
        threads_(threads) {}

  /// Has the block meet before it reads a row that is not the first.
  bool part() {
    llvm::SmallVector<llvm::Instruction*, 4> places;
    llvm::SmallVector<llvm::LoadInst*, 8> rows;
    const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function_);
    for (BasicBlock* block : order) {
      if (loops_.getLoopFor(block)) continue;
      for (llvm::Instruction& instruction : *block) {
        if (kir::intrinsic_of(instruction) == kir::Intrinsic::Barrier) rows.clear();
        auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
        if (!load || !row_bytes(*load)) continue;
        llvm::Instruction* place = place_before(*load);
        if (place && barriers_.follow(*place) && llvm::any_of(rows, [&](llvm::LoadInst* other) {
              return !dominators_.dominates(place, other) && is_other_row(*other, *load);
            })) {
          places.push_back(place);
          rows.clear();
        }
        rows.push_back(load);
      }
    }
    for (llvm::Instruction* place : places) meet_before(*place);
    return !places.empty();
  }

 private:
  /// That the block's threads read beside each other; nothing: they do not.
  std::optional<uint64_t> row_bytes(llvm::LoadInst& load) const {
    const auto stride =
        positive_constant(Steps(evolution_, kir::Intrinsic::TidX).of(evolution_.getSCEV(load.getPointerOperand())));
    return stride && *stride <= kMostStride ? std::optional(*stride * threads_) : std::nullopt;
  }

  bool is_other_row(llvm::LoadInst& one, llvm::LoadInst& other) const {
    const auto place = [&](llvm::LoadInst& load) {
      return unless_it_wraps(evolution_, evolution_.getSCEV(load.getPointerOperand()));
    };
    const auto distance = evolution_.computeConstantDifference(place(other), place(one));
    return distance && !distance->isZero() && distance->abs().ult(kFar) && distance->abs().urem(*row_bytes(one)) == 0;
  }

  /// All threads come to it, once.
  bool is_for_all(const BasicBlock* block) const {
    return !loops_.getLoopFor(block) && post_dominators_.dominates(block, &function_.getEntryBlock());
  }

  /// The last such place before the load; null: there is none.
  llvm::Instruction* place_before(llvm::LoadInst& load) const {
    const llvm::DomTreeNode* node = dominators_.getNode(load.getParent());
    while (node && !is_for_all(node->getBlock())) node = node->getIDom();
    if (!node) return nullptr;
    return node->getBlock() == load.getParent() ? &load : node->getBlock()->getTerminator();
  }

  llvm::Function& function_;
  llvm::ScalarEvolution& evolution_;
  const llvm::LoopInfo& loops_;
  const llvm::DominatorTree& dominators_;
  const llvm::PostDominatorTree& post_dominators_;
  const KernelBarriers& barriers_;
  const uint32_t threads_;
};

}  // namespace

bool meet_between_rows(llvm::Function& function, const kir::CallReach& reach, const Dim3& shape) {
  if (shape.x <= kLanes || shape.y != 1 || shape.z != 1) return false;
  const llvm::PostDominatorTree post_dominators(function);
  const KernelBarriers barriers(function, post_dominators);
  if (!barriers.are_all(reach)) return false;
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  Evolution evolution(function, loops, dominators);
  const bool parts = Pieces(function, *evolution, dominators, post_dominators, loops, barriers, shape.x).part();
  RowLoops all(function, *evolution, post_dominators, barriers, shape.x);
  llvm::SmallVector<RowLoop, 4> rows;
  llvm::SmallVector<CommonTurns, 2> with_updates;
  for (const llvm::Loop* loop : short_loops(loops)) {
    if (const auto row = all.row_loop(*loop)) rows.push_back(*row);
    if (const auto turns = all.turns_with_updates(*loop)) with_updates.push_back(*turns);
  }
  for (const CommonTurns& turns : with_updates) meet_in_common_turns(turns);
  if (rows.size() == 1) Meeting(rows.front()).write();
  return parts || rows.size() == 1 || !with_updates.empty();
}

}  // namespace cupola::cpu::build
