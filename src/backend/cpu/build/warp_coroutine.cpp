#include "backend/cpu/build/warp_coroutine.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Coroutines/CoroCleanup.h>
#include <llvm/Transforms/Coroutines/CoroEarly.h>
#include <llvm/Transforms/Coroutines/CoroSplit.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

#include <algorithm>
#include <bit>

#include "backend/cpu/build/block_votes.h"
#include "backend/cpu/build/coroutine_frame.h"
#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_turns.h"
#include "image/cpu_abi.h"
#include "kir/pass_analyses.h"

namespace cupola::cpu::build {
namespace {

using image::cpu::ThreadContext;
using llvm::BasicBlock;
using llvm::Value;

/// Marks the frame's size, which is known once the coroutine is split.
constexpr const char* kFrameBytes = "cupola.frame_bytes";

/// A loop that goes through memory in large steps if `are_far`.
struct FarLoop {
  BasicBlock* header;
  llvm::SmallVector<BasicBlock*, 2> latches;
  Value* are_far;
  llvm::SmallVector<std::pair<BasicBlock*, FarRows>, 2> rows;  ///< as ends of turns have them
};

bool is_latch(const FarLoop& loop, const BasicBlock* block) {
  return llvm::is_contained(loop.latches, block);
}

/// The loop at whose latch the mark stands. Null where passes have folded the marked loop, so that the mark stands in
/// the one around it: that one may stop at barriers.
const llvm::Loop* loop_of(const llvm::CallInst& mark, const llvm::LoopInfo& loops) {
  const llvm::Loop* loop = loops.getLoopFor(mark.getParent());
  if (!loop) return nullptr;
  if (!loop->isLoopInvariant(are_far(mark))) return nullptr;
  const auto meets = [](const BasicBlock* block) { return llvm::any_of(*block, is_block_barrier); };
  return llvm::any_of(loop->blocks(), meets) ? nullptr : loop;
}

/// The loops that marks name, without the marks. A turn that is written twice, for all lanes and for some, has two.
llvm::SmallVector<FarLoop, 4> take_far_loops(llvm::Function& function) {
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  llvm::SmallVector<FarLoop, 4> result;
  for (llvm::CallInst* mark : turn_marks(function)) {
    if (const llvm::Loop* loop = loop_of(*mark, loops)) {
      auto* made = llvm::find_if(result, [&](const FarLoop& other) { return other.header == loop->getHeader(); });
      if (made == result.end()) {
        made = &result.emplace_back(FarLoop{loop->getHeader(), {}, are_far(*mark), {}});
        loop->getLoopLatches(made->latches);
      }
      const FarRows rows = rows_of(*mark);
      const bool is_same = made->rows.empty() || made->rows.front().second.size() == rows.size();
      if (is_same && llvm::all_of(rows, [&](const FarRow& row) { return loop->isLoopInvariant(row.step); }))
        made->rows.emplace_back(mark->getParent(), rows);
    }
    mark->eraseFromParent();
  }
  return result;
}

/// The code with its barriers as places to stop at. Takes the frame's memory first and returns it.
class Coroutine {
 public:
  explicit Coroutine(llvm::Function& warp) : builder_(warp.getContext()) {
    llvm::SmallVector<llvm::Type*, 8> types{builder_.getPtrTy()};
    types.append(warp.getFunctionType()->param_begin(), warp.getFunctionType()->param_end());
    // Passes leave out what nobody calls, unless others may.
    made_ = llvm::Function::Create(llvm::FunctionType::get(builder_.getPtrTy(), types, false),
                                   llvm::GlobalValue::ExternalLinkage, warp.getName() + ".part", warp.getParent());
    made_->setPresplitCoroutine();
    made_->addFnAttrs(llvm::AttrBuilder(warp.getContext(), warp.getAttributes().getFnAttrs()));
    made_->setSubprogram(warp.getSubprogram());
    warp.setSubprogram(nullptr);
    made_->splice(made_->begin(), &warp);
    for (unsigned i = 0; i < warp.arg_size(); ++i) {
      warp.getArg(i)->replaceAllUsesWith(made_->getArg(i + 1));
      if (warp.hasParamAttribute(i, llvm::Attribute::NoUndef)) made_->addParamAttr(i + 1, llvm::Attribute::NoUndef);
    }
  }

