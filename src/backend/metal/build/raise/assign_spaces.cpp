#include "backend/metal/build/raise/assign_spaces.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "backend/metal/build/raise/metal_intrinsics.h"
#include "backend/metal/build/raise/pointer_accesses.h"
#include "backend/metal/build/raise/pointer_calls.h"
#include "backend/metal/build/raise/pointer_forms.h"
#include "kir/intrinsics.h"
#include "kir/refusal.h"

namespace cupola::metal::build {
namespace {

class Assignment {
 public:
  Assignment(llvm::Module& module, uint64_t constant_bytes)
      : module_(module), context_(module.getContext()), pointers_(module), constant_bytes_(constant_bytes) {}

  Refusals run() {
    Refusals refused;
    llvm::SmallVector<llvm::Function*, 16> functions;
    for (llvm::Function& function : module_)
      if (!function.isDeclaration()) functions.push_back(&function);
    for (llvm::Function* function : functions) take_signature(*function);
    for (llvm::Function* function : functions)
      if (const Result<> rewritten = rewrite(*anew_.lookup(function)); !rewritten)
        refused[anew_.lookup(function)] = rewritten.error();
    for (llvm::Function* function : functions)
      if (llvm::Function* made = anew_.lookup(function); refused.contains(made)) made->deleteBody();
    for (llvm::Function* function : functions)
      if (llvm::Function* made = anew_.lookup(function); made != function) {
        function->replaceAllUsesWith(llvm::PoisonValue::get(function->getType()));
        function->eraseFromParent();
      }
    return refused;
  }

 private:
  // -- signatures --

  void take_signature(llvm::Function& function) {
    llvm::SmallVector<llvm::Type*, 8> parameters;
    bool changed = false;
    for (const llvm::Argument& argument : function.args()) {
      llvm::Type* type = argument.getType();
      parameters.push_back(type->isPointerTy() ? type_of(pointers_.form(&argument), context_) : type);
      changed |= type->isPointerTy();
    }
    llvm::Type* result = function.getReturnType();
    if (result->isPointerTy()) {
      result = type_of(pointers_.form_of_result(function), context_);
      changed = true;
    }
    anew_[&function] = &function;
    if (!changed) return;
    auto* made =
        llvm::Function::Create(llvm::FunctionType::get(result, parameters, false), function.getLinkage(), "", &module_);
    made->takeName(&function);
    made->setCallingConv(function.getCallingConv());
    made->setSubprogram(function.getSubprogram());
    function.setSubprogram(nullptr);
    for (const auto kind : {llvm::Attribute::Convergent, llvm::Attribute::NoInline})
      if (function.hasFnAttribute(kind)) made->addFnAttr(kind);
    made->splice(made->end(), &function);
    for (unsigned i = 0; i < function.arg_size(); ++i) {
      llvm::Argument* before = function.getArg(i);
      if (before->getType()->isPointerTy())
        pointers_.hold(before, made->getArg(i));
      else
        before->replaceAllUsesWith(made->getArg(i));
    }
    anew_[&function] = made;
  }

  // -- instructions --

