#include "backend/cpu/build/addresses_of_both_ways.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>

#include <utility>

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

/// Of a store's address, values that are compared with those of another; of each way, stores.
constexpr unsigned kMostValues = 16, kMostStores = 16;

/// The two ways of a branch, each a block that is entered there only, to where they meet; null: they are others.
struct Diamond {
  explicit Diamond(BasicBlock& from) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(from.getTerminator());
    if (!branch || !branch->isConditional()) return;
    BasicBlock *first = branch->getSuccessor(0), *second = branch->getSuccessor(1);
    if (first == second || first->getSinglePredecessor() != &from || second->getSinglePredecessor() != &from) return;
    if (!first->getSingleSuccessor() || first->getSingleSuccessor() != second->getSingleSuccessor()) return;
    one = first;
    other = second;
  }
  BasicBlock *one = nullptr, *other = nullptr;
};

class SameAddress {
 public:
  explicit SameAddress(const Diamond& diamond) : diamond_(diamond) {}

  /// Whether both compute the same value from the same values.
  bool are_same(Value* one, Value* other) {
    if (one == other) return true;
    auto *first = llvm::dyn_cast<Instruction>(one), *second = llvm::dyn_cast<Instruction>(other);
    if (!first || !second || first->getParent() != diamond_.one || second->getParent() != diamond_.other) return false;
    if (llvm::is_contained(pairs_, std::pair(first, second))) return true;
    if (compared_++ == kMostValues || !first->isSameOperationAs(second) || !is_arithmetic(*first)) return false;
    for (const auto& [a, b] : llvm::zip(first->operands(), second->operands()))
      if (!are_same(a, b)) return false;
    pairs_.push_back({first, second});  // behind those that they need
    return true;
  }

  /// Computes it before the branch, for both.
  void compute_before(Instruction& branch) {
    for (const auto& [first, second] : pairs_) {
      if (first->getParent() != diamond_.one) continue;  // it is another one's too
      first->andIRFlags(second);
      first->dropUnknownNonDebugMetadata();
      first->applyMergedLocation(first->getDebugLoc(), second->getDebugLoc());
      first->moveBefore(branch.getIterator());
      second->replaceAllUsesWith(first);
    }
  }

 private:
  static bool is_arithmetic(const Instruction& instruction) {
    return llvm::isa<llvm::CastInst, llvm::BinaryOperator, llvm::GetElementPtrInst>(instruction) &&
           llvm::isSafeToSpeculativelyExecute(&instruction);
  }

  const Diamond& diamond_;
  unsigned compared_ = 0;
  llvm::SmallVector<std::pair<Instruction*, Instruction*>, 8> pairs_;
};

/// The last ones, which sink first.
llvm::SmallVector<llvm::StoreInst*, 4> stores_of(BasicBlock& block) {
  llvm::SmallVector<llvm::StoreInst*, 4> stores;
  for (Instruction& instruction : llvm::reverse(block))
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction); store && stores.size() < kMostStores)
      stores.push_back(store);
  return stores;
}

bool has_line(const Instruction& instruction) {
  const llvm::DebugLoc& at = instruction.getDebugLoc();
  return at && at.getLine() != 0;
}

}  // namespace

llvm::PreservedAnalyses AddressesOfBothWays::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  for (BasicBlock& block : function) {
    const Diamond diamond(block);
    if (!diamond.one) continue;
    for (llvm::StoreInst* store : stores_of(*diamond.one))
      for (llvm::StoreInst* other : stores_of(*diamond.other)) {
        if (!store->isSimple() || !other->isSimple() ||
            store->getValueOperand()->getType() != other->getValueOperand()->getType())
          continue;
        SameAddress address(diamond);
        if (!address.are_same(store->getPointerOperand(), other->getPointerOperand())) continue;
        address.compute_before(*block.getTerminator());
      }
  }
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

llvm::PreservedAnalyses LinesOfBothWays::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  for (BasicBlock& block : function) {
    const Diamond diamond(block);
    if (!diamond.one || !has_line(*block.getTerminator())) continue;
    for (Instruction& instruction : *diamond.one->getSingleSuccessor())
      if (llvm::isa<llvm::StoreInst>(instruction) && !has_line(instruction))
        instruction.setDebugLoc(block.getTerminator()->getDebugLoc());
  }
  return llvm::PreservedAnalyses::all();
}

}  // namespace cupola::cpu::build
