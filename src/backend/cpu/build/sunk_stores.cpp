#include "backend/cpu/build/sunk_stores.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemorySSAUpdater.h>
#include <llvm/Analysis/MustExecute.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PredIteratorCache.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace cupola::cpu::build {
namespace {

using llvm::Instruction;
using llvm::Value;

/// Bytes of a variable of the frame, the second not with them.
using Range = std::pair<uint64_t, uint64_t>;

/// What a loop does with them.
struct Slot {
  llvm::SmallSetVector<Value*, 8> addresses;
  bool stays = false;  ///< it is read, or an address of it is made in the loop
};

/// What a loop does with one variable of the frame.
class Variable {
 public:
  Variable(llvm::AllocaInst& variable, const llvm::Loop& loop) : loop_(loop), layout_(variable.getDataLayout()) {
    const std::optional<llvm::TypeSize> size = variable.getAllocationSize(layout_);
    is_known_ = size && !size->isScalable();
    if (!is_known_) return;
    size_ = size->getFixedValue();
    follow(variable, 0);
  }

  /// Slots that the loop stores to and does not read.
  llvm::SmallVector<const Slot*, 8> stored() const {
    llvm::SmallVector<const Slot*, 8> stored;
    if (!is_known_) return stored;
    for (const auto& [range, slot] : slots_)
      if (!slot.stays && is_apart(range)) stored.push_back(&slot);
    return stored;
  }

 private:
  void follow(Value& pointer, uint64_t place) {
    for (llvm::User* user : pointer.users()) {
      if (!is_known_) return;
      take(*llvm::cast<Instruction>(user), pointer, place);
    }
  }

  void take(Instruction& user, Value& pointer, uint64_t place) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&user);
    if (auto* sum = llvm::dyn_cast<llvm::GetElementPtrInst>(&user)) {
      llvm::APInt offset(layout_.getIndexSizeInBits(0), place);
      if (sum->accumulateConstantOffset(layout_, offset))
        follow(*sum, offset.getZExtValue());
      else
        is_known_ = is_outside(*sum);
    } else if (llvm::isa<llvm::LoadInst>(user) || (store && store->getValueOperand() != &pointer)) {
      if (loop_.contains(&user)) note(user, pointer, place);
    } else {
      is_known_ = user.isLifetimeStartOrEnd() && !loop_.contains(&user);
    }
  }

  /// Whether what is made of a pointer to some place is only used to read and write behind or before the loop.
  bool is_outside(const Value& pointer) const {
    return llvm::all_of(pointer.users(), [&](const llvm::User* user) {
      const auto& instruction = *llvm::cast<Instruction>(user);
      if (loop_.contains(&instruction)) return false;
      if (llvm::isa<llvm::GetElementPtrInst>(instruction)) return is_outside(instruction);
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      return llvm::isa<llvm::LoadInst>(instruction) || (store && store->getValueOperand() != &pointer);
    });
  }

  void note(Instruction& access, Value& address, uint64_t place) {
    const uint64_t bytes = layout_.getTypeStoreSize(llvm::getLoadStoreType(&access)).getFixedValue();
    if (place > size_ || bytes > size_ - place) return void(is_known_ = false);
    Slot& slot = slots_[{place, place + bytes}];
    slot.addresses.insert(&address);
    slot.stays |= access.mayReadFromMemory() || !loop_.isLoopInvariant(&address);
  }

  bool is_apart(const Range& range) const {
    return llvm::none_of(slots_, [&](const auto& other) {
      return other.first != range && other.first.first < range.second && range.first < other.first.second;
    });
  }

  const llvm::Loop& loop_;
  const llvm::DataLayout& layout_;
  bool is_known_ = true;  ///< all of it, and nobody else has its address
  uint64_t size_ = 0;
  llvm::MapVector<Range, Slot> slots_;
};

/// Whether it is left behind a turn or before one, and nowhere else. Else what a turn stored would be kept in a
/// register through most of another one, which may cost more than the store.
bool is_left_between_turns(const llvm::Loop& loop) {
  const llvm::BasicBlock* exiting = loop.getExitingBlock();
  return exiting && (exiting == loop.getHeader() || exiting == loop.getLoopLatch());
}

/// Moves stores behind one loop.
class Sinking {
 public:
  Sinking(llvm::Loop& loop, llvm::LoopStandardAnalysisResults& known)
      : loop_(loop), known_(known), memory_(known.MSSA), remarks_(loop.getHeader()->getParent()) {
    safety_.computeLoopSafetyInfo(&loop);
    loop.getUniqueExitBlocks(exits_);
    for (llvm::BasicBlock* exit : exits_) {
      places_.push_back(exit->getFirstInsertionPt());
      accesses_.push_back(nullptr);
    }
  }

  bool sink(const Slot& slot) {
    return llvm::promoteLoopAccessesToScalars(
        slot.addresses, exits_, places_, accesses_, cache_, &known_.LI, &known_.DT, &known_.AC, &known_.TLI,
        &known_.TTI, &loop_, memory_, &safety_, &remarks_, /*AllowSpeculation=*/true, /*HasReadsOutsideSet=*/false);
  }

 private:
  llvm::Loop& loop_;
  llvm::LoopStandardAnalysisResults& known_;
  llvm::MemorySSAUpdater memory_;
  llvm::OptimizationRemarkEmitter remarks_;
  llvm::ICFLoopSafetyInfo safety_;
  llvm::PredIteratorCache cache_;
  llvm::SmallVector<llvm::BasicBlock*, 2> exits_;
  llvm::SmallVector<llvm::BasicBlock::iterator, 2> places_;
  llvm::SmallVector<llvm::MemoryAccess*, 2> accesses_;
};

}  // namespace

llvm::PreservedAnalyses SinkStores::run(llvm::Loop& loop, llvm::LoopAnalysisManager&,
                                        llvm::LoopStandardAnalysisResults& known, llvm::LPMUpdater&) {
  if (!known.MSSA || !loop.isLoopSimplifyForm() || !is_left_between_turns(loop)) return llvm::PreservedAnalyses::all();
  llvm::SmallVector<llvm::AllocaInst*, 8> variables;
  for (Instruction& instruction : loop.getHeader()->getParent()->getEntryBlock())
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) variables.push_back(variable);
  Sinking sinking(loop, known);
  bool changed = false;
  for (llvm::AllocaInst* variable : variables) {
    const Variable used(*variable, loop);
    for (const Slot* slot : used.stored()) changed |= sinking.sink(*slot);
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::formLCSSARecursively(loop, known.DT, &known.LI, &known.SE);
  known.SE.forgetLoopDispositions();
  llvm::PreservedAnalyses preserved = llvm::getLoopPassPreservedAnalyses();
  preserved.preserveSet<llvm::CFGAnalyses>();
  preserved.preserve<llvm::MemorySSAAnalysis>();
  return preserved;
}

}  // namespace cupola::cpu::build
