#include "backend/metal/build/raise/assign_spaces.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "backend/metal/build/raise/metal_intrinsics.h"
#include "backend/metal/build/raise/pointer_spaces.h"
#include "backend/metal/build/raise/spaces.h"
#include "kir/address_space.h"
#include "kir/intrinsics.h"
#include "kir/refusal.h"

namespace cupola::metal::build {
namespace {

/// How a raised module holds a pointer: as one of a space, or as a number.
enum class Form { Device, Constant, Shared, Stack, Number };

constexpr uint64_t kWarpLanes = 32;

constexpr Memories kPlaces[] = {kInShared, kInStack, kInDevice};

Form form_in(Memories memory) {
  return memory == kInShared ? Form::Shared : memory == kInStack ? Form::Stack : Form::Device;
}

Form form_of(uint8_t memories) {
  if (memories == kInShared) return Form::Shared;
  if (memories == kInStack) return Form::Stack;
  return (memories & (kInShared | kInStack)) == 0 ? Form::Device : Form::Number;
}

llvm::Type* type_of(Form form, llvm::LLVMContext& context) {
  switch (form) {
    case Form::Device:
      return llvm::PointerType::get(context, kDevice);
    case Form::Constant:
      return llvm::PointerType::get(context, kConstant);
    case Form::Shared:
      return llvm::PointerType::get(context, kThreadgroup);
    case Form::Stack:
      return llvm::PointerType::get(context, kThread);
    case Form::Number:
      return llvm::Type::getInt64Ty(context);
  }
}

/// A pointer as the program sees it, of whatever form.
llvm::Value* number_of(llvm::IRBuilderBase& b, llvm::Value* value, Form form) {
  switch (form) {
    case Form::Device:
      return call(b, MetalIntrinsic::ToHost, {value});
    case Form::Shared:
      return b.CreateOr(b.CreateZExt(call(b, MetalIntrinsic::SharedOffset, {value}), b.getInt64Ty()),
                        b.getInt64(kSharedWindow));
    case Form::Stack:
      return b.CreateOr(b.CreateZExt(call(b, MetalIntrinsic::StackOffset, {value}), b.getInt64Ty()),
                        b.getInt64(kLocalWindow));
    case Form::Constant:  // the parameter block has no address: what would need one is copied first
    case Form::Number:
      return value;
  }
}

llvm::Value* from_number(llvm::IRBuilderBase& b, llvm::Value* number, Form form) {
  switch (form) {
    case Form::Device:
      return call(b, MetalIntrinsic::FromHost, {number});
    case Form::Shared:
      return call(b, MetalIntrinsic::SharedAt, {b.CreateTrunc(number, b.getInt32Ty())});
    case Form::Stack:
      return call(b, MetalIntrinsic::StackAt, {b.CreateTrunc(number, b.getInt32Ty())});
    case Form::Constant:
    case Form::Number:
      return number;
  }
}

llvm::Value* in_window(llvm::IRBuilderBase& b, llvm::Value* number, uint64_t window) {
  return b.CreateICmpULT(b.CreateSub(number, b.getInt64(window)), b.getInt64(kWindowBytes));
}

/// Offsets of typed pointers into windows are numbers of their own.
bool is_offset(const llvm::Type* type) {
  return type->getPointerAddressSpace() == kir::kSharedSpace || type->getPointerAddressSpace() == kir::kLocalSpace;
}

class Assignment {
 public:
  Assignment(llvm::Module& module, uint64_t constant_bytes)
      : module_(module), context_(module.getContext()), spaces_(module), constant_bytes_(constant_bytes) {}

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
  Form form(const llvm::Value* pointer) const {
    return pointer->getType()->getPointerAddressSpace() == kConstant ? Form::Constant : form_of(spaces_.of(pointer));
  }
  Form form_of_result(const llvm::Function& function) const {
    llvm::Type* type = function.getReturnType();
    return is_offset(type) ? form_of(type->getPointerAddressSpace() == kir::kSharedSpace ? kInShared : kInStack)
                           : form_of(spaces_.of_result(function));
  }

  // -- signatures --

  void take_signature(llvm::Function& function) {
    llvm::SmallVector<llvm::Type*, 8> parameters;
    bool changed = false;
    for (const llvm::Argument& argument : function.args()) {
      llvm::Type* type = argument.getType();
      parameters.push_back(type->isPointerTy() ? type_of(form(&argument), context_) : type);
      changed |= type->isPointerTy();
    }
    llvm::Type* result = function.getReturnType();
    if (result->isPointerTy()) {
      result = type_of(form_of_result(function), context_);
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
        values_[before] = made->getArg(i);
      else
        before->replaceAllUsesWith(made->getArg(i));
    }
    anew_[&function] = made;
  }

