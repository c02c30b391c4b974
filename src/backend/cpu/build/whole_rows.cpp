#include "backend/cpu/build/whole_rows.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <optional>

#include "backend/cpu/build/following_numbers.h"

namespace cupola::cpu::build {
namespace {

using namespace llvm::PatternMatch;
using llvm::BasicBlock;
using llvm::CmpInst;
using llvm::Instruction;
using llvm::Value;

/// Numbers that lie beside each other, of which all are below a bound.
struct Below {
  Value* first;
  uint64_t last;  ///< that much above the first
  Value* bound;
  bool is_signed;
};

std::optional<Below> below(Value* mask) {
  llvm::CmpPredicate predicate;
  Value *numbers, *bounds;
  if (!match(mask, m_ICmp(predicate, m_Value(numbers), m_Value(bounds))) &&
      !match(mask, m_Freeze(m_ICmp(predicate, m_Value(numbers), m_Value(bounds)))))
    return std::nullopt;
  CmpInst::Predicate which = predicate;
  if (which == CmpInst::ICMP_UGT || which == CmpInst::ICMP_SGT) {
    std::swap(numbers, bounds);
    which = CmpInst::getSwappedPredicate(which);
  }
  if (which != CmpInst::ICMP_ULT && which != CmpInst::ICMP_SLT) return std::nullopt;
  Value *first = first_of_following(numbers), *bound = llvm::getSplatValue(bounds);
  if (!first || !bound) return std::nullopt;
  const uint64_t last = llvm::cast<llvm::FixedVectorType>(numbers->getType())->getNumElements() - 1;
  return Below{first, last, bound, which == CmpInst::ICMP_SLT};
}

/// The mask that a block's end asks whether it has all lanes, and where it goes if so.
struct Question {
  Value* mask;
  BasicBlock* all;
};

std::optional<Question> question(Instruction& end) {
  Value* mask;
  if (auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&end)) {
    if (!match(choice->getCondition(), m_BitCast(m_Value(mask)))) return std::nullopt;
    for (const auto& one : choice->cases())
      if (one.getCaseValue()->isMinusOne()) return Question{mask, one.getCaseSuccessor()};
    return std::nullopt;
  }
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(&end);
  llvm::CmpPredicate predicate;
  if (!branch || branch->isUnconditional() ||
      !match(branch->getCondition(), m_ICmp(predicate, m_BitCast(m_Value(mask)), m_AllOnes())) ||
      !CmpInst::isEquality(predicate))
    return std::nullopt;
  return Question{mask, branch->getSuccessor(predicate == CmpInst::ICMP_EQ ? 0 : 1)};
}

class WholeRows {
 public:
  explicit WholeRows(llvm::Function& function) : function_(function), builder_(function.getContext()) {}

  void run() {
    llvm::SmallVector<BasicBlock*, 32> blocks;
    for (BasicBlock& block : function_) blocks.push_back(&block);
    for (BasicBlock* block : blocks) {
      const auto asked = question(*block->getTerminator());
      const auto known = asked ? below(asked->mask) : std::nullopt;
      if (known && !llvm::isa<llvm::Constant>(known->first)) ask(*block, *known, *asked->all);
    }
  }

 private:
  void ask(BasicBlock& block, const Below& known, BasicBlock& all) {
    Value* limit = limit_of(known);
    BasicBlock* each = llvm::SplitBlock(&block, block.getTerminator());
    block.getTerminator()->eraseFromParent();
    builder_.SetInsertPoint(&block);
    Value* is_whole =
        known.is_signed ? builder_.CreateICmpSLT(known.first, limit) : builder_.CreateICmpULT(known.first, limit);
    builder_.CreateCondBr(builder_.CreateFreeze(is_whole), &all, each,
                          llvm::MDBuilder(function_.getContext()).createLikelyBranchWeights());
    for (llvm::PHINode& phi : all.phis()) phi.addIncoming(phi.getIncomingValueForBlock(each), &block);
    for (Instruction& instruction : llvm::make_early_inc_range(llvm::reverse(block)))
      if (is_needed_in(instruction, *each)) instruction.moveBefore(each->begin());
  }

  /// What the first number is below where the last one is below the bound.
  Value* limit_of(const Below& known) {
    Value*& limit = limits_[{known.bound, 2 * known.last + known.is_signed}];
    if (limit) return limit;
    BasicBlock::iterator place = function_.getEntryBlock().getFirstInsertionPt();
    if (auto* made = llvm::dyn_cast<Instruction>(known.bound)) place = *made->getInsertionPointAfterDef();
    builder_.SetInsertPoint(place->getParent(), place);
    return limit =
               builder_.CreateBinaryIntrinsic(known.is_signed ? llvm::Intrinsic::ssub_sat : llvm::Intrinsic::usub_sat,
                                              known.bound, llvm::ConstantInt::get(known.bound->getType(), known.last));
  }

  /// In that block only, or where nobody comes but from it.
  static bool is_needed_in(const Instruction& instruction, const BasicBlock& each) {
    if (instruction.mayReadOrWriteMemory() || instruction.isTerminator() || llvm::isa<llvm::PHINode>(instruction) ||
        llvm::isa<llvm::AllocaInst>(instruction) || instruction.use_empty())
      return false;
    return llvm::all_of(instruction.uses(), [&](const llvm::Use& use) {
      const auto* user = llvm::cast<Instruction>(use.getUser());
      const auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
      const BasicBlock* block = phi ? phi->getIncomingBlock(use) : user->getParent();
      return block == &each || block->getSinglePredecessor() == &each;
    });
  }

  llvm::Function& function_;
  llvm::IRBuilder<> builder_;
  llvm::DenseMap<std::pair<Value*, uint64_t>, Value*> limits_;
};

}  // namespace

void ask_for_whole_rows(llvm::Function& function) {
  WholeRows(function).run();
}

}  // namespace cupola::cpu::build