  llvm::Function* make(llvm::ArrayRef<llvm::CallInst*> barriers, llvm::ArrayRef<FarLoop> loops) {
    begin();
    says_where_ = !barriers.empty() && !loops.empty();
    llvm::SmallVector<llvm::ReturnInst*, 4> returns;
    for (BasicBlock& block : *made_)
      if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) returns.push_back(end);
    make_ends();
    for (llvm::ReturnInst* end : returns) {
      llvm::IRBuilder<>(end).CreateBr(over_);
      end->eraseFromParent();
    }
    for (llvm::CallInst* barrier : barriers) stop(*barrier);
    for (const FarLoop& loop : loops) take_turns(loop);
    return made_;
  }

 private:
  Value* intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type*> types, llvm::ArrayRef<Value*> arguments) {
    return builder_.CreateIntrinsic(id, types, arguments);
  }
  Value* no_token() { return llvm::ConstantTokenNone::get(builder_.getContext()); }

  void begin() {
    BasicBlock& entry = made_->getEntryBlock();
    builder_.SetInsertPoint(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
    Value* null = llvm::ConstantPointerNull::get(builder_.getPtrTy());
    id_ = intrinsic(llvm::Intrinsic::coro_id, {}, {builder_.getInt32(kFrameAlignment), null, null, null});
    Value* size = intrinsic(llvm::Intrinsic::coro_size, {builder_.getInt64Ty()}, {});
    builder_.CreateCall(made_->getParent()->getOrInsertFunction(kFrameBytes, builder_.getVoidTy(), size->getType()),
                        {size});
    frame_ = intrinsic(llvm::Intrinsic::coro_begin, {}, {id_, made_->getArg(0)});
  }

  void make_ends() {
    cleanup_ = BasicBlock::Create(builder_.getContext(), "cleanup", made_);
    suspended_ = BasicBlock::Create(builder_.getContext(), "suspended", made_);
    over_ = BasicBlock::Create(builder_.getContext(), "over", made_);
    BasicBlock* never = BasicBlock::Create(builder_.getContext(), "never", made_);
    builder_.SetInsertPoint(over_);
    suspend(true, never);
    builder_.SetInsertPoint(never);
    builder_.CreateUnreachable();
    builder_.SetInsertPoint(cleanup_);
    intrinsic(llvm::Intrinsic::coro_free, {}, {id_, frame_});
    builder_.CreateBr(suspended_);
    builder_.SetInsertPoint(suspended_);
    intrinsic(llvm::Intrinsic::coro_end, {}, {frame_, builder_.getFalse(), no_token()});
    builder_.CreateRet(frame_);
  }

  void suspend_at(Stop where, BasicBlock* on) {
    if (says_where_)
      builder_.CreateStore(builder_.getInt64(static_cast<uint64_t>(where)),
                           builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), frame_, 1));
    suspend(false, on);
  }

  void suspend(bool is_last, BasicBlock* on) {
    Value* how = intrinsic(llvm::Intrinsic::coro_suspend, {}, {no_token(), builder_.getInt1(is_last)});
    llvm::SwitchInst* ways = builder_.CreateSwitch(how, suspended_, 2);
    ways->addCase(builder_.getInt8(0), on);
    ways->addCase(builder_.getInt8(1), cleanup_);
  }

  void stop(llvm::CallInst& barrier) {
    BasicBlock* before = barrier.getParent();
    BasicBlock* on = llvm::SplitBlock(before, &barrier);
    before->getTerminator()->eraseFromParent();
    builder_.SetInsertPoint(before);
    builder_.SetCurrentDebugLocation(barrier.getDebugLoc());
    Value* context = made_->getArg(1);
    if (is_reduction(barrier)) add_votes(builder_, context, barrier);
    suspend_at(Stop::Barrier, on);
    builder_.SetInsertPoint(&barrier);
    if (is_reduction(barrier)) barrier.replaceAllUsesWith(result_of_votes(builder_, context, barrier));
    barrier.eraseFromParent();
  }

  /// batch: -> header ... turn: -> header, or after some of them -> others: stop -> on: -> batch. What a turn leaves
  /// to the next is kept in the frame only where it stops: it passes through phis of `others`.
  void take_turns(const FarLoop& loop) {
    const auto make_block = [&](const char* name) { return BasicBlock::Create(builder_.getContext(), name, made_); };
    BasicBlock *batch = make_block("batch"), *turn = make_block("turn"), *others = make_block("others"),
               *on = make_block("on");
    for (llvm::PHINode& phi : loop.header->phis()) {
      auto *first = llvm::PHINode::Create(phi.getType(), 2, "", batch),
           *next = llvm::PHINode::Create(phi.getType(), 1, "", turn),
           *kept = llvm::PHINode::Create(phi.getType(), 1, "", others);
      for (const auto& [value, from] : llvm::zip(phi.incoming_values(), phi.blocks()))
        (is_latch(loop, from) ? next : first)->addIncoming(value, from);
      kept->addIncoming(next, turn);
      first->addIncoming(kept, on);
      phi.removeIncomingValueIf([](unsigned) { return true; }, /*DeletePHIIfEmpty=*/false);
      phi.addIncoming(first, batch);
      phi.addIncoming(next, turn);
    }
    for (BasicBlock* before :
         llvm::SmallSetVector<BasicBlock*, 4>(llvm::pred_begin(loop.header), llvm::pred_end(loop.header)))
      before->getTerminator()->replaceSuccessorWith(loop.header, is_latch(loop, before) ? turn : batch);

    builder_.SetInsertPoint(batch);
    builder_.SetCurrentDebugLocation(loop.header->getTerminator()->getDebugLoc());
    const uint32_t turns = turns_at_a_time(loop.rows.empty() ? 0 : loop.rows.front().second.size());
    Value* limit = builder_.CreateSelect(loop.are_far, builder_.getInt32(turns), builder_.getInt32(0));
    builder_.CreateBr(loop.header);
    builder_.SetInsertPoint(loop.header, loop.header->begin());
    llvm::PHINode* left = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    builder_.SetInsertPoint(turn);
    Value* left_now = builder_.CreateSub(left, builder_.getInt32(1));
    left->addIncoming(limit, batch);
    left->addIncoming(left_now, turn);
    builder_.CreateCondBr(builder_.CreateICmpEQ(left_now, builder_.getInt32(0)), others, loop.header);
    builder_.SetInsertPoint(others);
    fetch_ahead(builder_, rows_at(turn, loop), turns);
    suspend_at(Stop::Turn, on);
    builder_.SetInsertPoint(on);
    builder_.CreateBr(batch);
  }

  /// The rows of the turn that ends there.
  FarRows rows_at(BasicBlock* turn, const FarLoop& loop) {
    FarRows rows;
    if (loop.rows.empty()) return rows;
    for (unsigned i = 0; i < loop.rows.front().second.size(); ++i) {
      llvm::SSAUpdater address;
      address.Initialize(builder_.getPtrTy(), "row");
      address.AddAvailableValue(loop.header, llvm::Constant::getNullValue(builder_.getPtrTy()));
      for (const auto& [block, marked] : loop.rows) address.AddAvailableValue(block, marked[i].address);
      rows.push_back(loop.rows.front().second[i]);
      rows.back().address = address.GetValueAtEndOfBlock(turn);
    }
    return rows;
  }

  llvm::IRBuilder<> builder_;
  bool says_where_ = false;
  llvm::Function* made_ = nullptr;
  Value *id_ = nullptr, *frame_ = nullptr;
  BasicBlock *cleanup_ = nullptr, *suspended_ = nullptr, *over_ = nullptr;
};

