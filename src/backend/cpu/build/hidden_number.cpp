#include "backend/cpu/build/hidden_number.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>

namespace cupola::cpu::build {

llvm::Value* hidden_number(llvm::IRBuilderBase& builder, llvm::Value* number) {
  auto* type = llvm::FunctionType::get(number->getType(), {number->getType()}, /*isVarArg=*/false);
  return builder.CreateCall(llvm::InlineAsm::get(type, "", "=r,0", /*hasSideEffects=*/false), {number});
}

}  // namespace cupola::cpu::build
