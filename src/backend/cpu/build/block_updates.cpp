#include "backend/cpu/build/block_updates.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include <optional>

#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_prefetch.h"
#include "image/cpu_abi.h"
#include "kir/float_atomics.h"

namespace cupola::cpu::build {
namespace {

using image::cpu::ThreadContext;
using llvm::AtomicRMWInst;
using llvm::Instruction;
using llvm::Value;

using Updates = llvm::SmallVector<AtomicRMWInst*, 4>;

/// What leaves a place as it is; null: not known of the operation.
llvm::Constant* neutral(const AtomicRMWInst& update) {
  llvm::Type* type = update.getType();
  const auto integer = [&](auto limit) -> llvm::Constant* {
    return type->isIntegerTy() ? llvm::ConstantInt::get(type, limit(type->getIntegerBitWidth())) : nullptr;
  };
  using enum AtomicRMWInst::BinOp;
  switch (update.getOperation()) {
    case Add:
    case Sub:
    case Or:
    case Xor:
    case UMax:
      return integer([](unsigned bits) { return llvm::APInt::getZero(bits); });
    case And:
    case UMin:
      return integer([](unsigned bits) { return llvm::APInt::getAllOnes(bits); });
    case Max:
      return integer([](unsigned bits) { return llvm::APInt::getSignedMinValue(bits); });
    case Min:
      return integer([](unsigned bits) { return llvm::APInt::getSignedMaxValue(bits); });
    case FAdd:
    case FSub:
      return type->isFloatTy() || type->isDoubleTy() ? llvm::ConstantFP::getNegativeZero(type) : nullptr;
    default:
      return nullptr;
  }
}

/// The operation that makes one update of many: what was subtracted is subtracted together.
AtomicRMWInst::BinOp gathering(AtomicRMWInst::BinOp operation) {
  if (operation == AtomicRMWInst::Sub) return AtomicRMWInst::Add;
  return operation == AtomicRMWInst::FSub ? AtomicRMWInst::FAdd : operation;
}

/// For as long as the launch runs: made of its parameters, or of where the module's variables lie.
bool stays(const Value* value) {
  if (llvm::isa<llvm::Argument, llvm::Constant>(value)) return true;
  const auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (!instruction) return false;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) {
    if (constant_field(*load) == offsetof(ThreadContext, module_data)) return true;
    const auto* from = llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(load->getPointerOperand()));
    return load->isSimple() && from && from->hasByValAttr() && stays(load->getPointerOperand());
  }
  if (!llvm::isa<llvm::GetElementPtrInst, llvm::CastInst>(instruction)) return false;
  return llvm::all_of(instruction->operands(), [](const llvm::Use& operand) { return stays(operand); });
}

bool may_be_gathered(const AtomicRMWInst& update) {
  return update.use_empty() && !update.isVolatile() && update.getOrdering() == llvm::AtomicOrdering::Monotonic &&
         neutral(update) && stays(update.getPointerOperand());
}

/// Memory that no other block has, and the launch's parameters.
bool is_own(const Value* address) {
  const Value* object = llvm::getUnderlyingObject(address);
  if (llvm::isa<llvm::AllocaInst>(object)) return true;
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(object))
    return argument->hasByValAttr() || argument == context_of(*argument->getParent());
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(object);
  const auto field = load ? place_in_context(*load->getPointerOperand(), *load->getFunction()) : std::nullopt;
  if (!field) return false;
  constexpr uint64_t kPlaces = offsetof(ThreadContext, places);
  return *field == offsetof(ThreadContext, shared_window) ||
         (*field >= kPlaces && *field < kPlaces + sizeof ThreadContext::places);
}

bool touches_others(const Instruction& instruction) {
  if (!instruction.mayReadOrWriteMemory()) return false;
  if (const Value* address = llvm::getLoadStorePointerOperand(&instruction)) return !is_own(address);
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return true;
  if (call->isAssumeLikeIntrinsic() || is_fetch(*call)) return false;
  bool some = false;
  for (const Value* argument : call->args()) {
    if (!argument->getType()->isPtrOrPtrVectorTy()) continue;
    if (argument->getType()->isVectorTy() || !is_own(argument)) return true;
    some = true;
  }
  return !some;
}

/// Others may learn of what it did, or it of what others did.
bool tells_others(const Instruction& instruction) {
  if (llvm::isa<llvm::FenceInst>(instruction)) return true;
  if (llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction)) return true;
  return (instruction.isVolatile() || instruction.isAtomic()) && touches_others(instruction);
}