/// What nobody needs would be kept in the frame. No InstCombine: it moves what is computed before a stop to where it is
/// used, so that all its operands would be kept instead.
void simplify(llvm::Function& function, llvm::TargetMachine& machine) {
  kir::PassAnalyses analyses(&machine);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::ADCEPass());
  passes.run(function, analyses.functions);
}

}  // namespace

bool is_block_barrier(const llvm::Instruction& instruction) {
  const auto service = service_of(instruction);
  if (service != Service::barrier && service != Service::barrier_reduce) return false;
  const auto is_zero = [&](unsigned i) {
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(i));
    return number && number->isZero();
  };
  return is_zero(1) && is_zero(2);
}

llvm::SmallVector<llvm::CallInst*, 8> block_barriers(llvm::Function& warp) {
  llvm::SmallVector<llvm::CallInst*, 8> barriers;
  for (llvm::Instruction& instruction : llvm::instructions(warp))
    if (is_block_barrier(instruction)) barriers.push_back(llvm::cast<llvm::CallInst>(&instruction));
  return barriers;
}

llvm::Function* make_coroutine(llvm::Function& warp, llvm::TargetMachine& machine) {
  simplify(warp, machine);
  const auto loops = take_far_loops(warp);
  const auto barriers = block_barriers(warp);
  llvm::Function* made = Coroutine(warp).make(barriers, loops);
  warp.eraseFromParent();
  keep_frame_out_of_loops(*made, machine);
  return made;
}

