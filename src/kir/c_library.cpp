#include "kir/c_library.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "kir/math_calls.h"
#include "kir/passes.h"

namespace cupola::kir {
namespace {

/// libclc converts NaNs to integers and takes the result as an index of a table; what it expects is 0.
void convert_nan_to_zero(llvm::Function& function) {
  llvm::SmallVector<llvm::Instruction*, 8> conversions;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (llvm::isa<llvm::FPToSIInst, llvm::FPToUIInst>(instruction)) conversions.push_back(&instruction);
  for (llvm::Instruction* conversion : conversions) {
    llvm::IRBuilder<> b(conversion);
    const auto id = llvm::isa<llvm::FPToSIInst>(conversion) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    llvm::Value* value = conversion->getOperand(0);
    conversion->replaceAllUsesWith(b.CreateIntrinsic(id, {conversion->getType(), value->getType()}, {value}));
    conversion->eraseFromParent();
  }
}

}  // namespace

void call_c_functions(llvm::Module& module) {
  llvm::SmallVector<llvm::Instruction*, 16> instructions;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (instruction.getOpcode() == llvm::Instruction::FRem || (call && c_name(call->getIntrinsicID())))
        instructions.push_back(&instruction);
    }
  for (llvm::Instruction* instruction : instructions) {
    llvm::IRBuilder<> b(instruction);
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(instruction);
    llvm::SmallVector<llvm::Value*, 2> arguments;
    for (unsigned i = 0; i < (call ? call->arg_size() : 2); ++i) arguments.push_back(instruction->getOperand(i));
    instruction->replaceAllUsesWith(
        call_elements(b, module, call ? c_name(call->getIntrinsicID()) : "fmod", instruction->getType(), arguments));
    instruction->eraseFromParent();
  }
}

Result<> link_c_library(llvm::Module& module, std::span<const std::byte> bitcode) {
  llvm::SmallPtrSet<llvm::Function*, 32> before;
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) before.insert(&function);
  TRY(link_device_library(module, bitcode));
  for (llvm::Function& function : module)
    if (!before.contains(&function)) convert_nan_to_zero(function);
  return {};
}

}  // namespace cupola::kir
