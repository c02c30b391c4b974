#include "kir/call_reach.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace cupola::kir {

bool is_indirect(const llvm::CallBase& call) {
  return !call.getCalledFunction() && !call.isInlineAsm();
}

namespace {

bool has_address_taken(const llvm::Function& function) {
  if (function.hasFnAttribute(kAddressTakenMark)) return true;
  for (const llvm::Use& use : function.uses()) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
    if (!call || !call->isCallee(&use) || call->getFunctionType() != function.getFunctionType()) return true;
  }
  return false;
}

}  // namespace

CallReach::CallReach(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && has_address_taken(function)) address_taken_.insert(&function);
  for (llvm::Function& function : module) {
    Functions& callees = callees_[&function];
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (!call) continue;
      if (llvm::Function* callee = call->getCalledFunction(); callee && !callee->isDeclaration())
        callees.insert(callee);
      else if (is_indirect(*call))
        callees.insert(address_taken_.begin(), address_taken_.end());
    }
  }
}

const CallReach::Functions& CallReach::callees(llvm::Function* function) const {
  static const Functions kNone;
  const auto found = callees_.find(function);
  return found == callees_.end() ? kNone : found->second;
}

CallReach::Functions CallReach::from(llvm::Function* function) const {
  Functions reached;
  reached.insert(function);
  for (size_t i = 0; i < reached.size(); ++i) {
    const Functions& next = callees(reached[i]);
    reached.insert(next.begin(), next.end());
  }
  return reached;
}

}  // namespace cupola::kir