void split_coroutines(llvm::Module& module, llvm::TargetMachine& machine) {
  kir::PassAnalyses analyses(&machine);
  llvm::CGSCCPassManager split;
  split.addPass(llvm::CoroSplitPass(is_recomputed, /*OptimizeFrame=*/true));
  llvm::ModulePassManager passes;
  passes.addPass(llvm::CoroEarlyPass());
  passes.addPass(llvm::createModuleToPostOrderCGSCCPassAdaptor(std::move(split)));
  passes.addPass(llvm::CoroCleanupPass());
  passes.run(module, analyses.modules);
}

/// The second part is called by name; that the frame holds a pointer to it says that the warp is not over.
CoroutineParts parts_of(llvm::Function& first) {
  CoroutineParts parts{&first};
  first.setLinkage(llvm::GlobalValue::InternalLinkage);
  llvm::Module& module = *first.getParent();
  parts.second = module.getFunction((first.getName() + ".resume").str());
  llvm::SmallVector<llvm::CallInst*, 1> marks;
  for (llvm::Instruction& instruction : llvm::instructions(first))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        call && call->getCalledFunction() && call->getCalledFunction()->getName() == kFrameBytes)
      marks.push_back(call);
  for (llvm::CallInst* mark : marks) {
    const uint64_t bytes = llvm::cast<llvm::ConstantInt>(mark->getArgOperand(0))->getZExtValue();
    parts.frame_bytes = llvm::alignTo(bytes, kFrameAlignment);
    mark->eraseFromParent();
  }
  // The second word is what Stop is kept in: until the code says otherwise, a warp that is not over waits at a barrier.
  auto* some = llvm::ConstantExpr::getIntToPtr(
      llvm::ConstantInt::get(llvm::Type::getInt64Ty(first.getContext()), static_cast<uint64_t>(Stop::Barrier)),
      llvm::PointerType::get(first.getContext(), 0));
  for (const char* which : {".resume", ".destroy", ".cleanup"}) {
    llvm::Function* part = module.getFunction((first.getName() + which).str());
    if (!part) continue;
    for (llvm::Use& use : llvm::make_early_inc_range(part->uses()))
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(use.getUser())) store->setOperand(0, some);
  }
  return parts;
}

}  // namespace cupola::cpu::build
