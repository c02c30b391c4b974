#include "backend/cpu/build/vector_widening.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IntrinsicInst.h>

#include <memory>
#include <tuple>
#include <vector>

#include "backend/cpu/build/mask_registers.h"
#include "backend/cpu/build/polling.h"
#include "backend/cpu/build/vector_departures.h"
#include "backend/cpu/build/vector_groups.h"
#include "backend/cpu/build/vector_instruction.h"
#include "backend/cpu/build/vector_lanes.h"
#include "kir/intrinsics.h"

// Blocks that all lanes run keep their branches. The others stand in one row: each runs under the mask of the lanes
// that came to it, and is left out when there are none; a loop that lanes leave one by one turns until none is left.

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

class Widening {
 public:
  Widening(llvm::Function& from, llvm::Function& to, const image::BlocksOfCode& blocks, const Shapes& shapes,
           const Groups& groups, const Departures& departures, const llvm::LoopInfo& loops, const Exits& exits,
           const llvm::TargetMachine& machine)
      : lanes_(from, to, blocks, shapes, exits, machine),
        builder_(lanes_.builder),
        shapes_(shapes),
        groups_(groups),
        departures_(departures),
        loops_(loops),
        exits_(exits),
        stores_rows_twice_(!has_mask_registers(machine)) {}