/// Nothing where the code tells others.
Updates candidates(llvm::Function& code) {
  Updates found;
  for (Instruction& instruction : llvm::instructions(code)) {
    auto* update = llvm::dyn_cast<AtomicRMWInst>(&instruction);
    if (update && may_be_gathered(*update))
      found.push_back(update);
    else if (tells_others(instruction))
      return {};
  }
  return found;
}

class Gathering {
 public:
  Gathering(llvm::Function& code, llvm::ArrayRef<llvm::BranchInst*> turns)
      : code_(code), turns_(turns.begin(), turns.end()), updates_(candidates(code)) {}

  void run() {
    if (updates_.empty() || !llvm::all_of(updates_, [&](AtomicRMWInst* update) { return is_last(*update); })) return;
    for (AtomicRMWInst* update : updates_) gather(*update);
  }

 private:
  /// No thread looks at other blocks' memory once it, or one that it met, has made the update.
  bool is_last(AtomicRMWInst& update) const {
    llvm::SmallPtrSet<llvm::BasicBlock*, 16> seen;
    llvm::SmallVector<llvm::BasicBlock*, 16> left;
    const auto goes_by = [&](llvm::BasicBlock::iterator from, llvm::BasicBlock* block) {
      for (Instruction& instruction : llvm::make_range(from, block->end()))
        if (touches_others(instruction) && !is_alike(instruction, update)) return false;
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
      for (unsigned i = 0; i < block->getTerminator()->getNumSuccessors(); ++i)
        if (!(branch && i == 0 && turns_.contains(branch))) {
          llvm::BasicBlock* next = block->getTerminator()->getSuccessor(i);
          if (seen.insert(next).second) left.push_back(next);
        }
      return true;
    };
    if (!goes_by(std::next(update.getIterator()), update.getParent())) return false;
    while (!left.empty()) {
      llvm::BasicBlock* block = left.pop_back_val();
      if (!goes_by(block->begin(), block)) return false;
    }
    return true;
  }

  /// An update that comes to the same before or after the other one.
  bool is_alike(const Instruction& instruction, const AtomicRMWInst& update) const {
    const auto* other = llvm::dyn_cast<AtomicRMWInst>(&instruction);
    return other && llvm::is_contained(updates_, other) &&
           gathering(other->getOperation()) == gathering(update.getOperation()) && other->getType() == update.getType();
  }

  void gather(AtomicRMWInst& update) {
    llvm::IRBuilder<> builder(&*code_.getEntryBlock().getFirstInsertionPt());
    llvm::Type* type = update.getType();
    Value *all = builder.CreateAlloca(type), *some = builder.CreateAlloca(builder.getInt1Ty());
    builder.CreateStore(neutral(update), all);
    builder.CreateStore(builder.getFalse(), some);

    builder.SetInsertPoint(&update);
    Value *value = update.getValOperand(), *before = builder.CreateLoad(type, all);
    const AtomicRMWInst::BinOp operation = gathering(update.getOperation());
    builder.CreateStore(type->isFloatTy() ? kir::sum_in_global_memory(builder, before, value)
                                          : llvm::buildAtomicRMWValue(operation, builder, before, value),
                        all);
    builder.CreateStore(builder.getTrue(), some);

    llvm::SmallVector<llvm::ReturnInst*, 2> ends;
    for (llvm::BasicBlock& block : code_)
      if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) ends.push_back(end);
    for (llvm::ReturnInst* end : ends) make(update, *end, all, some);
    update.eraseFromParent();
  }

  /// The update of what was gathered, if there was one: the place may be none else.
  void make(AtomicRMWInst& update, llvm::ReturnInst& end, Value* all, Value* some) {
    llvm::IRBuilder<> builder(&end);
    Instruction* then = llvm::SplitBlockAndInsertIfThen(builder.CreateLoad(builder.getInt1Ty(), some),
                                                        end.getIterator(), /*Unreachable=*/false);
    builder.SetInsertPoint(then);
    auto* made = llvm::cast<AtomicRMWInst>(update.clone());
    made->setOperand(0, copy_of(builder, update.getPointerOperand()));
    made->setOperand(1, builder.CreateLoad(update.getType(), all));
    builder.Insert(made);
  }

  /// What stays, made anew: where it stands the block may not have come by.
  static Value* copy_of(llvm::IRBuilderBase& builder, Value* value) {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction) return value;
    Instruction* copy = instruction->clone();
    for (llvm::Use& operand : copy->operands()) operand.set(copy_of(builder, operand));
    return builder.Insert(copy);
  }

  llvm::Function& code_;
  const llvm::SmallPtrSet<const llvm::BranchInst*, 8> turns_;
  const Updates updates_;
};

}  // namespace

void gather_updates(llvm::Function& code, llvm::ArrayRef<llvm::BranchInst*> turns) {
  Gathering(code, turns).run();
}

}  // namespace cupola::cpu::build
