#include "backend/metal/build/air/lower_instructions.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "backend/metal/build/air/air_functions.h"
#include "backend/metal/build/air/lower_core.h"
#include "backend/metal/build/raise/metal_intrinsics.h"
#include "backend/metal/build/raise/spaces.h"
#include "base/format.h"
#include "kir/intrinsics.h"
#include "kir/refusal.h"

namespace cupola::metal::build {
namespace {

using llvm::AtomicRMWInst;
using llvm::Value;

// AIR's numbers.
constexpr uint32_t kRelaxed = 0, kSequential = 5, kOfThreadgroup = 1, kOfDevice = 2, kAllMemory = 3;

struct AtomicRow {
  AtomicRMWInst::BinOp operation;
  const char* name;  ///< in AIR
  unsigned locked;   ///< the number of `updated` in air_meanings.c
};
constexpr unsigned kLockedExchange = 0, kLockedCompare = 1, kLockedOr = 5;
constexpr AtomicRow kAtomics[] = {
    {AtomicRMWInst::Xchg, "xchg", kLockedExchange},
    {AtomicRMWInst::Add, "add.u", 2},
    {AtomicRMWInst::Sub, "sub.u", 3},
    {AtomicRMWInst::And, "and.u", 4},
    {AtomicRMWInst::Or, "or.u", kLockedOr},
    {AtomicRMWInst::Xor, "xor.u", 6},
    {AtomicRMWInst::Min, "min.s", 7},
    {AtomicRMWInst::Max, "max.s", 8},
    {AtomicRMWInst::UMin, "min.u", 9},
    {AtomicRMWInst::UMax, "max.u", 10},
};

class Lowering {
 public:
  Lowering(llvm::Function& function, Value& thread) : function_(function), core_(thread) {}

  Result<> run() {
    llvm::SmallVector<llvm::Instruction*, 64> all;
    for (llvm::Instruction& instruction : llvm::instructions(function_)) all.push_back(&instruction);
    for (llvm::Instruction* instruction : all) {
      TRY(check_types(*instruction));
      llvm::IRBuilder<> b(instruction);
      TRY(Value * value, replacement(b, *instruction));
      if (value == instruction) continue;
      if (value) instruction->replaceAllUsesWith(value);
      instruction->eraseFromParent();
    }
    return {};
  }

 private:
  static std::unexpected<Error> refuse(const llvm::Instruction& instruction, std::string_view what) {
    return fail(ErrorCode::NotSupported, "metal: {}: {}", kir::place_of(instruction), what);
  }

  static bool has_form(llvm::Type* type) {
    if (type->isIntegerTy()) return llvm::is_contained({1u, 8u, 16u, 32u, 64u}, type->getIntegerBitWidth());
    if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) return llvm::all_of(structure->elements(), has_form);
    return type->isVoidTy() || type->isFloatTy() || type->isHalfTy() || type->isPointerTy() || type->isLabelTy();
  }

  static Result<> check_types(const llvm::Instruction& instruction) {
    if (llvm::isa<llvm::ExtractElementInst>(instruction)) return {};  // of Metal's vectors, in a kernel's first lines
    const auto no = [&](llvm::Type* type) {
      std::string text;
      llvm::raw_string_ostream(text) << *type;
      return refuse(instruction, formatted("the type '{}' is not supported yet", text));
    };
    if (!has_form(instruction.getType())) return no(instruction.getType());
    for (const Value* operand : instruction.operand_values())
      if (!llvm::isa<llvm::Function>(operand) && !has_form(operand->getType())) return no(operand->getType());
    return {};
  }

  /// What stands in an instruction's place: itself, or another value; null for nothing, where it has no value.
  Result<Value*> replacement(llvm::IRBuilder<>& b, llvm::Instruction& instruction) {
    switch (instruction.getOpcode()) {
      case llvm::Instruction::Load:
        return instruction.isAtomic() ? atomic_load(b, llvm::cast<llvm::LoadInst>(instruction)) : &instruction;
      case llvm::Instruction::Store:
        return instruction.isAtomic() ? atomic_store(b, llvm::cast<llvm::StoreInst>(instruction)) : &instruction;
      case llvm::Instruction::AtomicRMW:
        return update(b, llvm::cast<AtomicRMWInst>(instruction));
      case llvm::Instruction::AtomicCmpXchg:
        return exchange(b, llvm::cast<llvm::AtomicCmpXchgInst>(instruction));
      case llvm::Instruction::Fence:
        return fence(b, llvm::cast<llvm::FenceInst>(instruction));
      case llvm::Instruction::Unreachable:
        return leave(b);
      case llvm::Instruction::Alloca:
        if (!llvm::cast<llvm::AllocaInst>(instruction).isStaticAlloca())
          return refuse(instruction, "local arrays of a size that varies are not supported");
        return &instruction;
      case llvm::Instruction::Call:
        return call(b, llvm::cast<llvm::CallInst>(instruction));
      case llvm::Instruction::Freeze:  // the MSL printer has none either: Apple's modules hold no such instruction
        return instruction.getOperand(0);
      case llvm::Instruction::FRem:
      case llvm::Instruction::UIToFP:
      case llvm::Instruction::SIToFP:
      case llvm::Instruction::FPToUI:
      case llvm::Instruction::FPToSI:
        return core_.arithmetic(b, instruction);
      default:
        return &instruction;
    }
  }

