#include "backend/cpu/build/whole_turns.h"

#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <optional>

#include "backend/cpu/build/row_questions.h"

// A turn begins with a block that asks which lanes are below the bound and still in the loop:
//
//   turn:  mask = phi [all, before], [again, on];  now = mask & (n + lane < bound);  none -> on, all -> all, else some
//   on:    again = phi [all, all], [now, some], [none, turn];  any of again -> turn, else over
//
// becomes
//
//   whole: from before and from all;  n < bound - 31 -> rows, else turn
//   rows:  what turn does, where all lanes are below -> all
//   turn:  mask = phi [all, whole], [again, on];  none -> on, else some
//
// A turn behind one that was not whole is not whole: lanes do not come back.

namespace cupola::cpu::build {
namespace {

using namespace llvm::PatternMatch;
using llvm::BasicBlock;
using llvm::Instruction;
using llvm::PHINode;
using llvm::Value;

/// A way by which all lanes come to a turn.
struct Entry {
  BasicBlock* from;
  BasicBlock* through;  ///< the end of a turn before it, which asks whether any lane goes on; null: it comes at once
};

struct Loop {
  BasicBlock* turn;
  PHINode* mask;     ///< of lanes that are in the loop
  Instruction* now;  ///< of those that are below the bound too
  Value* are_below;
  Below row;
  BasicBlock* all;
  llvm::SmallVector<Entry, 4> entries;
  llvm::SmallVector<Instruction*, 4> makes_first;  ///< in the turn, in order: what the first lane's number is made of
};

bool has_one_edge(const BasicBlock& from, const BasicBlock& to) {
  return llvm::count(llvm::successors(&from), &to) == 1;
}

bool is_all(const Value* mask) {
  return match(mask, m_AllOnes());
}

/// The end of a turn, that asks of the phi alone whether any lane goes on to the next one, and does nothing else.
bool is_end_of_turn(const BasicBlock& end, const PHINode& again, const BasicBlock& next) {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(end.getTerminator());
  if (again.getParent() != &end || !branch || !branch->isConditional()) return false;
  llvm::CmpPredicate predicate;
  Value *bits, *condition = branch->getCondition();
  return match(condition, m_OneUse(m_ICmp(predicate, m_Value(bits), m_Zero()))) &&
         llvm::CmpInst::isEquality(predicate) &&
         branch->getSuccessor(predicate == llvm::CmpInst::ICMP_EQ ? 1 : 0) == &next &&
         match(bits, m_OneUse(m_BitCast(m_Specific(&again)))) && llvm::all_of(end, [&](const Instruction& each) {
           return llvm::isa<PHINode>(each) || &each == branch || &each == condition || &each == bits;
         });
}

/// Whether a way leads there from where all lanes of a turn are that does not lead through another turn.
bool is_reached_by_all(const Loop& loop, const BasicBlock& block) {
  llvm::df_iterator_default_set<const BasicBlock*, 32> seen;
  seen.insert(loop.turn);
  return llvm::is_contained(llvm::depth_first_ext<const BasicBlock*>(loop.all, seen), &block);
}

/// How all lanes come to the turn; false: also in ways that are not known, or in none.
bool find_entries(Loop& loop) {
  const llvm::DominatorTree dominators(*loop.turn->getParent());
  const auto enter = [&](BasicBlock* from, BasicBlock* through) {
    if (from == loop.turn ||
        llvm::is_contained(llvm::map_range(loop.entries, [](const Entry& one) { return one.from; }), from))
      return false;
    loop.entries.push_back({from, through});
    return true;
  };
  for (unsigned i = 0; i < loop.mask->getNumIncomingValues(); ++i) {
    BasicBlock* before = loop.mask->getIncomingBlock(i);
    if (!has_one_edge(*before, *loop.turn)) return false;
    if (is_all(loop.mask->getIncomingValue(i))) {
      if (!enter(before, nullptr)) return false;
      continue;
    }
    auto* again = llvm::dyn_cast<PHINode>(loop.mask->getIncomingValue(i));
    if (!again || !is_end_of_turn(*before, *again, *loop.turn) || dominators.dominates(before, loop.turn)) return false;
    for (unsigned k = 0; k < again->getNumIncomingValues(); ++k) {
      const Value* value = again->getIncomingValue(k);
      BasicBlock* from = again->getIncomingBlock(k);
      const bool is_known = is_all(value)
                                ? has_one_edge(*from, *before) && enter(from, before)
                                : match(value, m_Zero()) || (value == loop.now && !is_reached_by_all(loop, *from));
      if (!is_known) return false;
    }
  }
  return llvm::any_of(loop.entries, [](const Entry& entry) { return entry.through; });
}

/// False: it needs more than numbers.
bool find_makers(const Loop& loop, Value* value, llvm::SmallSetVector<Instruction*, 4>& makers) {
  auto* made = llvm::dyn_cast<Instruction>(value);
  if (!made || made->getParent() != loop.turn || llvm::isa<PHINode>(made) || makers.contains(made)) return true;
  if (made->mayReadOrWriteMemory() || made->mayHaveSideEffects() || made->isTerminator()) return false;
  for (Value* operand : made->operands())
    if (!find_makers(loop, operand, makers)) return false;
  makers.insert(made);
  return true;
}

std::optional<Loop> loop_at(BasicBlock& turn) {
  const auto asked = question(*turn.getTerminator());
  auto* now = asked ? llvm::dyn_cast<Instruction>(asked->mask) : nullptr;
  if (!now || now->getParent() != &turn || asked->all == &turn || !has_one_edge(turn, *asked->all)) return std::nullopt;
  Value *one, *other;
  if (!match(now, m_And(m_Value(one), m_Value(other)))) return std::nullopt;
  if (!llvm::isa<PHINode>(one)) std::swap(one, other);
  auto* mask = llvm::dyn_cast<PHINode>(one);
  const auto row = below(other);
  if (!mask || mask->getParent() != &turn || !row) return std::nullopt;
  const auto* bound = llvm::dyn_cast<Instruction>(row->bound);
  if (bound && bound->getParent() == &turn) return std::nullopt;
  Loop loop{&turn, mask, now, other, *row, asked->all, {}, {}};
  llvm::SmallSetVector<Instruction*, 4> makers;
  if (!find_entries(loop) || !find_makers(loop, row->first, makers)) return std::nullopt;
  loop.makes_first.assign(makers.begin(), makers.end());
  return loop;
}

class WholeTurns {
 public:
  explicit WholeTurns(llvm::Function& function) : function_(function) {}

