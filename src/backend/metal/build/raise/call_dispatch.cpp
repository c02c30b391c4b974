#include "backend/metal/build/raise/call_dispatch.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/CallPromotionUtils.h>

#include "backend/metal/build/raise/metal_intrinsics.h"
#include "image/metal_abi.h"
#include "kir/address_space.h"
#include "kir/call_reach.h"
#include "kir/kir.h"

namespace cupola::metal::build {
namespace {

struct Candidate {
  llvm::Function* function;
  uint64_t offset;  ///< of its descriptor in module data
};

std::vector<Candidate> candidates(llvm::Module& module, const kir::ModuleData& data) {
  std::vector<Candidate> all;
  for (const kir::ModuleData::FunctionDescriptor& descriptor : data.descriptors)
    if (llvm::Function* function = module.getFunction(descriptor.function); function && !kir::is_kernel(*function))
      all.push_back({function, descriptor.offset});
  return all;
}

/// How far behind the beginning of module data the pointer points.
llvm::Value* offset_of(llvm::IRBuilder<>& b, llvm::Value* pointer) {
  llvm::Value* data = b.CreateAddrSpaceCast(call(b, MetalIntrinsic::ModuleData), b.getPtrTy(kir::kGenericSpace));
  return b.CreateSub(b.CreatePtrToInt(pointer, b.getInt64Ty()), b.CreatePtrToInt(data, b.getInt64Ty()));
}

void dispatch(llvm::CallInst& indirect, llvm::ArrayRef<Candidate> candidates) {
  llvm::Function& function = *indirect.getFunction();
  llvm::LLVMContext& context = function.getContext();
  llvm::BasicBlock* before = indirect.getParent();
  llvm::BasicBlock* behind = llvm::SplitBlock(before, indirect.getNextNode());
  llvm::BasicBlock* none = llvm::BasicBlock::Create(context, "", &function, behind);
  llvm::IRBuilder<> b(none);
  b.SetCurrentDebugLocation(indirect.getDebugLoc());
  call(b, MetalIntrinsic::Fail,
       {b.getInt32(static_cast<uint32_t>(image::metal::Fault::Call)),
        b.CreatePtrToInt(indirect.getCalledOperand(), b.getInt64Ty())});
  b.CreateUnreachable();

  b.SetInsertPoint(&indirect);
  llvm::Value* offset = offset_of(b, indirect.getCalledOperand());
  before->getTerminator()->eraseFromParent();
  b.SetInsertPoint(before);
  llvm::SwitchInst* choice = b.CreateSwitch(offset, none, static_cast<unsigned>(candidates.size()));
  llvm::PHINode* result = nullptr;
  if (!indirect.getType()->isVoidTy() && !indirect.use_empty()) {
    result = llvm::PHINode::Create(indirect.getType(), static_cast<unsigned>(candidates.size()), "", behind->begin());
    indirect.replaceAllUsesWith(result);
  }
  for (const Candidate& candidate : candidates) {
    if (!llvm::isLegalToPromote(indirect, candidate.function)) continue;
    llvm::BasicBlock* way = llvm::BasicBlock::Create(context, "", &function, behind);
    choice->addCase(b.getInt64(candidate.offset), way);
    auto* direct = llvm::cast<llvm::CallInst>(indirect.clone());
    b.SetInsertPoint(way);
    b.Insert(direct);
    b.CreateBr(behind);
    if (result) result->addIncoming(direct, way);  // promoting replaces it where the types differ
    llvm::promoteCall(*direct, candidate.function);
    direct->setCallingConv(candidate.function->getCallingConv());
  }
  if (result && result->getNumIncomingValues() == 0) {
    result->replaceAllUsesWith(llvm::PoisonValue::get(result->getType()));
    result->eraseFromParent();
  }
  indirect.eraseFromParent();
}

}  // namespace

llvm::DenseSet<const llvm::Function*> dispatch_calls(llvm::Module& module, const kir::ModuleData& data) {
  const std::vector<Candidate> all = candidates(module, data);
  llvm::SmallVector<llvm::CallInst*, 16> calls;
  llvm::DenseSet<const llvm::Function*> callers;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && kir::is_indirect(*call)) {
        calls.push_back(call);
        callers.insert(&function);
      }
  for (llvm::CallInst* call : calls) dispatch(*call, all);
  return callers;
}

}  // namespace cupola::metal::build
