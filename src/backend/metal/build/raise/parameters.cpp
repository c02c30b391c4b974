#include "backend/metal/build/raise/parameters.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "backend/metal/build/raise/metal_intrinsics.h"
#include "backend/metal/build/raise/spaces.h"
#include "kir/kernel_parameters.h"
#include "kir/kir.h"
#include "kir/refusal.h"

namespace cupola::metal::build {
namespace {

/// All that is done with the pointer is to read from it.
bool only_read(const llvm::Value& pointer) {
  return llvm::all_of(pointer.users(), [&](const llvm::User* user) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) return load->isSimple();
    return llvm::isa<llvm::GetElementPtrInst>(user) && only_read(*user);
  });
}

/// The same reads and offsets, of another space.
void read_from(llvm::Value& pointer, llvm::Value& other) {
  for (llvm::User* user : llvm::make_early_inc_range(pointer.users())) {
    auto* instruction = llvm::cast<llvm::Instruction>(user);
    instruction->setOperand(0, &other);
    if (!llvm::isa<llvm::GetElementPtrInst>(instruction)) continue;
    auto* made = llvm::cast<llvm::GetElementPtrInst>(instruction->clone());
    made->mutateType(other.getType());
    made->insertBefore(instruction->getIterator());
    read_from(*instruction, *made);
    instruction->eraseFromParent();
  }
}

llvm::Value* copy_of(llvm::IRBuilder<>& b, llvm::Type* type, uint64_t alignment, llvm::Value* from,
                     llvm::Align from_alignment) {
  llvm::AllocaInst* copy = b.CreateAlloca(type);
  copy->setAlignment(llvm::Align(alignment));
  b.CreateMemCpy(copy, copy->getAlign(), from, from_alignment,
                 b.GetInsertBlock()->getDataLayout().getTypeAllocSize(type));
  return copy;
}

}  // namespace

Result<llvm::Function*> read_parameters(llvm::Function& kernel, const std::vector<KernelInfo::Parameter>& places) {
  // NVVM IR names its kernels in llvm.used.
  llvm::removeFromUsedLists(*kernel.getParent(), [&](llvm::Constant* used) { return used == &kernel; });
  kernel.removeDeadConstantUsers();
  if (!kernel.use_empty())
    return fail(ErrorCode::NotSupported, "metal: kernel '{}' is called or its address is taken, which is not supported",
                kir::demangled(kernel.getName()));
  auto* made = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(kernel.getContext()), false),
                                      llvm::GlobalValue::ExternalLinkage, "", kernel.getParent());
  made->takeName(&kernel);
  made->setSubprogram(kernel.getSubprogram());
  kernel.setSubprogram(nullptr);
  made->splice(made->end(), &kernel);
  llvm::BasicBlock& entry = made->getEntryBlock();
  llvm::IRBuilder<> b(&entry, entry.getFirstInsertionPt());
  llvm::Value* block = kernel.arg_empty() ? nullptr : call(b, MetalIntrinsic::Parameters);
  for (unsigned i = 0; i < kernel.arg_size(); ++i) {
    llvm::Argument& argument = *kernel.getArg(i);
    if (argument.use_empty()) continue;
    llvm::Type* type = kir::stored_type(argument);
    const llvm::Align alignment(kir::stored_alignment(argument));
    llvm::Value* place = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), block, places[i].offset);
    llvm::Value* value;
    if (argument.hasByValAttr()) {
      if (only_read(argument)) {
        read_from(argument, *place);
        continue;
      }
      value = copy_of(b, type, alignment.value(), place, alignment);
    } else if (type->isIntegerTy() && type->getIntegerBitWidth() % 8 != 0) {  // bool
      value = b.CreateTrunc(b.CreateAlignedLoad(b.getIntNTy(places[i].size * 8), place, alignment), type);
    } else {
      value = b.CreateAlignedLoad(type, place, alignment);
    }
    argument.replaceAllUsesWith(value);
  }
  kernel.eraseFromParent();
  return made;
}

void copy_arguments_by_value(llvm::Function& function) {
  if (kir::is_kernel(function)) return;  // which read theirs from the launch
  for (unsigned i = 0; i < function.arg_size(); ++i) {
    if (!function.hasParamAttribute(i, llvm::Attribute::ByVal)) continue;
    const llvm::Argument& argument = *function.getArg(i);
    for (llvm::User* user : function.users()) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(user);
      if (!call || call->getCalledFunction() != &function) continue;
      llvm::IRBuilder<> entry(&*call->getFunction()->getEntryBlock().getFirstInsertionPt());
      const uint64_t alignment = kir::stored_alignment(argument);
      llvm::AllocaInst* copy = entry.CreateAlloca(kir::stored_type(argument));
      copy->setAlignment(llvm::Align(alignment));
      llvm::IRBuilder<> b(call);
      b.CreateMemCpy(copy, copy->getAlign(), call->getArgOperand(i), call->getParamAlign(i),
                     function.getDataLayout().getTypeAllocSize(kir::stored_type(argument)));
      call->setArgOperand(i, copy);
      call->removeParamAttr(i, llvm::Attribute::ByVal);
    }
    function.removeParamAttr(i, llvm::Attribute::ByVal);
  }
}

}  // namespace cupola::metal::build