  Result<> rewrite(llvm::Function& function) {
    llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
    llvm::SmallVector<llvm::Instruction*, 128> work;
    for (llvm::BasicBlock* block : order)
      for (llvm::Instruction& instruction : *block) work.push_back(&instruction);
    for (llvm::Instruction* instruction : work)
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction); phi && phi->getType()->isPointerTy())
        pointers_.hold(phi, llvm::PHINode::Create(type_of(pointers_.form(phi), context_), phi->getNumIncomingValues(),
                                                  "", phi->getIterator()));
    llvm::SmallVector<llvm::Instruction*, 64> dead;
    for (llvm::Instruction* instruction : work) {
      llvm::IRBuilder<> b(instruction);
      TRY(const bool replaced, rewrite(b, *instruction));
      if (replaced) dead.push_back(instruction);
    }
    for (llvm::Instruction* instruction : work)
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction); phi && phi->getType()->isPointerTy()) fill(*phi);
    for (llvm::Instruction* instruction : dead) {
      instruction->replaceAllUsesWith(llvm::PoisonValue::get(instruction->getType()));
      instruction->eraseFromParent();
    }
    return {};
  }

  void fill(llvm::PHINode& phi) {
    auto* made = llvm::cast<llvm::PHINode>(pointers_.held(&phi));
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
      llvm::BasicBlock* from = phi.getIncomingBlock(i);
      llvm::IRBuilder<> b(from->getTerminator());
      made->addIncoming(pointers_.value(b, phi.getIncomingValue(i), pointers_.form(&phi)), from);
    }
  }

  /// True: the instruction has something in its place, and goes.
  Result<bool> rewrite(llvm::IRBuilder<>& b, llvm::Instruction& instruction) {
    switch (instruction.getOpcode()) {
      case llvm::Instruction::Alloca:
        pointers_.hold(&instruction, &instruction);
        return false;
      case llvm::Instruction::PHI:
        return instruction.getType()->isPointerTy();
      case llvm::Instruction::GetElementPtr:
        return offset(b, llvm::cast<llvm::GetElementPtrInst>(instruction));
      case llvm::Instruction::Select:
      case llvm::Instruction::Freeze:
      case llvm::Instruction::AddrSpaceCast:
        return pass_on(b, instruction);
      case llvm::Instruction::IntToPtr:
        pointers_.hold(&instruction, from_integer(b, instruction));
        return true;
      case llvm::Instruction::PtrToInt:
      case llvm::Instruction::PtrToAddr:
        instruction.replaceAllUsesWith(pointers_.as_integer(b, instruction.getOperand(0), instruction.getType()));
        return true;
      case llvm::Instruction::ICmp:
        return compare(b, llvm::cast<llvm::ICmpInst>(instruction));
      case llvm::Instruction::Load:
      case llvm::Instruction::Store:
      case llvm::Instruction::AtomicRMW:
      case llvm::Instruction::AtomicCmpXchg:
        return rewrite_access(pointers_, instruction);
      case llvm::Instruction::Ret:
        if (instruction.getNumOperands() && instruction.getOperand(0)->getType()->isPointerTy())
          instruction.setOperand(
              0, pointers_.value(b, instruction.getOperand(0), form_of(instruction.getFunction()->getReturnType())));
        return false;
      case llvm::Instruction::Call:
        return call_of(b, llvm::cast<llvm::CallInst>(instruction));
      default:
        break;
    }
    const auto is_pointer = [](const llvm::Value* part) { return part->getType()->isPtrOrPtrVectorTy(); };
    if (is_pointer(&instruction) || llvm::any_of(instruction.operand_values(), is_pointer))
      return fail(ErrorCode::NotSupported, "metal: {}: pointers in '{}' are not supported yet",
                  kir::place_of(instruction), instruction.getOpcodeName());
    return false;
  }

  bool offset(llvm::IRBuilder<>& b, llvm::GetElementPtrInst& gep) {
    llvm::Value* base = pointers_.value(b, gep.getPointerOperand(), pointers_.form(&gep));
    if (pointers_.form(&gep) == Form::Number) {
      llvm::Value* bytes = llvm::emitGEPOffset(&b, module_.getDataLayout(), &gep);
      pointers_.hold(&gep, b.CreateAdd(base, b.CreateSExtOrTrunc(bytes, b.getInt64Ty())));
      return true;
    }
    if (gep.getNumIndices() == 1 && gep.getSourceElementType()->isSingleValueType()) {
      pointers_.hold(&gep, b.CreateGEP(gep.getSourceElementType(), base, gep.idx_begin()->get()));
    } else {  // by bytes: layouts are kir's
      pointers_.hold(&gep, b.CreateGEP(b.getInt8Ty(), base, llvm::emitGEPOffset(&b, module_.getDataLayout(), &gep)));
    }
    return true;
  }

  bool pass_on(llvm::IRBuilder<>& b, llvm::Instruction& instruction) {
    if (!instruction.getType()->isPointerTy()) return false;
    const Form wanted = pointers_.form(&instruction);
    if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction))
      pointers_.hold(&instruction,
                     b.CreateSelect(select->getCondition(), pointers_.value(b, select->getTrueValue(), wanted),
                                    pointers_.value(b, select->getFalseValue(), wanted)));
    else if (llvm::isa<llvm::FreezeInst>(instruction))
      pointers_.hold(&instruction, b.CreateFreeze(pointers_.value(b, instruction.getOperand(0), wanted)));
    else
      pointers_.hold(&instruction, pointers_.value(b, instruction.getOperand(0), wanted));
    return true;
  }

  llvm::Value* from_integer(llvm::IRBuilder<>& b, llvm::Instruction& instruction) {
    return from_number(b, b.CreateZExtOrTrunc(instruction.getOperand(0), b.getInt64Ty()), pointers_.form(&instruction));
  }

  bool compare(llvm::IRBuilder<>& b, llvm::ICmpInst& icmp) {
    llvm::Value* left = icmp.getOperand(0);
    llvm::Value* right = icmp.getOperand(1);
    if (!left->getType()->isPointerTy()) return false;
    if (llvm::isa<llvm::ConstantPointerNull>(left)) {
      std::swap(left, right);
      icmp.swapOperands();
    }
    const bool plain = !is_offset(left->getType());
    Form common = pointers_.form(left);
    if (llvm::isa<llvm::ConstantPointerNull>(right) && plain) {
      if (common == Form::Shared || common == Form::Stack) common = Form::Number;  // there, no number is null
    } else if (pointers_.form(right) != common) {
      common = Form::Number;
    }
    llvm::Value* made =
        b.CreateICmp(icmp.getPredicate(), pointers_.value(b, left, common), pointers_.value(b, right, common));
    icmp.replaceAllUsesWith(made);
    return true;
  }

  // -- calls --

  Result<bool> call_of(llvm::IRBuilder<>& b, llvm::CallInst& call) {
    if (metal_intrinsic_of(call)) {
      pointers_.hold(&call, &call);
      return false;
    }
    if (kir::intrinsic_of(call)) return rewrite_kir_call(pointers_, call, constant_bytes_);
    if (call.getIntrinsicID() == llvm::Intrinsic::ptrmask) return mask(b, call);
    llvm::Function* callee = call.getCalledFunction();
    if (!callee) return fail(ErrorCode::NotSupported, "metal: {}: a call of what is no function", kir::place_of(call));
    llvm::Function* anew = anew_.lookup(callee);
    if (!anew) {
      if (call.getType()->isPointerTy() ||
          llvm::any_of(call.args(), [](const llvm::Value* a) { return a->getType()->isPointerTy(); }))
        return fail(ErrorCode::NotSupported, "metal: {}: '{}' is not supported yet", kir::place_of(call),
                    kir::demangled(callee->getName()));
      return false;
    }
    if (anew == callee) return false;
    llvm::SmallVector<llvm::Value*, 8> arguments;
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      llvm::Value* argument = call.getArgOperand(i);
      arguments.push_back(argument->getType()->isPointerTy()
                              ? pointers_.value(b, argument, form_of(anew->getArg(i)->getType()))
                              : argument);
    }
    llvm::CallInst* made = b.CreateCall(anew, arguments);
    made->setCallingConv(call.getCallingConv());
    if (call.isConvergent()) made->setConvergent();
    if (!call.getType()->isPointerTy()) {
      call.replaceAllUsesWith(made);
    } else {
      const Form returned = form_of(made->getType());
      pointers_.hold(&call, returned == pointers_.form(&call)
                                ? made
                                : from_number(b, number_of(b, made, returned), pointers_.form(&call)));
    }
    return true;
  }

  /// The arena, the shared window and the stack begin at multiples of what programs mask by.
  bool mask(llvm::IRBuilder<>& b, llvm::CallInst& call) {
    llvm::Value* bits = b.CreateSExtOrTrunc(call.getArgOperand(1), b.getInt64Ty());
    llvm::Value* pointer = call.getArgOperand(0);
    pointers_.hold(&call,
                   from_number(b, b.CreateAnd(number_of(b, pointers_.value(b, pointer), pointers_.form(pointer)), bits),
                               pointers_.form(&call)));
    return true;
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  HeldPointers pointers_;
  uint64_t constant_bytes_;
  llvm::DenseMap<const llvm::Function*, llvm::Function*> anew_;
};

}  // namespace

Refusals assign_spaces(llvm::Module& module, uint64_t constant_bytes) {
  return Assignment(module, constant_bytes).run();
}

}  // namespace cupola::metal::build