  void run() {
    llvm::SmallVector<BasicBlock*, 32> blocks;
    for (BasicBlock& block : function_) blocks.push_back(&block);
    for (BasicBlock* block : blocks)
      if (auto loop = loop_at(*block)) split(*loop);
  }

 private:
  void split(const Loop& loop) {
    BasicBlock* whole = BasicBlock::Create(function_.getContext(), "whole", &function_, loop.turn);
    BasicBlock* rows = BasicBlock::Create(function_.getContext(), "rows", &function_, loop.turn);
    llvm::ValueToValueMapTy values;  // of the turn, where it is whole
    llvm::IRBuilder<> builder(whole);
    enter_by(loop, builder, values);
    for (Instruction* each : loop.makes_first) copy(*each, builder, values);
    Value* first = values.lookup(loop.row.first);
    builder.CreateCondBr(Limits(function_).is_whole(builder, loop.row, first ? first : loop.row.first), rows, loop.turn,
                         llvm::MDBuilder(function_.getContext()).createLikelyBranchWeights());
    values[loop.now] = values[loop.are_below] = llvm::Constant::getAllOnesValue(loop.now->getType());
    builder.SetInsertPoint(rows);
    for (Instruction& each : *loop.turn)
      if (!llvm::isa<PHINode>(each) && !each.isTerminator() && values.count(&each) == 0) copy(each, builder, values);
    builder.CreateBr(loop.all);
    lead(loop, whole, rows, values);
    for (Instruction& each : *loop.turn)
      if (const auto value = values.find(&each); value != values.end())
        use_both(each, value->second, llvm::isa<PHINode>(each) ? whole : rows);
    remove_unused(*rows);
    remove_unused(*loop.turn);
  }

