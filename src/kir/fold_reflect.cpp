#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Transforms/Utils/Local.h>

#include "kir/passes.h"

namespace cupola::kir {
namespace {

bool is_reflect(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  return callee && (callee->getIntrinsicID() == llvm::Intrinsic::nvvm_reflect ||
                    callee->getName() == "__nvvm_reflect" || callee->getName() == "__nvvm_reflect_ocl");
}

uint64_t flush_flag(const llvm::Module& module) {
  auto* flag = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(module.getModuleFlag("nvvm-reflect-ftz"));
  return flag ? flag->getZExtValue() : 0;
}

uint64_t answer(const llvm::CallInst& call, uint32_t architecture) {
  llvm::StringRef question;
  if (!llvm::getConstantStringInfo(call.getArgOperand(0)->stripPointerCasts(), question)) return 0;
  if (question == "__CUDA_FTZ") return flush_flag(*call.getModule());
  if (question == "__CUDA_PREC_SQRT" || question == "__CUDA_PREC_DIV") return 1;
  if (question == "__CUDA_ARCH") return 10 * architecture;
  return 0;
}

/// Replaces `instruction` by `value`, and its users by constants as far as that makes them constant.
void replace_and_fold(llvm::Instruction* instruction, llvm::Constant* value, const llvm::DataLayout& layout) {
  const llvm::SmallSetVector<llvm::User*, 8> users(instruction->user_begin(), instruction->user_end());
  instruction->replaceAllUsesWith(value);
  instruction->eraseFromParent();
  for (llvm::User* user : users) {
    auto* next = llvm::dyn_cast<llvm::Instruction>(user);
    if (!next || next->isTerminator() || llvm::isa<llvm::PHINode, llvm::CallInst>(next)) continue;
    if (llvm::Constant* folded = llvm::ConstantFoldInstruction(next, layout)) replace_and_fold(next, folded, layout);
  }
}

}  // namespace

void fold_reflect(llvm::Module& module, uint32_t architecture) {
  const llvm::DataLayout& layout = module.getDataLayout();
  for (llvm::Function& function : module) {
    llvm::SmallVector<llvm::CallInst*, 4> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && is_reflect(*call)) calls.push_back(call);
    if (calls.empty()) continue;
    for (llvm::CallInst* call : calls)
      replace_and_fold(call, llvm::ConstantInt::get(call->getType(), answer(*call, architecture)), layout);
    for (llvm::BasicBlock& block : function) llvm::ConstantFoldTerminator(&block, /*DeleteDeadConditions=*/true);
    llvm::removeUnreachableBlocks(function);
  }
}

}  // namespace cupola::kir