  // -- values --

  /// The value of a pointer, in that form, at the builder's place.
  llvm::Value* value(llvm::IRBuilderBase& b, llvm::Value* pointer, Form wanted) {
    if (llvm::isa<llvm::UndefValue>(pointer)) return llvm::PoisonValue::get(type_of(wanted, context_));
    if (llvm::isa<llvm::ConstantPointerNull>(pointer)) return from_number(b, b.getInt64(0), wanted);
    if (auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(pointer)) {
      if (expression->getOpcode() == llvm::Instruction::AddrSpaceCast)
        return value(b, expression->getOperand(0), wanted);
      if (expression->getOpcode() == llvm::Instruction::IntToPtr)
        return from_number(b, b.CreateZExtOrTrunc(expression->getOperand(0), b.getInt64Ty()), wanted);
    }
    const Form form_held = form(pointer);
    llvm::Value* held = values_.lookup(pointer);
    if (!held) held = pointer;  // of a space already: the launch's
    if (form_held == wanted) return held;
    return from_number(b, number_of(b, held, form_held), wanted);
  }
  llvm::Value* value(llvm::IRBuilderBase& b, llvm::Value* pointer) { return value(b, pointer, form(pointer)); }

  llvm::Value* number(llvm::IRBuilderBase& b, llvm::Value* pointer) { return value(b, pointer, Form::Number); }

  // -- instructions --