  /// The phis of `whole`.
  static void enter_by(const Loop& loop, llvm::IRBuilder<>& builder, llvm::ValueToValueMapTy& values) {
    for (PHINode& phi : loop.turn->phis()) {
      if (&phi == loop.mask) {
        values[&phi] = llvm::Constant::getAllOnesValue(phi.getType());
        continue;
      }
      PHINode* made = builder.CreatePHI(phi.getType(), static_cast<unsigned>(loop.entries.size()));
      for (const Entry& entry : loop.entries) {
        Value* value = phi.getIncomingValueForBlock(entry.through ? entry.through : entry.from);
        auto* at_end = llvm::dyn_cast<PHINode>(value);
        if (entry.through && at_end && at_end->getParent() == entry.through)
          value = at_end->getIncomingValueForBlock(entry.from);
        made->addIncoming(value, entry.from);
      }
      values[&phi] = made;
    }
  }

  static void copy(Instruction& instruction, llvm::IRBuilder<>& builder, llvm::ValueToValueMapTy& values) {
    Instruction* made = instruction.clone();
    builder.Insert(made);
    llvm::RemapInstruction(made, values, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
    values[&instruction] = made;
  }

  /// The edges.
  static void lead(const Loop& loop, BasicBlock* whole, BasicBlock* rows, const llvm::ValueToValueMapTy& values) {
    for (PHINode& phi : loop.all->phis()) {
      Value* value = phi.getIncomingValueForBlock(loop.turn);
      Value* made = values.lookup(value);
      phi.removeIncomingValue(loop.turn, /*DeletePHIIfEmpty=*/false);
      phi.addIncoming(made ? made : value, rows);
    }
    leave_out(*loop.turn, *loop.all);
    for (const Entry& entry : loop.entries) {
      BasicBlock* to = entry.through ? entry.through : loop.turn;
      for (PHINode& phi : to->phis()) phi.removeIncomingValue(entry.from, /*DeletePHIIfEmpty=*/false);
      entry.from->getTerminator()->replaceSuccessorWith(to, whole);
    }
    for (PHINode& phi : loop.turn->phis()) phi.addIncoming(values.lookup(&phi), whole);
  }

  /// Takes the way of all lanes out of the question.
  static void leave_out(BasicBlock& turn, const BasicBlock& all) {
    if (auto* choice = llvm::dyn_cast<llvm::SwitchInst>(turn.getTerminator())) {
      for (auto one = choice->case_begin(); one != choice->case_end(); ++one)
        if (one->getCaseSuccessor() == &all) {
          choice->removeCase(one);
          return;
        }
      return;
    }
    auto* branch = llvm::cast<llvm::BranchInst>(turn.getTerminator());
    llvm::IRBuilder<>(branch).CreateBr(branch->getSuccessor(branch->getSuccessor(0) == &all ? 1 : 0));
    branch->eraseFromParent();
  }

  /// Where a value of the turn is used behind it, it is what `made` is where the turn was whole.
  static void use_both(Instruction& value, Value* made, BasicBlock* made_in) {
    llvm::SmallVector<llvm::Use*, 8> uses;
    for (llvm::Use& use : value.uses()) {
      auto* user = llvm::cast<Instruction>(use.getUser());
      const auto* phi = llvm::dyn_cast<PHINode>(user);
      if ((phi ? phi->getIncomingBlock(use) : user->getParent()) != value.getParent()) uses.push_back(&use);
    }
    if (uses.empty()) return;
    if (auto* instruction = llvm::dyn_cast<Instruction>(made)) made_in = instruction->getParent();
    llvm::SSAUpdater both;
    both.Initialize(value.getType(), value.getName());
    both.AddAvailableValue(value.getParent(), &value);
    both.AddAvailableValue(made_in, made);
    for (llvm::Use* use : uses) both.RewriteUse(*use);
  }

  static void remove_unused(BasicBlock& block) {
    for (Instruction& each : llvm::make_early_inc_range(llvm::reverse(block)))
      if (llvm::isInstructionTriviallyDead(&each)) each.eraseFromParent();
  }

  llvm::Function& function_;
};

}  // namespace

void ask_for_whole_turns(llvm::Function& function) {
  WholeTurns(function).run();
}

}  // namespace cupola::cpu::build
