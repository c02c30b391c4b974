#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "kir/expansion.h"
#include "kir/kir.h"
#include "kir/passes.h"

namespace cupola::kir {
namespace {

using llvm::Value;

constexpr char kMark[] = "cupola-flush-denormals";

/// Whether PTX has an .ftz form of the instruction that clang's f32 operation becomes. Loads, stores, moves, selects,
/// negation and copies of the sign do not flush. Elementary functions flush as a whole.
bool computes(const llvm::Instruction& instruction) {
  if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) switch (call->getIntrinsicID()) {
      case llvm::Intrinsic::fma:
      case llvm::Intrinsic::sqrt:
      case llvm::Intrinsic::minimumnum:
      case llvm::Intrinsic::maximumnum:
      case llvm::Intrinsic::minnum:
      case llvm::Intrinsic::maxnum:
      case llvm::Intrinsic::minimum:
      case llvm::Intrinsic::maximum:
      case llvm::Intrinsic::exp2:
      case llvm::Intrinsic::log2:
      case llvm::Intrinsic::sin:
      case llvm::Intrinsic::cos:
        return true;
      default:
        return false;
    }
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
    return call->getCalledFunction() && call->getCalledFunction()->hasFnAttribute(kElementary);
  return instruction.isBinaryOp() || llvm::isa<llvm::FCmpInst, llvm::FPExtInst, llvm::FPTruncInst>(instruction);
}

void flush_around(llvm::Instruction& instruction) {
  llvm::IRBuilder<> b(&instruction);
  for (llvm::Use& operand : instruction.operands())
    if (operand->getType()->getScalarType()->isFloatTy()) operand.set(flush(b, operand));
  if (!instruction.getType()->getScalarType()->isFloatTy()) return;
  b.SetInsertPoint(instruction.getNextNode());
  llvm::SmallVector<llvm::Use*, 8> uses;
  for (llvm::Use& use : instruction.uses()) uses.push_back(&use);
  Value* flushed = flush(b, &instruction);
  for (llvm::Use* use : uses) use->set(flushed);
}

}  // namespace

bool flushes_denormals(const llvm::Function& function) {
  return function.hasFnAttribute(kMark);
}

void flush_denormals(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) call->removeFnAttr("denormal-fp-math-f32");
    const llvm::Attribute mode = function.getFnAttribute("denormal-fp-math-f32");
    if (!mode.isValid()) continue;
    const bool flushes = mode.getValueAsString().starts_with("preserve-sign");
    function.removeFnAttr("denormal-fp-math-f32");  // LLVM would fold the flushes that are written out
    if (!flushes || function.isDeclaration()) continue;
    function.addFnAttr(kMark);
    llvm::SmallVector<llvm::Instruction*, 32> instructions;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (computes(instruction)) instructions.push_back(&instruction);
    for (llvm::Instruction* instruction : instructions) flush_around(*instruction);
  }
}

}  // namespace cupola::kir