  Result<> rewrite(llvm::Function& function) {
    llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
    llvm::SmallVector<llvm::Instruction*, 128> work;
    for (llvm::BasicBlock* block : order)
      for (llvm::Instruction& instruction : *block) work.push_back(&instruction);
    for (llvm::Instruction* instruction : work)
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction); phi && phi->getType()->isPointerTy())
        values_[phi] =
            llvm::PHINode::Create(type_of(form(phi), context_), phi->getNumIncomingValues(), "", phi->getIterator());
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
    auto* made = llvm::cast<llvm::PHINode>(values_.lookup(&phi));
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
      llvm::BasicBlock* from = phi.getIncomingBlock(i);
      llvm::IRBuilder<> b(from->getTerminator());
      made->addIncoming(value(b, phi.getIncomingValue(i), form(&phi)), from);
    }
  }

  /// True: the instruction has something in its place, and goes.
  Result<bool> rewrite(llvm::IRBuilder<>& b, llvm::Instruction& instruction) {
    switch (instruction.getOpcode()) {
      case llvm::Instruction::Alloca:
        values_[&instruction] = &instruction;
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
        values_[&instruction] = from_integer(b, instruction);
        return true;
      case llvm::Instruction::PtrToInt:
      case llvm::Instruction::PtrToAddr:
        instruction.replaceAllUsesWith(to_integer(b, instruction));
        return true;
      case llvm::Instruction::ICmp:
        return compare(b, llvm::cast<llvm::ICmpInst>(instruction));
      case llvm::Instruction::Load:
      case llvm::Instruction::Store:
      case llvm::Instruction::AtomicRMW:
      case llvm::Instruction::AtomicCmpXchg:
        return access(b, instruction);
      case llvm::Instruction::Ret:
        if (instruction.getNumOperands() && instruction.getOperand(0)->getType()->isPointerTy())
          instruction.setOperand(0, value(b, instruction.getOperand(0), returned_form(*instruction.getFunction())));
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

  Form returned_form(const llvm::Function& function) const {
    llvm::Type* type = function.getReturnType();
    if (!type->isPointerTy()) return Form::Number;
    switch (type->getPointerAddressSpace()) {
      case kThread:
        return Form::Stack;
      case kThreadgroup:
        return Form::Shared;
      default:
        return Form::Device;
    }
  }

  bool offset(llvm::IRBuilder<>& b, llvm::GetElementPtrInst& gep) {
    llvm::Value* base = value(b, gep.getPointerOperand(), form(&gep));
    if (form(&gep) == Form::Number) {
      llvm::Value* bytes = llvm::emitGEPOffset(&b, module_.getDataLayout(), &gep);
      values_[&gep] = b.CreateAdd(base, b.CreateSExtOrTrunc(bytes, b.getInt64Ty()));
      return true;
    }
    if (gep.getNumIndices() == 1 && gep.getSourceElementType()->isSingleValueType()) {
      values_[&gep] = b.CreateGEP(gep.getSourceElementType(), base, gep.idx_begin()->get());
    } else {  // by bytes: layouts are kir's
      values_[&gep] = b.CreateGEP(b.getInt8Ty(), base, llvm::emitGEPOffset(&b, module_.getDataLayout(), &gep));
    }
    return true;
  }

  bool pass_on(llvm::IRBuilder<>& b, llvm::Instruction& instruction) {
    if (!instruction.getType()->isPointerTy()) return false;
    const Form wanted = form(&instruction);
    if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction))
      values_[&instruction] = b.CreateSelect(select->getCondition(), value(b, select->getTrueValue(), wanted),
                                             value(b, select->getFalseValue(), wanted));
    else if (llvm::isa<llvm::FreezeInst>(instruction))
      values_[&instruction] = b.CreateFreeze(value(b, instruction.getOperand(0), wanted));
    else
      values_[&instruction] = value(b, instruction.getOperand(0), wanted);
    return true;
  }

  llvm::Value* from_integer(llvm::IRBuilder<>& b, llvm::Instruction& instruction) {
    return from_number(b, b.CreateZExtOrTrunc(instruction.getOperand(0), b.getInt64Ty()), form(&instruction));
  }

  llvm::Value* to_integer(llvm::IRBuilder<>& b, llvm::Instruction& instruction) {
    llvm::Value* pointer = instruction.getOperand(0);
    if (!is_offset(pointer->getType())) return b.CreateZExtOrTrunc(number(b, pointer), instruction.getType());
    const bool shared = pointer->getType()->getPointerAddressSpace() == kir::kSharedSpace;
    return b.CreateZExtOrTrunc(
        call(b, shared ? MetalIntrinsic::SharedOffset : MetalIntrinsic::StackOffset, {value(b, pointer)}),
        instruction.getType());
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
    Form common = form(left);
    if (llvm::isa<llvm::ConstantPointerNull>(right) && plain) {
      if (common == Form::Shared || common == Form::Stack) common = Form::Number;  // there, no number is null
    } else if (form(right) != common) {
      common = Form::Number;
    }
    llvm::Value* made = b.CreateICmp(icmp.getPredicate(), value(b, left, common), value(b, right, common));
    icmp.replaceAllUsesWith(made);
    return true;
  }

  // -- memory --

  static unsigned pointer_operand(const llvm::Instruction& instruction) {
    return llvm::isa<llvm::StoreInst>(instruction) ? llvm::StoreInst::getPointerOperandIndex() : 0;
  }

  /// The access with numbers in place of pointers among its values; its result as it comes from memory.
  llvm::Instruction* plain_access(llvm::IRBuilder<>& b, llvm::Instruction& instruction) {
    const unsigned pointer = pointer_operand(instruction);
    for (unsigned i = 0; i < instruction.getNumOperands(); ++i)
      if (i != pointer && instruction.getOperand(i)->getType()->isPointerTy())
        instruction.setOperand(i, in_memory(b, instruction.getOperand(i)));
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load || !load->getType()->isPointerTy()) return &instruction;
    auto* made = b.CreateAlignedLoad(b.getInt64Ty(), load->getPointerOperand(), load->getAlign(), load->isVolatile());
    if (load->isAtomic()) made->setAtomic(load->getOrdering(), load->getSyncScopeID());
    return made;
  }

  llvm::Value* in_memory(llvm::IRBuilder<>& b, llvm::Value* pointer) {
    if (!is_offset(pointer->getType())) return number(b, pointer);
    const bool shared = pointer->getType()->getPointerAddressSpace() == kir::kSharedSpace;
    return b.CreateZExt(
        call(b, shared ? MetalIntrinsic::SharedOffset : MetalIntrinsic::StackOffset, {value(b, pointer)}),
        b.getInt64Ty());
  }

  Result<bool> access(llvm::IRBuilder<>& b, llvm::Instruction& instruction) {
    if (llvm::isa<llvm::AtomicCmpXchgInst, llvm::AtomicRMWInst>(instruction))
      if (instruction.getOperand(1)->getType()->isPointerTy())
        return fail(ErrorCode::NotSupported, "metal: {}: atomics on pointers are not supported yet",
                    kir::place_of(instruction));
    llvm::Value* pointer = instruction.getOperand(pointer_operand(instruction));
    llvm::Instruction* plain = plain_access(b, instruction);
    const bool made = plain != &instruction;
    if (form(pointer) != Form::Number) {
      llvm::IRBuilder<> before(plain);
      plain->setOperand(pointer_operand(*plain), value(before, pointer));
      if (made) values_[&instruction] = from_number(b, plain, form(&instruction));
      return made;
    }
    llvm::Value* result = by_window(*plain, pointer);
    if (made) {
      plain->eraseFromParent();
      b.SetInsertPoint(&instruction);
      values_[&instruction] = from_number(b, result, form(&instruction));
    } else if (result) {
      instruction.replaceAllUsesWith(result);
    }
    return true;
  }

  /// One access for each memory that the address may lie in. Returns the result, or null of stores. The access itself
  /// stays, for the caller to remove.
  llvm::Value* by_window(llvm::Instruction& plain, llvm::Value* pointer) {
    llvm::IRBuilder<> b(&plain);
    llvm::Value* address = number(b, pointer);
    llvm::SmallVector<Memories, 3> places;
    for (const Memories memory : kPlaces)
      if (spaces_.of(pointer) & memory) places.push_back(memory);
    if (places.empty()) places.push_back(kInDevice);
    llvm::SmallVector<std::pair<llvm::Value*, llvm::BasicBlock*>, 3> results;
    const auto in = [&](llvm::Instruction* before, Memories memory) {
      llvm::IRBuilder<> at(before);
      llvm::Instruction* copy = plain.clone();
      copy->setOperand(pointer_operand(plain), from_number(at, address, form_in(memory)));
      at.Insert(copy);
      results.push_back({copy, copy->getParent()});
    };
    llvm::Instruction* rest = &plain;
    for (const Memories memory : llvm::ArrayRef(places).drop_back()) {
      llvm::IRBuilder<> at(rest);
      llvm::Value* inside = in_window(at, address, memory == kInShared ? kSharedWindow : kLocalWindow);
      llvm::Instruction *then = nullptr, *otherwise = nullptr;
      llvm::SplitBlockAndInsertIfThenElse(inside, rest->getIterator(), &then, &otherwise);
      in(then, memory);
      rest = otherwise;
    }
    in(rest, places.back());
    if (plain.getType()->isVoidTy()) return nullptr;
    if (results.size() == 1) return results[0].first;
    return join(results, plain);
  }

  /// The results meet again block by block, the innermost first.
  static llvm::Value* join(llvm::ArrayRef<std::pair<llvm::Value*, llvm::BasicBlock*>> results,
                           llvm::Instruction& plain) {
    llvm::Value* result = results.back().first;
    llvm::BasicBlock* from = results.back().second;
    for (const auto& [value, block] : llvm::reverse(results.drop_back())) {
      llvm::BasicBlock* meeting = block->getSingleSuccessor();
      auto* phi = llvm::PHINode::Create(plain.getType(), 2, "", meeting->begin());
      phi->addIncoming(value, block);
      phi->addIncoming(result, from);
      result = phi;
      from = meeting;
    }
    return result;
  }

  // -- calls --

  Result<bool> call_of(llvm::IRBuilder<>& b, llvm::CallInst& call) {
    if (metal_intrinsic_of(call)) {
      values_[&call] = &call;
      return false;
    }
    if (const auto known = kir::intrinsic_of(call)) return kir_call(b, call, *known);
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
      arguments.push_back(argument->getType()->isPointerTy() ? value(b, argument, form_of_parameter(*anew, i))
                                                             : argument);
    }
    llvm::CallInst* made = b.CreateCall(anew, arguments);
    made->setCallingConv(call.getCallingConv());
    if (call.isConvergent()) made->setConvergent();
    if (!call.getType()->isPointerTy()) {
      call.replaceAllUsesWith(made);
    } else {
      const Form returned = returned_form(*anew);
      values_[&call] = returned == form(&call) ? made : from_number(b, number_of(b, made, returned), form(&call));
    }
    return true;
  }

  /// The arena, the shared window and the stack begin at multiples of what programs mask by.
  bool mask(llvm::IRBuilder<>& b, llvm::CallInst& call) {
    llvm::Value* bits = b.CreateSExtOrTrunc(call.getArgOperand(1), b.getInt64Ty());
    llvm::Value* pointer = call.getArgOperand(0);
    values_[&call] = from_number(b, b.CreateAnd(number_of(b, value(b, pointer), form(pointer)), bits), form(&call));
    return true;
  }

  static Form form_of_parameter(const llvm::Function& anew, unsigned index) {
    llvm::Type* type = anew.getArg(index)->getType();
    if (!type->isPointerTy()) return Form::Number;
    switch (type->getPointerAddressSpace()) {
      case kThread:
        return Form::Stack;
      case kThreadgroup:
        return Form::Shared;
      case kConstant:
        return Form::Constant;
      default:
        return Form::Device;
    }
  }

  /// clang and our PTX reader lay the values out in a variable of their own, whose size says how long they are; what
  /// printf returns is their number.
  llvm::Value* print(llvm::IRBuilder<>& b, llvm::CallInst& call) {
    llvm::Value* values = call.getArgOperand(1);
    uint64_t bytes = 0, count = 0;
    if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(values))) {
      if (const auto size = local->getAllocationSize(module_.getDataLayout())) bytes = size->getFixedValue();
      llvm::Type* type = local->getAllocatedType();
      count = type->isStructTy() ? type->getStructNumElements() : (bytes + 7) / 8;
    }
    metal::build::call(b, MetalIntrinsic::Print,
                       {number(b, call.getArgOperand(0)),
                        bytes ? value(b, values, Form::Stack) : llvm::ConstantPointerNull::get(b.getPtrTy(kThread)),
                        b.getInt32(static_cast<uint32_t>(bytes))});
    return b.getInt32(static_cast<uint32_t>(count));
  }

  /// Each thread has a copy of all lanes' words.
  Result<bool> publish(llvm::IRBuilder<>& b, llvm::CallInst& call) {
    const auto* count = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(1));
    if (!count)
      return fail(ErrorCode::NotSupported, "metal: {}: '{}' of a number of words that varies is not supported",
                  kir::place_of(call), kir::name_of(kir::Intrinsic::WarpPublish).str());
    llvm::IRBuilder<> entry(&*call.getFunction()->getEntryBlock().getFirstInsertionPt());
    llvm::AllocaInst* all =
        entry.CreateAlloca(llvm::ArrayType::get(b.getInt32Ty(), kWarpLanes * count->getZExtValue()));
    metal::build::call(b, MetalIntrinsic::Publish,
                       {value(b, call.getArgOperand(0), Form::Stack), all, call.getArgOperand(1)});
    values_[&call] = all;
    return true;
  }

  llvm::Value* lies_in(llvm::IRBuilder<>& b, llvm::Value* pointer, Form which, uint64_t window) {
    const Form held = form(pointer);
    return held == Form::Number ? in_window(b, number(b, pointer), window) : b.getInt1(held == which);
  }

  Result<bool> kir_call(llvm::IRBuilder<>& b, llvm::CallInst& call, kir::Intrinsic which) {
    switch (which) {
      case kir::Intrinsic::IsShared:
        call.replaceAllUsesWith(lies_in(b, call.getArgOperand(0), Form::Shared, kSharedWindow));
        return true;
      case kir::Intrinsic::IsLocal:
        call.replaceAllUsesWith(lies_in(b, call.getArgOperand(0), Form::Stack, kLocalWindow));
        return true;
      case kir::Intrinsic::AssertFail: {
        llvm::SmallVector<llvm::Value*, 4> words;
        for (llvm::Value* argument : call.args())
          words.push_back(argument->getType()->isPointerTy() ? number(b, argument) : argument);
        metal::build::call(b, MetalIntrinsic::AssertFailed, words);
        return true;
      }
      case kir::Intrinsic::Vprintf:
        call.replaceAllUsesWith(print(b, call));
        return true;
      case kir::Intrinsic::WarpPublish:
        return publish(b, call);
      case kir::Intrinsic::IsConstant: {
        llvm::Value* data = number_of(b, metal::build::call(b, MetalIntrinsic::ModuleData), Form::Device);
        call.replaceAllUsesWith(
            b.CreateICmpULT(b.CreateSub(number(b, call.getArgOperand(0)), data), b.getInt64(constant_bytes_)));
        return true;
      }
      default:
        break;
    }
    if (call.getType()->isPointerTy() ||
        llvm::any_of(call.args(), [](const llvm::Value* a) { return a->getType()->isPointerTy(); }))
      return fail(ErrorCode::NotSupported, "metal: {}: '{}' is not supported yet", kir::place_of(call),
                  kir::name_of(which).str());
    return false;
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  PointerSpaces spaces_;
  uint64_t constant_bytes_;
  llvm::DenseMap<const llvm::Value*, llvm::Value*> values_;
  llvm::DenseMap<const llvm::Function*, llvm::Function*> anew_;
};

}  // namespace

Refusals assign_spaces(llvm::Module& module, uint64_t constant_bytes) {
  return Assignment(module, constant_bytes).run();
}

}  // namespace cupola::metal::build
