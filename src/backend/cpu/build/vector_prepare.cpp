#include "backend/cpu/build/vector_prepare.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/MergedLoadStoreMotion.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/FixIrreducible.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/UnifyFunctionExitNodes.h>

#include <algorithm>
#include <vector>

#include "backend/cpu/build/addresses_of_both_ways.h"
#include "backend/cpu/build/vector_shapes.h"
#include "kir/call_reach.h"
#include "kir/combine.h"
#include "kir/intrinsics.h"
#include "kir/pass_analyses.h"
#include "kir/unroll.h"

namespace cupola::cpu::build {
namespace {

constexpr size_t kMostInstructions = 4000;
/// Functions that are larger are called for one lane after the other, if they may be.
constexpr size_t kMostInlined = 200;
/// Of a warp's threads together; the rest of the local window is for what the code spills.
constexpr uint64_t kMostLocalBytes = 256 * 1024;

std::unexpected<Error> refuse(const std::string& why) {
  return fail(ErrorCode::NotSupported, "{}", why);
}

/// What the instruction asks of its own thread or of others, so that it is not the same called lane by lane with the
/// warp's context.
bool is_of_thread(const llvm::Instruction& instruction) {
  if (instruction.isVolatile() || instruction.isAtomic()) return true;
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (!call) return false;
  if (!call->getCalledFunction()) return true;
  const auto known = kir::intrinsic_of(*call);
  using enum kir::Intrinsic;
  if (!known) return false;
  return kir::effect_of(*known) == kir::Effect::kSync || known == TidX || known == TidY || known == TidZ ||
         known == LaneId || known == DeviceCall || known == LastError || known == Exit;
}

class Calls {
 public:
  Calls(llvm::Function& function, const kir::CallReach& reach) : function_(function), reach_(reach) {}

  Result<> inline_all() {
    std::vector<llvm::CallInst*> work = calls_of(function_.begin(), function_.end());
    while (!work.empty()) {
      llvm::CallInst* call = work.back();
      work.pop_back();
      llvm::Function* callee = call->getCalledFunction();
      if (!callee) return refuse("it calls through a pointer");
      if (callee->isDeclaration() || may_stay(*callee)) continue;
      if (function_.getInstructionCount() + callee->getInstructionCount() > kMostInstructions)
        return refuse("it is too large or recursive");
      llvm::InlineFunctionInfo inlining;
      if (!llvm::InlineFunction(*call, inlining).isSuccess()) return refuse("a function cannot be inlined");
      for (llvm::CallBase* inlined : inlining.InlinedCallSites)
        if (auto* one = llvm::dyn_cast<llvm::CallInst>(inlined)) work.push_back(one);
    }
    return {};
  }

 private:
  static std::vector<llvm::CallInst*> calls_of(llvm::Function::iterator begin, llvm::Function::iterator end) {
    std::vector<llvm::CallInst*> result;
    for (llvm::BasicBlock& block : llvm::make_range(begin, end))
      for (llvm::Instruction& instruction : block)
        if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) result.push_back(call);
    return result;
  }

  bool may_stay(llvm::Function& callee) {
    const auto [known, is_new] = may_stay_.try_emplace(&callee, false);
    if (!is_new || callee.getInstructionCount() <= kMostInlined) return known->second;
    return known->second = llvm::none_of(reach_.from(&callee), [](llvm::Function* one) {
             return llvm::any_of(llvm::instructions(*one), is_of_thread);
           });
  }

  llvm::Function& function_;
  const kir::CallReach& reach_;
  llvm::DenseMap<const llvm::Function*, bool> may_stay_;
};

/// A thread that ends before its return goes there: cupola.exit, and what follows a trap, after which no thread comes.
void close_dead_ends(llvm::Function& function) {
  llvm::BasicBlock* end = nullptr;
  for (llvm::BasicBlock& block : llvm::make_early_inc_range(function)) {
    llvm::Instruction* last = block.getTerminator();
    if (!llvm::isa<llvm::UnreachableInst>(last)) continue;
    if (llvm::Instruction* before = last->getPrevNode(); before && kir::intrinsic_of(*before) == kir::Intrinsic::Exit)
      before->eraseFromParent();
    if (!end) {
      end = llvm::BasicBlock::Create(function.getContext(), "end", &function);
      llvm::IRBuilder<>(end).CreateRetVoid();
    }
    llvm::IRBuilder<>(last).CreateBr(end);
    last->eraseFromParent();
  }
}

/// Ways that only lead to the return end there: nobody waits on them for others.
void join_at_return(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
    if (instruction.isLifetimeStartOrEnd()) instruction.eraseFromParent();
  llvm::EliminateUnreachableBlocks(function);
  for (llvm::BasicBlock& block : llvm::make_early_inc_range(function)) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || branch->isConditional() || &block == &function.getEntryBlock()) continue;
    if (&block.front() == branch && llvm::isa<llvm::ReturnInst>(branch->getSuccessor(0)->front()))
      llvm::TryToSimplifyUncondBranchFromEmptyBlock(&block);
  }
}

bool is_only_read(llvm::Argument& argument) {
  llvm::SmallSetVector<llvm::Value*, 8> addresses;
  addresses.insert(&argument);
  for (size_t i = 0; i < addresses.size(); ++i)
    for (llvm::Use& use : addresses[i]->uses()) {
      llvm::User* user = use.getUser();
      if (llvm::isa<llvm::LoadInst, llvm::CmpInst>(user)) continue;
      if (llvm::isa<llvm::GetElementPtrInst, llvm::AddrSpaceCastInst, llvm::PHINode, llvm::SelectInst>(user)) {
        addresses.insert(user);
        continue;
      }
      const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(user);
      if (!copy || &use != &copy->getRawSourceUse()) return false;
    }
  return true;
}

