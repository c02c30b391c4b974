#include "backend/cpu/build/polling.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "backend/cpu/build/call_reach.h"
#include "backend/cpu/build/thread_context.h"

namespace cupola::cpu::build {
namespace {

using Functions = llvm::SmallPtrSet<const llvm::Function*, 16>;

bool communicates(const llvm::Instruction& instruction) {
  return instruction.isVolatile() || instruction.isAtomic() || llvm::isa<llvm::FenceInst>(instruction);
}

/// Functions that hold a communicating access themselves.
Functions communicating(llvm::Module& module) {
  Functions result;
  for (llvm::Function& function : module)
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (communicates(instruction)) result.insert(&function);
  return result;
}

/// Looks through changes of type that keep the bits.
const llvm::Value* bits_of(const llvm::Value* value) {
  while (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value)) value = cast->getOperand(0);
  return value;
}

/// A compare-and-swap retry, `do { seen = old; old = cas(p, seen, f(seen)); } while (old != seen)`: it goes round only
/// because another thread's swap came between, so nobody is waited for. A lock is none: it compares with a value of its
/// own choice.
bool is_retry(const llvm::Loop& loop) {
  const llvm::BasicBlock* exiting = loop.getExitingBlock();
  const llvm::BasicBlock* latch = loop.getLoopLatch();
  if (!exiting || !latch) return false;
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(exiting->getTerminator());
  if (!branch || !branch->isConditional()) return false;
  const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  const llvm::AtomicCmpXchgInst* exchange = nullptr;
  const auto result_of = [&](const llvm::Value* value, unsigned index) {
    const auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(bits_of(value));
    if (!extract || extract->getIndices() != llvm::ArrayRef<unsigned>{index}) return false;
    exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(extract->getAggregateOperand());
    return exchange != nullptr && loop.contains(exchange);
  };
  if (compare) {  // old == seen; that one of them is the expected value is checked below
    const bool first = result_of(compare->getOperand(0), 0);
    if (!first && !result_of(compare->getOperand(1), 0)) return false;
    const llvm::Value* other = compare->getOperand(first ? 1 : 0);
    if (!compare->isEquality() || bits_of(other) != bits_of(exchange->getCompareOperand())) return false;
  } else if (!result_of(branch->getCondition(), 1)) {
    return false;
  }
  const bool leaves_on_success =
      loop.contains(branch->getSuccessor(compare && compare->getPredicate() == llvm::ICmpInst::ICMP_NE ? 0 : 1));
  if (!leaves_on_success) return false;
  // The expected value is what memory held: the last exchange's answer, or a load of this turn.
  const llvm::Value* expected = bits_of(exchange->getCompareOperand());
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(expected)) return loop.contains(load);
  const auto* phi = llvm::dyn_cast<llvm::PHINode>(expected);
  if (!phi || phi->getParent() != loop.getHeader()) return false;
  const auto* again = llvm::dyn_cast<llvm::ExtractValueInst>(bits_of(phi->getIncomingValueForBlock(latch)));
  return again && again->getAggregateOperand() == exchange;
}

class LoopQuestion {
 public:
  LoopQuestion(const llvm::Loop& loop, const CallReach& reach, const Functions& sources)
      : loop_(loop), reach_(reach), sources_(sources) {}

  bool may_wait() {
    llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
    loop_.getExitingBlocks(exiting);
    if (exiting.empty()) return true;
    if (!loop_communicates() || is_retry(loop_)) return false;
    for (llvm::BasicBlock* block : exiting) add_condition(*block);
    for (size_t i = 0; i < slice_.size(); ++i)
      if (visit(*slice_[i])) return true;
    return false;
  }

 private:
  bool loop_communicates() const {
    for (llvm::BasicBlock* block : loop_.blocks())
      for (llvm::Instruction& instruction : *block) {
        if (communicates(instruction)) return true;
        const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (call && call_communicates(*call)) return true;
      }
    return false;
  }

  bool call_communicates(const llvm::CallBase& call) const {
    const auto any = [&](const CallReach::Functions& functions) {
      return llvm::any_of(functions, [&](const llvm::Function* f) { return sources_.contains(f); });
    };
    if (llvm::Function* callee = call.getCalledFunction()) return !callee->isDeclaration() && any(reach_.from(callee));
    return llvm::any_of(reach_.address_taken(), [&](llvm::Function* f) { return any(reach_.from(f)); });
  }

  /// One instruction that an exit depends on. True: it takes its value from memory.
  bool visit(llvm::Instruction& instruction) {
    if (instruction.mayReadFromMemory() && !instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load)) return true;
    // Which way a value came depends on the branches between, unless there is one way only.
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction); phi && ways_in_loop(*phi) > 1)
      for (llvm::BasicBlock* block : loop_.blocks()) add_condition(*block);
    for (llvm::Value* operand : instruction.operands()) add(operand);
    return false;
  }

  unsigned ways_in_loop(const llvm::PHINode& phi) const {
    return llvm::count_if(phi.blocks(), [&](const llvm::BasicBlock* block) { return loop_.contains(block); });
  }

  void add_condition(llvm::BasicBlock& block) {
    for (llvm::Value* operand : block.getTerminator()->operands()) add(operand);
  }

  void add(llvm::Value* value) {
    if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(value); instruction && loop_.contains(instruction))
      slice_.insert(instruction);
  }

  const llvm::Loop& loop_;
  const CallReach& reach_;
  const Functions& sources_;
  llvm::SetVector<llvm::Instruction*> slice_;
};

void count_down(llvm::BasicBlock& latch) {
  llvm::Instruction* end = latch.getTerminator();
  llvm::Value* context = context_of(*latch.getParent());
  llvm::IRBuilder<> builder(end);
  llvm::Value* address =
      builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), context, offsetof(image::cpu::ThreadContext, fuel));
  llvm::Value* left = builder.CreateSub(builder.CreateLoad(builder.getInt32Ty(), address), builder.getInt32(1));
  builder.CreateStore(left, address);
  llvm::Value* empty = builder.CreateICmpSLE(left, builder.getInt32(0));
  llvm::Instruction* then = llvm::SplitBlockAndInsertIfThen(empty, end->getIterator(), /*Unreachable=*/false);
  llvm::IRBuilder<> slow(then);
  call_service(slow, context, Service::poll, {});
}

}  // namespace

void instrument_polling(llvm::Module& module, const CallReach& reach) {
  const Functions sources = communicating(module);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    llvm::SmallSetVector<llvm::BasicBlock*, 8> latches;
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      if (!LoopQuestion(*loop, reach, sources).may_wait()) continue;
      llvm::SmallVector<llvm::BasicBlock*, 4> own;
      loop->getLoopLatches(own);
      latches.insert(own.begin(), own.end());
    }
    for (llvm::BasicBlock* latch : latches) count_down(*latch);
  }
}

}  // namespace cupola::cpu::build
