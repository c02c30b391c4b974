#include "backend/cpu/build/turned_stores.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <utility>

#include "backend/cpu/build/last_store.h"
#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_steps.h"
#include "image/cpu_abi.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using image::cpu::ThreadContext;
using kir::Intrinsic;
using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

/// Columns that are nearer share lines, or lie in different sets of the first cache.
constexpr uint64_t kFarColumns = 512;

/// Of a function.
constexpr const char* kMark = "cupola-turned-stores";

/// A way from the kernel's begin to a block, by its branches: the conditions, and whether they must hold.
using Conditions = llvm::SmallVector<std::pair<Value*, bool>, 4>;

/// A value of thread (y, x), made of what thread (x, y) has.
class OfTurnedThread {
 public:
  bool can(Value* value) {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction) return true;
    if (const auto known = kir::intrinsic_of(*instruction)) return is_place_or_size(*known);
    if (llvm::isa<llvm::PHINode>(instruction) || instruction->mayReadOrWriteMemory() ||
        !llvm::isSafeToSpeculativelyExecute(instruction) || ++looked_at_ > kMost)
      return false;
    return llvm::all_of(instruction->operands(), [&](Value* operand) { return can(operand); });
  }

  Value* make(Value* value, llvm::IRBuilder<>& builder) {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction) return value;
    if (Value* made = made_.lookup(value)) return made;
    Instruction* copy = instruction->clone();
    if (const auto known = kir::intrinsic_of(*instruction)) {
      if (known == Intrinsic::TidX || known == Intrinsic::TidY)
        llvm::cast<llvm::CallInst>(copy)->setCalledFunction(
            kir::declare(*instruction->getModule(), known == Intrinsic::TidX ? Intrinsic::TidY : Intrinsic::TidX));
    } else {
      for (llvm::Use& operand : copy->operands()) operand.set(make(operand, builder));
    }
    made_[value] = builder.Insert(copy);
    return copy;
  }

 private:
  static constexpr unsigned kMost = 64;  ///< instructions

  unsigned looked_at_ = 0;
  llvm::DenseMap<Value*, Value*> made_;
};

class Turning {
 public:
  Turning(llvm::Function& function, const Dim3& shape)
      : function_(function),
        shape_(shape),
        dominators_(function),
        post_dominators_(function),
        loops_(dominators_),
        evolution_(function, loops_, dominators_) {}

  void run() {
    llvm::StoreInst* store = last_store();
    Conditions conditions;
    if (!store || !is_down_a_column(*store) || !take_conditions(*store->getParent(), conditions)) return;
    OfTurnedThread turned;
    for (const auto& [condition, holds] : conditions)
      if (!turned.can(condition)) return;
    if (turned.can(store->getPointerOperand())) turn(*store, conditions, turned);
  }

 private:
  // ---- whether ----

  /// The only store behind which a thread leaves memory alone; null: there is none, or other threads may learn of it.
  llvm::StoreInst* last_store() {
    llvm::StoreInst* last = nullptr;
    for (Instruction& instruction : llvm::instructions(function_)) {
      if (!is_understood(instruction)) return nullptr;
      auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (store && store->isSimple() && !loops_.getLoopFor(store->getParent()) && is_last_access(*store)) last = store;
    }
    return last;
  }

  /// No shared memory, and nothing that may wait or has an order with what others do.
  static bool is_understood(const Instruction& instruction) {
    if (const auto known = kir::intrinsic_of(instruction)) {
      const kir::Effect effect = kir::effect_of(*known);
      return effect == kir::Effect::kPure || effect == kir::Effect::kObserve;
    }
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      return load->isSimple() && !reads_window(*load);
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return store->isSimple();
    return llvm::isa<llvm::IntrinsicInst>(instruction) || !instruction.mayReadOrWriteMemory();
  }

  bool is_down_a_column(llvm::StoreInst& store) {
    const llvm::SCEV* place = (*evolution_).getSCEV(store.getPointerOperand());
    const uint64_t bytes = function_.getDataLayout().getTypeStoreSize(store.getValueOperand()->getType());
    const auto* along_y = llvm::dyn_cast_or_null<llvm::SCEVConstant>(Steps(*evolution_, Intrinsic::TidY).of(place));
    if (!along_y || along_y->getAPInt() != bytes) return false;
    const llvm::SCEV* along_x = Steps(*evolution_, Intrinsic::TidX).of(place);
    if (!along_x) return false;
    const auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(along_x);
    return !constant || constant->getAPInt().abs().uge(kFarColumns);
  }