  Accesses run() {
    for (BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&lanes_.from)) order_.push_back(block);
    find_rows();
    lanes_.begin(order_);
    if (departures_.any_may_miss_members()) lanes_.keep_departed();
    for (const auto& row : rows_)
      for (BasicBlock* exit : row->exits) {
        row->left[exit] = lanes_.slot(lanes_.mask_type(), "left");
        builder_.CreateStore(lanes_.no_lanes(), row->left[exit]);
      }
    for (BasicBlock* block : order_)
      if (!shapes_.is_masked(block)) begin_of_[block] = lanes_.make_block(block->getName());
    for (BasicBlock* block : order_)
      if (!shapes_.is_masked(block)) emit_open(*block);
    for (const auto& row : rows_) emit_row(*row);
    lanes_.end(begin_of_[&lanes_.from.getEntryBlock()]);
    return std::move(lanes_.accesses);
  }

 private:
  /// Blocks that not all lanes run, connected with each other or two ways of a branch.
  struct Row {
    llvm::SmallPtrSet<const BasicBlock*, 16> members;
    llvm::SmallVector<BasicBlock*, 16> blocks;  ///< in reverse post-order
    llvm::SmallSetVector<BasicBlock*, 2> exits;
    llvm::DenseMap<const BasicBlock*, llvm::AllocaInst*> left;  ///< lanes that go on at an exit
    bool may_leave = false;                                     ///< the kernel
    BasicBlock* begin = nullptr;
  };

  void find_rows() {
    for (BasicBlock* block : order_) {
      if (!shapes_.is_masked(block) || row_of_.contains(block)) continue;
      auto row = std::make_unique<Row>();
      llvm::SmallVector<BasicBlock*, 16> open{block};
      while (!open.empty()) {
        BasicBlock* next = open.pop_back_val();
        if (!shapes_.is_masked(next) || !row->members.insert(next).second) continue;
        row_of_[next] = row.get();
        open.append(llvm::succ_begin(next), llvm::succ_end(next));
        for (BasicBlock* other : llvm::predecessors(next)) {
          open.push_back(other);
          if (shapes_.diverges(other)) open.append(llvm::succ_begin(other), llvm::succ_end(other));
        }
      }
      row->begin = lanes_.make_block("row");
      for (BasicBlock* member : order_) {
        if (!row->members.contains(member)) continue;
        row->blocks.push_back(member);
        row->may_leave |= exits_.contains(member);
        for (BasicBlock* other : llvm::successors(member))
          if (!shapes_.is_masked(other)) row->exits.insert(other);
      }
      rows_.push_back(std::move(row));
    }
  }

  // ---- within a block ----

  void emit_body(BasicBlock& block) {
    lanes_.current = &block;
    lanes_.keep_phis(block);
    for (Instruction& instruction : block) {
      if (instruction.isTerminator() || llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction)) continue;
      builder_.SetCurrentDebugLocation(instruction.getDebugLoc());
      widen_instruction(lanes_, groups_, departures_, instruction);
    }
  }

  /// Code for a block and how it ends. Where it reads rows of memory, once for all lanes and once for some of them: to
  /// read under a mask takes some processors twice as long, and to write ten times.
  template <typename Code>
  void emit_ways(BasicBlock& block, Code code) {
    lanes_.current = &block;
    Value* mask = lanes_.mask(&block);
    if (!mask || !is_dear_under_masks(block)) return code();
    BasicBlock *all = lanes_.make_block("all"), *some = lanes_.make_block("some");
    builder_.CreateCondBr(builder_.CreateICmpEQ(lanes_.bits(mask), builder_.getInt32(~0u)), all, some);
    lanes_.enter(all);
    lanes_.all_run = true;
    code();
    lanes_.all_run = false;
    lanes_.enter(some);
    code();
  }

  bool is_dear_under_masks(const BasicBlock& block) const {
    constexpr size_t kMost = 200;
    const auto is_in_row = [&](const Instruction& instruction) {
      const Value* address = llvm::getLoadStorePointerOperand(&instruction);
      if (!address || (llvm::isa<llvm::StoreInst>(instruction) && !stores_rows_twice_)) return false;
      if (groups_.of(&instruction)) return true;
      return is_row(shapes_.at(address, &block), llvm::getLoadStoreType(&instruction), lanes_.layout);
    };
    const auto meets = [](const Instruction& one) { return kir::effect_of(one) == kir::Effect::kSync; };
    return block.size() <= kMost && llvm::any_of(block, is_in_row) && llvm::none_of(block, meets);
  }

  // ---- from block to block ----

  /// The values that the phis of `to` have when lanes come from `from`; `mask` null: all of them.
  void pass(BasicBlock& from, BasicBlock& to, Value* mask) {
    llvm::SmallVector<std::tuple<llvm::AllocaInst*, Value*>, 8> stores;  // phis change together
    const auto keep = [&](llvm::AllocaInst* place, Value* value) {
      if (mask) {  // an edge that no lane takes changes nothing
        Value* before = builder_.CreateLoad(value->getType(), place);
        value = place->getAllocatedType()->isVectorTy() ? lanes_.blend(mask, value, before)
                                                        : builder_.CreateSelect(lanes_.any(mask), value, before);
      }
      stores.push_back({place, value});
    };
    for (llvm::PHINode& phi : to.phis()) {
      Value* incoming = phi.getIncomingValueForBlock(&from);
      if (llvm::isa<llvm::UndefValue>(incoming)) continue;
      const Lanes::Slot slot = lanes_.slot_of(&phi);
      if (slot.vector) keep(slot.vector, lanes_.vector(incoming));
      if (slot.scalar) keep(slot.scalar, lanes_.scalar(incoming));
      if (!slot.bases.empty())
        for (const auto& [place, base] : llvm::zip(slot.bases, lanes_.bases(incoming))) keep(place, base);
    }
    for (const auto& [place, value] : stores) builder_.CreateStore(value, place);
    for (llvm::PHINode& phi : to.phis()) lanes_.forget(&phi);
  }

  /// Adds lanes to those that will run a block, or leave the row to it.
  void send(const Row& row, BasicBlock& to, Value* mask) {
    llvm::AllocaInst* slot = shapes_.is_masked(&to) ? lanes_.mask_slot(&to) : row.left.lookup(&to);
    builder_.CreateStore(builder_.CreateOr(builder_.CreateLoad(lanes_.mask_type(), slot), mask), slot);
  }

  static llvm::BranchInst* two_ways(BasicBlock& block) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    const bool has_two = branch && branch->isConditional() && branch->getSuccessor(0) != branch->getSuccessor(1);
    return has_two ? branch : nullptr;
  }

  /// The lanes of `mask` take their ways.
  void diverge(const Row& row, BasicBlock& block, llvm::BranchInst& branch, Value* mask) {
    // A lane that is not there may have no condition to speak of.
    Value* condition = builder_.CreateFreeze(lanes_.vector(branch.getCondition()));
    Value* against = builder_.CreateNot(condition);
    move(row, block, *branch.getSuccessor(0), mask ? builder_.CreateAnd(mask, condition) : condition);
    move(row, block, *branch.getSuccessor(1), mask ? builder_.CreateAnd(mask, against) : against);
  }

  void move(const Row& row, BasicBlock& from, BasicBlock& to, Value* mask) {
    pass(from, to, mask);
    if (departures_.is_departure(&from, &to)) lanes_.depart(mask);
    const llvm::Loop* loop = loops_.getLoopFor(&to);
    if (loop && loop->getHeader() == &to && loop->contains(&from) && shapes_.is_masked(&to))
      builder_.CreateStore(mask, again_[loop]);
    else
      send(row, to, mask);
  }

  // ---- blocks that all lanes run ----

  void emit_open(BasicBlock& block) {
    lanes_.enter(begin_of_[&block]);
    emit_ways(block, [&] { emit_open_code(block); });
  }

  void emit_open_code(BasicBlock& block) {
    emit_body(block);
    Instruction* end = block.getTerminator();
    builder_.SetCurrentDebugLocation(end->getDebugLoc());
    if (llvm::isa<llvm::ReturnInst>(end) || exits_.contains(&block)) {
      builder_.CreateRetVoid();
      return;
    }
    llvm::BranchInst* branch = two_ways(block);
    if (!branch) return go(block, *llvm::cast<llvm::BranchInst>(end)->getSuccessor(0));
    if (shapes_.diverges(&block)) {
      const Row& row = row_after(*branch);
      forget_former_ways(row, block);
      diverge(row, block, *branch, lanes_.mask());
      builder_.CreateBr(row.begin);
      return;
    }
    BasicBlock* ways[2] = {lanes_.make_block("way"), lanes_.make_block("way")};
    builder_.CreateCondBr(lanes_.scalar(branch->getCondition()), ways[0], ways[1]);
    for (unsigned i = 0; i < 2; ++i) lanes_.within(ways[i], [&] { go(block, *branch->getSuccessor(i)); });
  }

  /// Each lane that enters a row comes to what all meet in once, by one way: what lanes brought there when the row ran
  /// before is not needed, unless on the way.
  void forget_former_ways(const Row& row, const BasicBlock& from) {
    if (row.exits.size() != 1) return;
    const auto is_on_the_way = [&](const llvm::User* user) {
      const BasicBlock* block = llvm::cast<Instruction>(user)->getParent();
      return block == &from || row.members.contains(block) || (block == row.exits[0] && llvm::isa<llvm::PHINode>(user));
    };
    for (llvm::PHINode& phi : row.exits[0]->phis()) {
      llvm::AllocaInst* place = lanes_.slot_of(&phi).vector;
      if (place && llvm::none_of(phi.users(), is_on_the_way))
        builder_.CreateStore(llvm::Constant::getNullValue(place->getAllocatedType()), place);
    }
  }

  const Row& row_after(llvm::BranchInst& branch) {
    for (BasicBlock* next : branch.successors())
      if (const Row* row = row_of_.lookup(next)) return *row;
    return *row_of_.lookup(branch.getParent());
  }

  /// All lanes go to `to`.
  void go(BasicBlock& from, BasicBlock& to) {
    pass(from, to, nullptr);
    const Row* row = row_of_.lookup(&to);
    if (row) builder_.CreateStore(lanes_.full_mask(&from), lanes_.mask_slot(&to));
    builder_.CreateBr(row ? row->begin : begin_of_[&to]);
  }

  // ---- rows ----

  void emit_row(const Row& row) {
    lanes_.enter(row.begin);
    emit_blocks(row, row.blocks, nullptr);
    if (row.may_leave) {
      BasicBlock *over = lanes_.make_block("over"), *on = lanes_.make_block("on");
      builder_.CreateCondBr(lanes_.any(lanes_.live()), on, over);
      builder_.SetInsertPoint(over);
      builder_.CreateRetVoid();
      builder_.SetInsertPoint(on);
    }
    // All lanes that are left have come to the same block, in which they go on together.
    for (BasicBlock* exit : row.exits) {
      llvm::AllocaInst* slot = row.left.lookup(exit);
      Value* mask = builder_.CreateLoad(lanes_.mask_type(), slot);
      builder_.CreateStore(lanes_.no_lanes(), slot);
      if (exit == row.exits.back()) {
        builder_.CreateBr(begin_of_[exit]);
        break;
      }
      BasicBlock* other = lanes_.make_block("exit");
      builder_.CreateCondBr(lanes_.any(mask), begin_of_[exit], other);
      builder_.SetInsertPoint(other);
    }
    if (row.exits.empty()) builder_.CreateUnreachable();
  }

  /// Blocks of a row, or of a loop in it, one after the other.
  void emit_blocks(const Row& row, llvm::ArrayRef<BasicBlock*> blocks, const llvm::Loop* within_loop) {
    llvm::SmallPtrSet<const llvm::Loop*, 4> done;
    for (BasicBlock* block : blocks) {
      const llvm::Loop* loop = loops_.getLoopFor(block);
      while (loop && loop != within_loop && loop->getParentLoop() != within_loop && is_whole(loop->getParentLoop()))
        loop = loop->getParentLoop();
      if (!loop || loop == within_loop || !is_whole(loop))
        emit_masked(row, *block);
      else if (done.insert(loop).second)
        emit_loop(row, *loop, blocks);
    }
  }

  /// A loop whose header is masked is within the row with all of its blocks.
  bool is_whole(const llvm::Loop* loop) const { return loop && shapes_.is_masked(loop->getHeader()); }

  void emit_loop(const Row& row, const llvm::Loop& loop, llvm::ArrayRef<BasicBlock*> blocks) {
    llvm::SmallVector<BasicBlock*, 16> inner;
    for (BasicBlock* block : blocks)
      if (loop.contains(block)) inner.push_back(block);
    llvm::AllocaInst* header = lanes_.mask_slot(loop.getHeader());
    llvm::AllocaInst*& again = again_[&loop];
    if (!again) again = lanes_.slot(lanes_.mask_type(), "again");
    llvm::AllocaInst* const next = again;
    BasicBlock *turn = lanes_.make_block("turn"), *over = lanes_.make_block("over");
    builder_.CreateCondBr(lanes_.any(builder_.CreateLoad(lanes_.mask_type(), header)), turn, over);
    lanes_.enter(turn);
    builder_.CreateStore(lanes_.no_lanes(), next);
    emit_blocks(row, inner, &loop);
    Value* mask = builder_.CreateLoad(lanes_.mask_type(), next);
    builder_.CreateStore(mask, header);
    // Loops that wait, and that lanes leave one by one, do not run in step.
    mark_as_not_waiting(*builder_.CreateCondBr(lanes_.any(mask), turn, over));
    lanes_.enter(over);
  }

  /// A block of a row: runs if any lane came to it, and sends its lanes on. One that is little work and harmless
  /// without lanes runs always: cheaper than a branch, and what follows need not ask which way it came.
  void emit_masked(const Row& row, BasicBlock& block) {
    if (is_cheap(block)) return emit_lanes(row, block);
    BasicBlock *run = lanes_.make_block(block.getName()), *on = lanes_.make_block("on");
    builder_.CreateCondBr(lanes_.any(lanes_.mask(&block)), run, on);
    lanes_.enter(run);
    emit_ways(block, [&] {
      emit_lanes(row, block);
      builder_.CreateBr(on);
    });
    lanes_.enter(on);
    builder_.CreateStore(lanes_.no_lanes(), lanes_.mask_slot(&block));  // as a constant, if it was left out too
  }

  void emit_lanes(const Row& row, BasicBlock& block) {
    emit_body(block);
    Instruction* end = block.getTerminator();
    builder_.SetCurrentDebugLocation(end->getDebugLoc());
    Value* mask = lanes_.full_mask(&block);
    // The next time round it is run by those who come then.
    builder_.CreateStore(lanes_.no_lanes(), lanes_.mask_slot(&block));
    if (exits_.contains(&block))
      lanes_.leave(mask);
    else if (llvm::BranchInst* branch = two_ways(block))
      diverge(row, block, *branch, mask);
    else
      move(row, block, *llvm::cast<llvm::BranchInst>(end)->getSuccessor(0), mask);
  }

  bool is_cheap(BasicBlock& block) const {
    constexpr size_t kMost = 12;
    return block.size() <= kMost && llvm::all_of(block, [](const Instruction& instruction) {
             if (instruction.mayReadOrWriteMemory() || instruction.isIntDivRem()) return false;
             const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
             return !call || call->getIntrinsicID() == llvm::Intrinsic::fma ||
                    call->getIntrinsicID() == llvm::Intrinsic::fabs;
           });
  }

  Lanes lanes_;
  llvm::IRBuilder<>& builder_;
  const Shapes& shapes_;
  const Groups& groups_;
  const Departures& departures_;
  const llvm::LoopInfo& loops_;
  const Exits& exits_;
  const bool stores_rows_twice_;
  llvm::SmallVector<BasicBlock*, 32> order_;
  llvm::DenseMap<const BasicBlock*, BasicBlock*> begin_of_;
  llvm::DenseMap<const llvm::Loop*, llvm::AllocaInst*> again_;  ///< lanes that go round once more
  llvm::DenseMap<const BasicBlock*, Row*> row_of_;
  std::vector<std::unique_ptr<Row>> rows_;
};

}  // namespace

Accesses widen(llvm::Function& from, llvm::Function& to, const image::BlocksOfCode& blocks, const Shapes& shapes,
               const Groups& groups, const Departures& departures, const llvm::LoopInfo& loops, const Exits& exits,
               const llvm::TargetMachine& machine) {
  return Widening(from, to, blocks, shapes, groups, departures, loops, exits, machine).run();
}

}  // namespace cupola::cpu::build