  /// Control never comes here, but for a thread that failed: Apple's compiler must not conclude that it does not.
  Value* leave(llvm::IRBuilder<>& b) {
    llvm::Type* type = function_.getReturnType();
    if (type->isVoidTy())
      b.CreateRetVoid();
    else
      b.CreateRet(llvm::Constant::getNullValue(type));
    return nullptr;
  }

  // -- calls --

  Result<Value*> call(llvm::IRBuilder<>& b, llvm::CallInst& instruction) {
    llvm::Function* callee = instruction.getCalledFunction();
    if (!callee) return refuse(instruction, "a call of what is no function");
    if (!callee->isDeclaration()) return &instruction;
    const llvm::StringRef name = callee->getName();
    if (callee->isIntrinsic()) {
      TRY(Value * value, core_.call(b, instruction));
      if (!value && !instruction.getType()->isVoidTy())
        return refuse(instruction, formatted("'{}' is not supported yet", name.str()));
      return value;
    }
    const auto known = kir::intrinsic_of(instruction);
    if (known == kir::Intrinsic::Clock || known == kir::Intrinsic::GlobalTimer)
      return refuse(instruction, "Metal has no clock that a kernel can read");
    if (known == kir::Intrinsic::Barrier || known == kir::Intrinsic::BarrierReduce)
      for (const unsigned i : {0u, 1u})
        if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(instruction.getArgOperand(i));
            !number || !number->isZero())
          return refuse(instruction, "barriers other than those of all of the block's threads are not supported yet");
    llvm::Function* meaning = core_.meaning(*function_.getParent(), name);
    if (!meaning) return refuse(instruction, formatted("'{}' is not supported yet", kir::demangled(name)));
    const llvm::SmallVector<Value*, 8> arguments(instruction.args());
    return core_.call_meaning(b, *meaning, arguments);
  }

  // -- atomics --

  Value* number(llvm::IRBuilder<>& b, uint32_t value) { return b.getInt32(value); }

  Value* atomic_call(llvm::IRBuilder<>& b, llvm::StringRef operation, Value* pointer, llvm::ArrayRef<Value*> values) {
    const bool shared = pointer->getType()->getPointerAddressSpace() == kThreadgroup;
    llvm::SmallVector<Value*, 6> arguments = {pointer};
    arguments.append(values.begin(), values.end());
    arguments.append({number(b, kRelaxed), number(b, shared ? kOfThreadgroup : kOfDevice), b.getTrue()});
    return call_air(b, formatted("air.atomic.{}.{}.i32", shared ? "local" : "global", operation.str()), arguments);
  }

  /// A function of the library for the pointer's memory: "locked", "exchange".
  Value* of_space(llvm::IRBuilder<>& b, llvm::StringRef name, llvm::ArrayRef<Value*> arguments) {
    const bool shared = arguments[0]->getType()->getPointerAddressSpace() == kThreadgroup;
    llvm::Function* meaning =
        core_.meaning(*function_.getParent(), formatted("{}.{}", name.str(), shared ? "shared" : "device"));
    return core_.call_meaning(b, *meaning, arguments);
  }

  /// Other threads see neither a thread's own memory nor changes of constants.
  static bool is_shared_by_threads(const Value& pointer) {
    const unsigned space = pointer.getType()->getPointerAddressSpace();
    return space == kDevice || space == kThreadgroup;
  }

