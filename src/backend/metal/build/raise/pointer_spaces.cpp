#include "backend/metal/build/raise/pointer_spaces.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "backend/metal/build/raise/metal_intrinsics.h"
#include "backend/metal/build/raise/spaces.h"
#include "kir/address_space.h"
#include "kir/intrinsics.h"

namespace cupola::metal::build {
namespace {

/// What a pointer's type says; kir's spaces, and Metal's for what a launch gives.
std::optional<Memories> by_type(const llvm::Type* type) {
  switch (type->getPointerAddressSpace()) {
    case kir::kGlobalSpace:
    case kir::kConstantSpace:
    case kConstant:
      return kInDevice;
    case kir::kSharedSpace:
      return kInShared;
    case kir::kLocalSpace:
      return kInStack;
    default:
      return std::nullopt;
  }
}

/// A number of a pointer whose lowest bits alone are used, from which no address can be made.
bool asks_alignment(const llvm::Instruction& instruction) {
  if (!llvm::isa<llvm::PtrToIntInst, llvm::PtrToAddrInst>(instruction)) return false;
  return llvm::all_of(instruction.users(), [](const llvm::User* user) {
    const auto* mask = llvm::dyn_cast<llvm::BinaryOperator>(user);
    const auto* bits = mask ? llvm::dyn_cast<llvm::ConstantInt>(mask->getOperand(1)) : nullptr;
    return bits && mask->getOpcode() == llvm::Instruction::And && bits->getZExtValue() < 4096;
  });
}

bool is_pointer(const llvm::Value* value) {
  return value->getType()->isPointerTy();
}

}  // namespace

class SpacesSolver {
 public:
  SpacesSolver(llvm::Module& module, PointerSpaces& spaces) : module_(module), spaces_(spaces) {}

  void run() {
    do {
      changed_ = false;
      for (llvm::Function& function : module_)
        for (llvm::Instruction& instruction : llvm::instructions(function)) visit(instruction);
    } while (changed_);
  }

 private:
  void join(uint8_t& set, uint8_t more) {
    if ((set | more) == set) return;
    set |= more;
    changed_ = true;
  }

  void reaches(const llvm::Value* value, uint8_t more) { join(spaces_.known_[value], more); }

  /// The address is a number from here on, which any pointer may come from.
  void escapes(const llvm::Value* pointer) {
    if (!is_pointer(pointer) || by_type(pointer->getType())) return;  // a number of another kind: an offset
    uint8_t unknown = spaces_.unknown_;
    join(unknown, spaces_.of(pointer));
    spaces_.unknown_ = static_cast<Memories>(unknown);
  }

  void visit(llvm::Instruction& instruction) {
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return escapes(store->getValueOperand());
    if (auto* returned = llvm::dyn_cast<llvm::ReturnInst>(&instruction)) {
      if (returned->getReturnValue() && is_pointer(returned->getReturnValue()))
        join(spaces_.results_[instruction.getFunction()], spaces_.of(returned->getReturnValue()));
      return;
    }
    if (asks_alignment(instruction)) return;
    if (llvm::isa<llvm::PtrToIntInst, llvm::PtrToAddrInst, llvm::InsertValueInst, llvm::AtomicCmpXchgInst,
                  llvm::AtomicRMWInst>(instruction))
      for (const llvm::Value* operand : instruction.operands())
        if (operand != pointer_of(instruction)) escapes(operand);
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) pass_arguments(*call);
    if (is_pointer(&instruction) && !by_type(instruction.getType())) reaches(&instruction, origin(instruction));
  }

  static const llvm::Value* pointer_of(const llvm::Instruction& instruction) {
    return llvm::isa<llvm::AtomicCmpXchgInst, llvm::AtomicRMWInst>(instruction) ? instruction.getOperand(0) : nullptr;
  }

  void pass_arguments(const llvm::CallBase& call) {
    const llvm::Function* callee = call.getCalledFunction();
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      const llvm::Value* argument = call.getArgOperand(i);
      if (!is_pointer(argument)) continue;
      if (callee && !callee->isDeclaration() && i < callee->arg_size())
        reaches(callee->getArg(i), spaces_.of(argument));
      else if (!callee || !(callee->isIntrinsic() || kir::intrinsic_of(*callee)))
        escapes(argument);
    }
  }

  uint8_t origin(const llvm::Instruction& instruction) {
    if (llvm::isa<llvm::AllocaInst>(instruction)) return kInStack;
    if (llvm::isa<llvm::GetElementPtrInst, llvm::AddrSpaceCastInst, llvm::FreezeInst>(instruction))
      return spaces_.of(instruction.getOperand(0));
    if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction))
      return spaces_.of(select->getTrueValue()) | spaces_.of(select->getFalseValue());
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
      uint8_t all = kNowhere;
      for (const llvm::Value* incoming : phi->incoming_values()) all |= spaces_.of(incoming);
      return all;
    }
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      return load->getPointerAddressSpace() == kConstant ? kInDevice : spaces_.unknown();  // what a launch passes
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      if (const llvm::Function* callee = call->getCalledFunction()) {
        if (callee->getIntrinsicID() == llvm::Intrinsic::ptrmask) return spaces_.of(call->getArgOperand(0));
        if (kir::intrinsic_of(*callee) == kir::Intrinsic::WarpPublish) return kInStack;  // a copy of the thread's own
        if (!callee->isDeclaration()) return spaces_.of_result(*callee);
      }
    return spaces_.unknown();
  }

  llvm::Module& module_;
  PointerSpaces& spaces_;
  bool changed_ = false;
};

PointerSpaces::PointerSpaces(llvm::Module& module) {
  SpacesSolver(module, *this).run();
}

Memories PointerSpaces::of(const llvm::Value* pointer) const {
  if (const auto typed = by_type(pointer->getType())) return *typed;
  if (llvm::isa<llvm::UndefValue>(pointer)) return kNowhere;
  if (llvm::isa<llvm::ConstantPointerNull>(pointer)) return kNull;
  if (const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(pointer))
    return expression->getOpcode() == llvm::Instruction::AddrSpaceCast ? of(expression->getOperand(0)) : unknown_;
  return static_cast<Memories>(known_.lookup(pointer));
}

Memories PointerSpaces::of_result(const llvm::Function& function) const {
  return static_cast<Memories>(results_.lookup(&function));
}

}  // namespace cupola::metal::build
