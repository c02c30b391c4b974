#include "backend/cpu/build/whole_rows.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "backend/cpu/build/row_questions.h"

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

class WholeRows {
 public:
  explicit WholeRows(llvm::Function& function)
      : function_(function), builder_(function.getContext()), limits_(function) {}

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
    BasicBlock* each = llvm::SplitBlock(&block, block.getTerminator());
    block.getTerminator()->eraseFromParent();
    builder_.SetInsertPoint(&block);
    builder_.CreateCondBr(limits_.is_whole(builder_, known, known.first), &all, each,
                          llvm::MDBuilder(function_.getContext()).createLikelyBranchWeights());
    for (llvm::PHINode& phi : all.phis()) phi.addIncoming(phi.getIncomingValueForBlock(each), &block);
    for (Instruction& instruction : llvm::make_early_inc_range(llvm::reverse(block)))
      if (is_needed_in(instruction, *each)) instruction.moveBefore(each->begin());
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
  Limits limits_;
};

}  // namespace

void ask_for_whole_rows(llvm::Function& function) {
  WholeRows(function).run();
}

}  // namespace cupola::cpu::build
