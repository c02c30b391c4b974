#include "backend/metal/build/raise/pointer_accesses.h"

#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "backend/metal/build/raise/pointer_forms.h"
#include "backend/metal/build/raise/spaces.h"
#include "kir/refusal.h"

namespace cupola::metal::build {
namespace {

constexpr Memories kPlaces[] = {kInShared, kInStack, kInDevice};

unsigned pointer_operand(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::StoreInst>(instruction) ? llvm::StoreInst::getPointerOperandIndex() : 0;
}

/// The access with numbers in place of pointers among its values; its result as it comes from memory.
llvm::Instruction* plain_access(const HeldPointers& pointers, llvm::IRBuilder<>& b, llvm::Instruction& instruction) {
  const unsigned pointer = pointer_operand(instruction);
  for (unsigned i = 0; i < instruction.getNumOperands(); ++i)
    if (llvm::Value* operand = instruction.getOperand(i); i != pointer && operand->getType()->isPointerTy())
      instruction.setOperand(i, pointers.as_integer(b, operand, b.getInt64Ty()));
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  if (!load || !load->getType()->isPointerTy()) return &instruction;
  auto* made = b.CreateAlignedLoad(b.getInt64Ty(), load->getPointerOperand(), load->getAlign(), load->isVolatile());
  if (load->isAtomic()) made->setAtomic(load->getOrdering(), load->getSyncScopeID());
  return made;
}

/// A result, and the block that it comes from.
using ResultFrom = std::pair<llvm::Value*, llvm::BasicBlock*>;

/// The results meet again block by block, the innermost first.
llvm::Value* join(llvm::ArrayRef<ResultFrom> results, llvm::Type* type) {
  llvm::Value* result = results.back().first;
  llvm::BasicBlock* from = results.back().second;
  for (const auto& [value, block] : llvm::reverse(results.drop_back())) {
    llvm::BasicBlock* meeting = block->getSingleSuccessor();
    auto* phi = llvm::PHINode::Create(type, 2, "", meeting->begin());
    phi->addIncoming(value, block);
    phi->addIncoming(result, from);
    result = phi;
    from = meeting;
  }
  return result;
}

/// One access for each memory that the address may lie in. Returns the result, or null of stores. The access itself
/// stays, for the caller to remove.
llvm::Value* by_window(const HeldPointers& pointers, llvm::Instruction& plain, llvm::Value* pointer) {
  llvm::IRBuilder<> b(&plain);
  llvm::Value* address = pointers.number(b, pointer);
  llvm::SmallVector<Memories, 3> places;
  for (const Memories memory : kPlaces)
    if (pointers.memories(pointer) & memory) places.push_back(memory);
  if (places.empty()) places.push_back(kInDevice);
  llvm::SmallVector<ResultFrom, 3> results;
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
  return results.size() == 1 ? results[0].first : join(results, plain.getType());
}

}  // namespace

Result<bool> rewrite_access(HeldPointers& pointers, llvm::Instruction& instruction) {
  if (llvm::isa<llvm::AtomicCmpXchgInst, llvm::AtomicRMWInst>(instruction))
    if (instruction.getOperand(1)->getType()->isPointerTy())
      return fail(ErrorCode::NotSupported, "metal: {}: atomics on pointers are not supported yet",
                  kir::place_of(instruction));
  llvm::IRBuilder<> b(&instruction);
  llvm::Value* pointer = instruction.getOperand(pointer_operand(instruction));
  llvm::Instruction* plain = plain_access(pointers, b, instruction);
  const bool made = plain != &instruction;
  if (pointers.form(pointer) != Form::Number) {
    llvm::IRBuilder<> before(plain);
    plain->setOperand(pointer_operand(*plain), pointers.value(before, pointer));
    if (made) pointers.hold(&instruction, from_number(b, plain, pointers.form(&instruction)));
    return made;
  }
  llvm::Value* result = by_window(pointers, *plain, pointer);
  if (made) {
    plain->eraseFromParent();
    b.SetInsertPoint(&instruction);
    pointers.hold(&instruction, from_number(b, result, pointers.form(&instruction)));
  } else if (result) {
    instruction.replaceAllUsesWith(result);
  }
  return true;
}

}  // namespace cupola::metal::build
