#include <llvm/ADT/StringMap.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "kir/c_functions.h"
#include "kir/expansion.h"
#include "kir/passes.h"
#include "kir/refusal.h"

namespace cupola::kir {
namespace {

using llvm::Value;

/// "llvm.nvvm.add.rn.f" to its row; overloaded names come without their type suffix.
const llvm::StringMap<const ExpansionRow*>& rows() {
  static const auto& map = *[] {
    auto* made = new llvm::StringMap<const ExpansionRow*>;  // leaked: used after static destructors
    for (const auto& table :
         {register_expansions(), warp_expansions(), math_expansions(), bit_expansions(), memory_expansions()})
      for (const ExpansionRow& row : table) (*made)[row.word] = &row;
    return made;
  }();
  return map;
}

llvm::StringRef base_name(const llvm::Function& callee) {
  const llvm::Intrinsic::ID id = callee.getIntrinsicID();
  return id == llvm::Intrinsic::not_intrinsic ? callee.getName() : llvm::Intrinsic::getBaseName(id);
}

Expanded expand_intrinsic(llvm::CallInst& call, llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef, 8> words;
  name.drop_front(strlen("llvm.nvvm.")).split(words, '.');
  const auto row = rows().find(words[0]);
  if (row == rows().end()) return {};
  llvm::IRBuilder<> b(&call);
  return row->second->expand(Expansion{b, call, words});
}

bool is_trap(const llvm::Function& callee) {
  const llvm::Intrinsic::ID id = callee.getIntrinsicID();
  return id == llvm::Intrinsic::trap || id == llvm::Intrinsic::debugtrap || id == llvm::Intrinsic::ubsantrap;
}

/// Programs may declare rows of intrinsics.def by asm label; their declarations get the attributes.
void attribute_declared(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (const auto intrinsic = intrinsic_of(function);
        intrinsic && function.getFunctionType() == type_of(*intrinsic, module.getContext()))
      declare(module, *intrinsic);
}

Result<> expand_call(llvm::CallInst& call, const llvm::Function& callee) {
  if (is_trap(callee)) {
    llvm::IRBuilder<>(&call).CreateCall(declare(*call.getModule(), Intrinsic::Trap));
    call.eraseFromParent();
    return {};
  }
  const llvm::StringRef name = base_name(callee);
  if (!name.starts_with("llvm.nvvm.")) return {};
  const Expanded value = expand_intrinsic(call, name);
  if (!value) return fail(ErrorCode::NotSupported, "kir: {}: {} is not supported", place_of(call), name.str());
  if (*value) call.replaceAllUsesWith(*value);
  call.eraseFromParent();
  return {};
}

}  // namespace

Result<> expand_nvvm(llvm::Module& module) {
  define_c_functions(module);
  attribute_declared(module);
  for (llvm::Function& function : module) {
    llvm::SmallVector<llvm::CallInst*, 16> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->getCalledFunction())
        calls.push_back(call);
    for (llvm::CallInst* call : calls) TRY(expand_call(*call, *call->getCalledFunction()));
  }
  return {};
}

}  // namespace cupola::kir