/// Each thread has its own copy of a parameter passed by value; the entry makes one for the warp.
void copy_written_parameters(llvm::Function& function) {
  const llvm::DataLayout& layout = function.getDataLayout();
  for (llvm::Argument& argument : function.args()) {
    if (!argument.hasByValAttr() || is_only_read(argument)) continue;
    llvm::IRBuilder<> builder(&function.getEntryBlock(), function.getEntryBlock().begin());
    llvm::Type* type = argument.getParamByValType();
    llvm::AllocaInst* copy = builder.CreateAlloca(type);
    copy->setAlignment(std::max(argument.getParamAlign().valueOrOne(), layout.getABITypeAlign(type)));
    argument.replaceAllUsesWith(copy);
    builder.CreateMemCpy(copy, copy->getAlign(), &argument, argument.getParamAlign(), layout.getTypeAllocSize(type));
  }
}

void run_passes(llvm::Function& function, llvm::FunctionPassManager passes) {
  kir::PassAnalyses analyses;
  passes.run(function, analyses.functions);
}

llvm::FunctionPassManager simplification() {
  llvm::FunctionPassManager passes;
  // Arrays that loops of a known few turns go through become registers.
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  kir::add_combine(passes);
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(kir::UnrollLoops());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopFullUnrollPass()));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  kir::add_combine(passes);
  // What both ways of a branch store at one place becomes one store behind them, which all lanes do together.
  passes.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().hoistCommonInsts(true)));
  passes.addPass(AddressesOfBothWays());
  passes.addPass(llvm::MergedLoadStoreMotionPass(llvm::MergedLoadStoreMotionOptions(/*SplitFooterBB=*/true)));
  passes.addPass(LinesOfBothWays());
  llvm::ScalarizerPassOptions scalarizer;
  scalarizer.ScalarizeLoadStore = true;
  passes.addPass(llvm::ScalarizerPass(scalarizer));
  return passes;
}

llvm::FunctionPassManager structure() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerSwitchPass());
  passes.addPass(llvm::UnifyFunctionExitNodesPass());
  passes.addPass(llvm::FixIrreduciblePass());
  passes.addPass(llvm::LoopSimplifyPass());
  return passes;
}

bool is_plain(llvm::Type* type) {
  if (const auto* structure = llvm::dyn_cast<llvm::StructType>(type))
    return llvm::all_of(structure->elements(), [](llvm::Type* part) { return is_plain(part) && !part->isStructTy(); });
  return type->isIntegerTy()
             ? type->getIntegerBitWidth() <= 64
             : type->isFloatTy() || type->isDoubleTy() || type->isHalfTy() || type->isPointerTy() || type->isVoidTy();
}

std::string obstacle_in(const llvm::Instruction& instruction) {
  constexpr const char* kUnusual = "it computes with values of an unusual type";
  constexpr const char* kVariable = "its local memory varies in size";
  if (!is_plain(instruction.getType())) return kUnusual;
  for (const llvm::Value* operand : instruction.operands())
    if (!llvm::isa<llvm::Function, llvm::BasicBlock, llvm::MetadataAsValue>(operand) && !is_plain(operand->getType()))
      return kUnusual;
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  const bool is_structure = (store ? store->getValueOperand()->getType() : instruction.getType())->isStructTy();
  if (is_structure && llvm::isa<llvm::PHINode, llvm::LoadInst, llvm::StoreInst>(instruction))
    return "it moves structures";
  if (const auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction); alloca && !alloca->isStaticAlloca())
    return kVariable;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (!call) return {};
  if (call->getIntrinsicID() == llvm::Intrinsic::stacksave) return kVariable;
  const auto known = kir::intrinsic_of(*call);
  using enum kir::Intrinsic;
  if (known == DeviceCall || known == LastError) return "it calls the device runtime";
  if (known == Exit) return "a thread ends in the middle of a block";
  return {};
}

}  // namespace

Result<> inline_calls(llvm::Function& function, const kir::CallReach& reach) {
  return Calls(function, reach).inline_all();
}

void prepare_for_lanes(llvm::Function& function) {
  copy_written_parameters(function);
  run_passes(function, simplification());
  close_dead_ends(function);  // simplification ends blocks at calls that do not return
  run_passes(function, structure());
  join_at_return(function);
  for (llvm::BasicBlock& block : function)
    if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator()); end && end != &block.front()) {
      llvm::SplitBlock(&block, end);
      break;
    }
}

std::string obstacle(llvm::Function& function, const llvm::LoopInfo& loops, const llvm::PostDominatorTree& post) {
  for (llvm::BasicBlock& block : function) {
    if (!llvm::isa<llvm::ReturnInst, llvm::BranchInst>(block.getTerminator()))
      return "it holds a branch of another kind";
    if (!post.getNode(&block)) return "a loop has no end";
    if (llvm::Loop* loop = loops.getLoopFor(&block); loop && (!loop->getLoopLatch() || !loop->getLoopPreheader()))
      return "a loop has several latches";
  }
  if (function.getInstructionCount() > kMostInstructions) return "it is too large";
  uint64_t local_bytes = 0;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (std::string why = obstacle_in(instruction); !why.empty()) return why;
    if (const auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
      local_bytes += kLanes * alloca->getAllocationSize(function.getDataLayout())->getFixedValue();
  }
  return local_bytes > kMostLocalBytes ? "its local memory is too large for 32 threads on one stack" : "";
}

}  // namespace cupola::cpu::build
