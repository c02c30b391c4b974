// What a program's options let be approximate comes in LLVM's words, as functions' attribute reciprocal-estimates
// (clang's -mrecip): "sqrtf", "divf", and "divf:0", the quotient of __fdividef.

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "image/clang_target.h"
#include "kir/kir.h"
#include "kir/passes.h"

namespace cupola::kir {
namespace {

constexpr char kEstimates[] = "reciprocal-estimates";

/// The attribute, read.
struct Estimates {
  explicit Estimates(const llvm::Function& function) {
    llvm::SmallVector<llvm::StringRef, 2> words;
    function.getFnAttribute(kEstimates).getValueAsString().split(words, ',');
    roots = llvm::is_contained(words, image::kEstimateRoots);
    crude_quotients = llvm::is_contained(words, image::kEstimateQuotientsCrudely);
    quotients = llvm::is_contained(words, image::kEstimateQuotients) || crude_quotients;
  }
  bool quotients = false, crude_quotients = false, roots = false;
};

bool calls_root(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == "__nv_sqrtf";
}

llvm::Value* approximate_form(llvm::IRBuilder<>& b, llvm::Instruction& instruction, const Estimates& estimates) {
  const bool divides = instruction.getOpcode() == llvm::Instruction::FDiv;
  if (divides && estimates.crude_quotients && instruction.getType()->isFloatTy())
    return b.CreateIntrinsic(llvm::Intrinsic::nvvm_div_approx_f, {},
                             {instruction.getOperand(0), instruction.getOperand(1)});
  if (divides ? estimates.quotients : estimates.roots) {
    if (calls_root(instruction))
      return let_approximate(b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, instruction.getOperand(0)));
    let_approximate(&instruction);
  }
  return &instruction;
}

}  // namespace

void say_estimates(llvm::Function& function, bool quotients, bool roots) {
  const std::string words = image::estimates(quotients, roots, /*crudely=*/false);
  if (!words.empty()) function.addFnAttr(kEstimates, words);
}

void allow_estimates(llvm::Module& module) {
  for (llvm::Function& function : module) {
    const Estimates estimates(function);
    function.removeFnAttr(kEstimates);  // LLVM's back-ends would read it, too
    if (!estimates.quotients && !estimates.roots) continue;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      llvm::IRBuilder<> b(&instruction);
      llvm::Value* form = approximate_form(b, instruction, estimates);
      if (form == &instruction) continue;
      instruction.replaceAllUsesWith(form);
      instruction.eraseFromParent();
    }
  }
}

}  // namespace cupola::kir
