#include "backend/cpu/build/lone_loops.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "backend/cpu/build/lone_threads.h"
#include "backend/cpu/build/vector_prepare.h"
#include "backend/cpu/build/vector_shapes.h"

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Loop;
using llvm::Value;

/// Fewer turns are not worth bringing each lane's operands.
constexpr uint64_t kFewTurns = 16;
constexpr size_t kMostResults = 4;

// ---- which loops ----

/// A thread may do it at any time between two places where threads meet.
bool is_own(const Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return llvm::isTriviallyVectorizable(call->getIntrinsicID());
  return !llvm::isa<llvm::CallBase>(instruction) && !instruction.isAtomic() && !instruction.isVolatile();
}

/// Arrays of a thread's own lie in registers or in frames, where code for warps knows what to do with them.
bool uses_local_memory(const Instruction& instruction) {
  const Value* address = llvm::getLoadStorePointerOperand(&instruction);
  return address && llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address));
}

/// As far as a comparison with a constant tells.
bool has_few_turns(const BasicBlock& end) {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(end.getTerminator());
  const auto* condition = branch ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
  return condition && llvm::any_of(condition->operands(), [](const Value* operand) {
           const auto* bound = llvm::dyn_cast<llvm::ConstantInt>(operand);
           return bound && bound->getValue().abs().ult(kFewTurns);
         });
}

/// As far as the loop itself tells.
bool may_be_taken_out(const Loop& loop) {
  const BasicBlock *end = loop.getExitingBlock(), *exit = loop.getExitBlock();
  if (!loop.isInnermost() || !loop.getLoopPreheader() || !end || !exit || exit->getSinglePredecessor() != end ||
      has_few_turns(*end))
    return false;
  return llvm::all_of(loop.blocks(), [](const BasicBlock* block) {
    return llvm::all_of(*block, [](const Instruction& each) { return is_own(each) && !uses_local_memory(each); });
  });
}

// ---- taking one out ----

class Outline {
 public:
  explicit Outline(Loop& loop) : loop_(loop), kernel_(*loop.getHeader()->getParent()), context_(kernel_.getContext()) {
    for (BasicBlock* block : loop.blocks())
      for (Instruction& instruction : *block) look_at(instruction);
  }

  bool is_small() const { return results_.size() <= kMostResults; }

  llvm::Function* run() {
    llvm::Function* made = make_function();
    call(*made);
    return made;
  }

 private:
  void look_at(Instruction& instruction) {
    for (Value* operand : instruction.operands())
      if (llvm::isa<llvm::Argument>(operand) ||
          (llvm::isa<Instruction>(operand) && !loop_.contains(llvm::cast<Instruction>(operand))))
        operands_.insert(operand);
    if (llvm::any_of(instruction.users(), [&](llvm::User* user) { return is_outside(*user); }))
      results_.push_back(&instruction);
  }
  bool is_outside(llvm::User& user) const { return !loop_.contains(llvm::cast<Instruction>(&user)); }

  llvm::Type* result_type() const {
    llvm::SmallVector<llvm::Type*, kMostResults> types;
    for (const Instruction* result : results_) types.push_back(result->getType());
    if (types.empty()) return llvm::Type::getVoidTy(context_);
    return types.size() == 1 ? types.front() : llvm::StructType::get(context_, types);
  }

  llvm::Function* make_function() {
    llvm::SmallVector<llvm::Type*, 8> types;
    for (const Value* operand : operands_) types.push_back(operand->getType());
    auto* made = llvm::Function::Create(llvm::FunctionType::get(result_type(), types, /*isVarArg=*/false),
                                        llvm::GlobalValue::InternalLinkage, "lone.loop", kernel_.getParent());
    made->addFnAttrs(llvm::AttrBuilder(context_, kernel_.getAttributes().getFnAttrs()));
    llvm::ValueToValueMapTy map;
    for (const auto& [operand, argument] : llvm::zip(operands_, made->args())) map[operand] = &argument;
    auto* begin = BasicBlock::Create(context_, "", made);
    map[loop_.getLoopPreheader()] = begin;
    llvm::SmallVector<BasicBlock*, 4> copies;
    for (BasicBlock* block : loop_.blocks()) {
      copies.push_back(llvm::CloneBasicBlock(block, map, "", made));
      map[block] = copies.back();
    }
    auto* end = BasicBlock::Create(context_, "", made);
    map[loop_.getExitBlock()] = end;
    llvm::remapInstructionsInBlocks(copies, map);
    llvm::IRBuilder<>(begin).CreateBr(llvm::cast<BasicBlock>(map[loop_.getHeader()]));
    make_return(*end, map);
    return made;
  }