  Result<Value*> atomic_load(llvm::IRBuilder<>& b, llvm::LoadInst& load) {
    llvm::Type* type = load.getType();
    const uint64_t bits = type->getPrimitiveSizeInBits();
    Value* pointer = load.getPointerOperand();
    if (type->isPointerTy()) return refuse(load, "atomic loads of pointers are not supported yet");
    if (bits < 32 || !is_shared_by_threads(*pointer)) {  // read whole by any access
      load.setAtomic(llvm::AtomicOrdering::NotAtomic);
      load.setVolatile(true);
      return &load;
    }
    Value* word = bits == 64 ? of_space(b, "locked", {pointer, number(b, kLockedOr), b.getInt64(0), b.getInt64(0)})
                             : atomic_call(b, "load", pointer, {});
    return b.CreateBitCast(word, type);
  }

  Result<Value*> atomic_store(llvm::IRBuilder<>& b, llvm::StoreInst& store) {
    llvm::Type* type = store.getValueOperand()->getType();
    const uint64_t bits = type->getPrimitiveSizeInBits();
    Value* pointer = store.getPointerOperand();
    if (type->isPointerTy()) return refuse(store, "atomic stores of pointers are not supported yet");
    if (bits < 32 || !is_shared_by_threads(*pointer)) {
      store.setAtomic(llvm::AtomicOrdering::NotAtomic);
      store.setVolatile(true);
      return &store;
    }
    Value* value = b.CreateBitCast(store.getValueOperand(), b.getIntNTy(static_cast<unsigned>(bits)));
    if (bits == 64)
      of_space(b, "locked", {pointer, number(b, kLockedExchange), value, b.getInt64(0)});
    else
      atomic_call(b, "store", pointer, {value});
    return nullptr;
  }

  Result<Value*> update(llvm::IRBuilder<>& b, AtomicRMWInst& instruction) {
    Value* pointer = instruction.getPointerOperand();
    if (!is_shared_by_threads(*pointer)) {
      llvm::LoadInst* before = b.CreateLoad(instruction.getType(), pointer);
      b.CreateStore(llvm::buildAtomicRMWValue(instruction.getOperation(), b, before, instruction.getValOperand()),
                    pointer);
      return before;
    }
    const bool is_word = instruction.getType()->isIntegerTy(32);
    if (!is_word && !instruction.getType()->isIntegerTy(64))
      return refuse(instruction, "atomics on other than integers of 32 and 64 bits are not supported");
    for (const AtomicRow& row : kAtomics) {
      if (row.operation != instruction.getOperation()) continue;
      if (is_word) return atomic_call(b, row.name, pointer, {instruction.getValOperand()});
      return of_space(b, "locked", {pointer, number(b, row.locked), instruction.getValOperand(), b.getInt64(0)});
    }
    return refuse(instruction, formatted("atomic '{}' is not supported yet",
                                         AtomicRMWInst::getOperationName(instruction.getOperation()).str()));
  }

  Result<Value*> exchange(llvm::IRBuilder<>& b, llvm::AtomicCmpXchgInst& instruction) {
    Value* pointer = instruction.getPointerOperand();
    Value* expected = instruction.getCompareOperand();
    Value* found = nullptr;
    if (!is_shared_by_threads(*pointer)) {
      found = b.CreateLoad(expected->getType(), pointer);
      b.CreateStore(b.CreateSelect(b.CreateICmpEQ(found, expected), instruction.getNewValOperand(), found), pointer);
    } else if (expected->getType()->isIntegerTy(32)) {
      found = of_space(b, "exchange", {pointer, expected, instruction.getNewValOperand()});
    } else if (expected->getType()->isIntegerTy(64)) {
      found = of_space(b, "locked", {pointer, number(b, kLockedCompare), instruction.getNewValOperand(), expected});
    } else {
      return refuse(instruction, "atomics on other than integers of 32 and 64 bits are not supported");
    }
    Value* result = b.CreateInsertValue(llvm::PoisonValue::get(instruction.getType()), found, 0);
    return b.CreateInsertValue(result, b.CreateICmpEQ(found, expected), 1);
  }

  Value* fence(llvm::IRBuilder<>& b, llvm::FenceInst& instruction) {
    llvm::SmallVector<llvm::StringRef, 8> names;
    instruction.getContext().getSyncScopeNames(names);
    const llvm::StringRef scope = names[instruction.getSyncScopeID()];
    if (scope != "singlethread")
      call_air(
          b, "air.atomic.fence",
          {number(b, kAllMemory), number(b, kSequential), number(b, scope == "block" ? kOfThreadgroup : kOfDevice)});
    return nullptr;
  }

  llvm::Function& function_;
  LowerCore core_;
};

}  // namespace

Result<> lower_instructions(llvm::Function& function, llvm::Value& thread) {
  return Lowering(function, thread).run();
}

}  // namespace cupola::metal::build
