#include "backend/metal/air/left_out.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/Intrinsics.h>

namespace cupola::air {

bool is_left_out(const llvm::Function& function) {
  switch (function.getIntrinsicID()) {
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::dbg_assign:
    case llvm::Intrinsic::dbg_declare:
    case llvm::Intrinsic::dbg_label:
    case llvm::Intrinsic::dbg_value:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
    case llvm::Intrinsic::lifetime_end:
    case llvm::Intrinsic::lifetime_start:
    case llvm::Intrinsic::pseudoprobe:
    case llvm::Intrinsic::sideeffect:
      return true;
    default:
      return false;
  }
}

bool is_left_out(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  const llvm::Function* function = call ? call->getCalledFunction() : nullptr;
  return function && is_left_out(*function);
}

}  // namespace cupola::air