  void make_return(BasicBlock& end, llvm::ValueToValueMapTy& map) {
    llvm::IRBuilder<> builder(&end);
    llvm::SmallVector<Value*, kMostResults> values;
    for (Instruction* result : results_) values.push_back(map[result]);
    if (values.empty())
      builder.CreateRetVoid();
    else if (values.size() == 1)
      builder.CreateRet(values.front());
    else
      builder.CreateAggregateRet(values.data(), static_cast<unsigned>(values.size()));
  }

  /// Takes the loop's place.
  void call(llvm::Function& made) {
    BasicBlock *before = loop_.getLoopPreheader(), *end = loop_.getExitingBlock(), *exit = loop_.getExitBlock();
    Instruction* branch = before->getTerminator();
    llvm::IRBuilder<> builder(branch);
    builder.SetCurrentDebugLocation({});
    llvm::CallInst* found = builder.CreateCall(&made, operands_.getArrayRef());
    for (const auto& [i, result] : llvm::enumerate(results_)) {
      Value* value = results_.size() == 1 ? found : builder.CreateExtractValue(found, static_cast<unsigned>(i));
      result->replaceUsesWithIf(value, [&](llvm::Use& use) { return is_outside(*use.getUser()); });
    }
    exit->replacePhiUsesWith(end, before);
    const llvm::SmallVector<BasicBlock*, 4> blocks(loop_.blocks());
    builder.CreateBr(exit);
    branch->eraseFromParent();
    for (BasicBlock* block : blocks) block->dropAllReferences();
    for (BasicBlock* block : blocks) block->eraseFromParent();
  }

  Loop& loop_;
  llvm::Function& kernel_;
  llvm::LLVMContext& context_;
  llvm::SetVector<Value*> operands_;
  llvm::SmallVector<Instruction*, kMostResults> results_;
};

}  // namespace

void LoneLoops::take_out(llvm::Function& kernel, image::BlockClass blocks) {
  llvm::DominatorTree dominators(kernel);
  const llvm::LoopInfo loops(dominators);
  llvm::SmallVector<Loop*, 4> taken;
  for (Loop* loop : loops.getLoopsInPreorder())
    if (may_be_taken_out(*loop)) taken.push_back(loop);
  if (taken.empty()) return;
  const llvm::PostDominatorTree post_dominators(kernel);
  if (!obstacle(kernel, loops, post_dominators).empty()) return;
  const Shapes shapes(kernel, blocks, loops, post_dominators);
  llvm::erase_if(taken, [&](const Loop* loop) {
    return shapes.is_masked(loop->getHeader()) || !is_faster_alone(kernel, *loop, shapes, loops);
  });
  for (Loop* loop : taken)
    if (Outline outline(*loop); outline.is_small()) functions_.push_back(outline.run());
}

void LoneLoops::add(llvm::Function& function) {
  functions_.push_back(&function);
}

void LoneLoops::put_back(llvm::Function& code) const {
  for (llvm::Function* function : functions_)
    for (llvm::User* user : llvm::make_early_inc_range(function->users()))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user); call && call->getFunction() == &code) {
        llvm::InlineFunctionInfo info;
        llvm::InlineFunction(*call, info);
      }
}

LoneLoops::~LoneLoops() {
  for (llvm::Function* function : functions_) function->eraseFromParent();
}

}  // namespace cupola::cpu::build