  /// How threads come to the block. False: in more ways than one.
  bool take_conditions(BasicBlock& block, Conditions& conditions) const {
    for (BasicBlock* at = &block; at != &function_.getEntryBlock();) {
      BasicBlock* above = dominators_.getNode(at)->getIDom()->getBlock();
      if (!post_dominators_.dominates(at, above)) {
        auto* branch = llvm::dyn_cast<llvm::BranchInst>(above->getTerminator());
        if (!branch || at->getSinglePredecessor() != above || loops_.getLoopFor(above)) return false;
        conditions.push_back({branch->getCondition(), branch->getSuccessor(0) == at});
      }
      at = above;
    }
    return true;
  }

  // ---- doing it ----

  void turn(llvm::StoreInst& store, const Conditions& conditions, OfTurnedThread& turned) {
    llvm::Type* type = store.getValueOperand()->getType();
    llvm::IRBuilder<> builder(&store);
    Value* window =
        load_field(builder, context_of(function_), offsetof(ThreadContext, shared_window), builder.getPtrTy(), true);
    builder.CreateStore(store.getValueOperand(), place_in(window, type, Intrinsic::TidX, Intrinsic::TidY, builder));

    BasicBlock& end = *end_of_function();
    builder.SetInsertPoint(end.getTerminator());
    builder.SetCurrentDebugLocation(store.getDebugLoc());
    builder.CreateCall(kir::declare(*function_.getParent(), Intrinsic::Barrier),
                       {builder.getInt32(0), builder.getInt32(0)});
    Value* stores = builder.getTrue();
    for (const auto& [condition, holds] : llvm::reverse(conditions)) {
      Value* is_true = turned.make(condition, builder);
      stores = builder.CreateLogicalAnd(stores, holds ? is_true : builder.CreateNot(is_true));
    }
    Instruction* then = llvm::SplitBlockAndInsertIfThen(stores, end.getTerminator(), /*Unreachable=*/false);
    builder.SetInsertPoint(then);
    builder.SetCurrentDebugLocation(store.getDebugLoc());
    window =
        load_field(builder, context_of(function_), offsetof(ThreadContext, shared_window), builder.getPtrTy(), true);
    Value* value = builder.CreateLoad(type, place_in(window, type, Intrinsic::TidY, Intrinsic::TidX, builder));
    builder.CreateAlignedStore(value, turned.make(store.getPointerOperand(), builder), store.getAlign());
    store.eraseFromParent();
    split_end();
    function_.addFnAttr(kMark);
  }

  BasicBlock* end_of_function() const {
    for (BasicBlock& block : function_)
      if (llvm::isa<llvm::ReturnInst>(block.getTerminator())) return &block;
    llvm_unreachable("prepared code returns");
  }

  /// Nothing stands before the return in its block.
  void split_end() {
    BasicBlock* end = end_of_function();
    if (end->getTerminator() != &end->front()) llvm::SplitBlock(end, end->getTerminator());
  }

  /// The block's value for row `row` and column `column`.
  Value* place_in(Value* window, llvm::Type* type, Intrinsic row, Intrinsic column, llvm::IRBuilder<>& builder) {
    const auto read = [&](Intrinsic which) { return builder.CreateCall(kir::declare(*function_.getParent(), which)); };
    Value* index = builder.CreateAdd(builder.CreateMul(read(row), builder.getInt32(shape_.x)), read(column));
    return builder.CreateGEP(type, window, builder.CreateZExt(index, builder.getInt64Ty()));
  }

  llvm::Function& function_;
  const Dim3 shape_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree post_dominators_;
  llvm::LoopInfo loops_;
  Evolution evolution_;
};

}  // namespace

void turn_stores(llvm::Function& function, const Dim3& shape) {
  if (shape.x == shape.y && shape.x > 1 && shape.z == 1) Turning(function, shape).run();
}

bool has_turned_stores(const llvm::Function& code) {
  return code.hasFnAttribute(kMark);
}

}  // namespace cupola::cpu::build
