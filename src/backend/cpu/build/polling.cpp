#include "backend/cpu/build/polling.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/CycleAnalysis.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "backend/cpu/build/thread_context.h"
#include "kir/call_reach.h"

namespace cupola::cpu::build {
namespace {

constexpr const char* kDoesNotWait = "cupola.does_not_wait";

bool communicates(const llvm::Instruction& instruction) {
  return instruction.isVolatile() || instruction.isAtomic() || llvm::isa<llvm::FenceInst>(instruction);
}

/// Which functions communicate; each is looked through when it is first asked for.
class Callees {
 public:
  explicit Callees(const kir::CallReach& reach) : reach_(reach) {}

  /// Whether what is called does, or what that may call.
  bool communicate(const llvm::CallBase& call) {
    if (llvm::Function* callee = call.getCalledFunction()) return !callee->isDeclaration() && any_from(callee);
    return llvm::any_of(reach_.address_taken(), [&](llvm::Function* function) { return any_from(function); });
  }

 private:
  bool any_from(llvm::Function* function) {
    return llvm::any_of(reach_.from(function), [&](llvm::Function* each) { return holds_access(*each); });
  }

  bool holds_access(llvm::Function& function) {
    const auto [known, is_new] = known_.try_emplace(&function, false);
    if (is_new) known->second = llvm::any_of(llvm::instructions(function), communicates);
    return known->second;
  }

  const kir::CallReach& reach_;
  llvm::DenseMap<const llvm::Function*, bool> known_;
};

/// Looks through changes of type that keep the bits.
const llvm::Value* bits_of(const llvm::Value* value) {
  while (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value)) value = cast->getOperand(0);
  return value;
}

using Blocks = llvm::SmallVector<llvm::BasicBlock*, 4>;

Blocks exiting_blocks(const llvm::Cycle& cycle) {
  Blocks result;
  cycle.getExitingBlocks(result);
  return result;
}

/// Blocks with an edge back to the header. Every way round passes one of these or stays in an inner cycle, also where
/// the cycle has several entries.
Blocks latches(const llvm::Cycle& cycle) {
  Blocks result;
  for (llvm::BasicBlock* block : llvm::predecessors(cycle.getHeader()))
    if (cycle.contains(block) && !llvm::is_contained(result, block)) result.push_back(block);
  return result;
}

bool contains(const llvm::Cycle& cycle, const llvm::Instruction* instruction) {
  return cycle.contains(instruction->getParent());
}

/// A compare-and-swap retry, `do { seen = old; old = cas(p, seen, f(seen)); } while (old != seen)`: it goes round only
/// because another thread's swap came between, so nobody is waited for. A lock is none: it compares with a value of its
/// own choice.
bool is_retry(const llvm::Cycle& cycle) {
  const Blocks exiting = exiting_blocks(cycle), latch = latches(cycle);
  if (!cycle.isReducible() || exiting.size() != 1 || latch.size() != 1) return false;
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(exiting[0]->getTerminator());
  if (!branch || !branch->isConditional()) return false;
  const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  const llvm::AtomicCmpXchgInst* exchange = nullptr;
  const auto result_of = [&](const llvm::Value* value, unsigned index) {
    const auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(bits_of(value));
    if (!extract || extract->getIndices() != llvm::ArrayRef<unsigned>{index}) return false;
    exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(extract->getAggregateOperand());
    return exchange != nullptr && contains(cycle, exchange);
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
      cycle.contains(branch->getSuccessor(compare && compare->getPredicate() == llvm::ICmpInst::ICMP_NE ? 0 : 1));
  if (!leaves_on_success) return false;
  // The expected value is what memory held: the last exchange's answer, or a load of this turn.
  const llvm::Value* expected = bits_of(exchange->getCompareOperand());
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(expected)) return contains(cycle, load);
  const auto* phi = llvm::dyn_cast<llvm::PHINode>(expected);
  if (!phi || phi->getParent() != cycle.getHeader()) return false;
  const auto* again = llvm::dyn_cast<llvm::ExtractValueInst>(bits_of(phi->getIncomingValueForBlock(latch[0])));
  return again && again->getAggregateOperand() == exchange;
}

/// By how much `value` grows in each turn: a phi of the header, or what that becomes in the next turn. Nothing: it does
/// not grow by a constant.
std::optional<int64_t> step_of(const llvm::Value* value, const llvm::Cycle& cycle, const llvm::BasicBlock* latch) {
  const auto counted = [&](const llvm::PHINode* phi) -> const llvm::BinaryOperator* {
    if (!phi || phi->getParent() != cycle.getHeader()) return nullptr;
    const auto* next = llvm::dyn_cast<llvm::BinaryOperator>(phi->getIncomingValueForBlock(latch));
    const bool adds = next && next->getOpcode() == llvm::Instruction::Add && next->getOperand(0) == phi;
    return adds && llvm::isa<llvm::ConstantInt>(next->getOperand(1)) ? next : nullptr;
  };
  const auto* phi = llvm::dyn_cast<llvm::PHINode>(value);
  const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (!phi && sum) phi = llvm::dyn_cast<llvm::PHINode>(sum->getOperand(0));
  const llvm::BinaryOperator* next = counted(phi);
  if (!next || (sum && sum != next)) return std::nullopt;
  const llvm::APInt& step = llvm::cast<llvm::ConstantInt>(next->getOperand(1))->getValue();
  return step.isSignedIntN(64) ? std::optional(step.getSExtValue()) : std::nullopt;
}

/// A loop that goes on while a number that grows in each turn is below another one, or the other way round, ends by
/// itself, whatever it is compared with: nobody is waited for. `for (e = offsets[v]; e < offsets[v + 1]; ++e)`.
bool counts(const llvm::Cycle& cycle, const llvm::BasicBlock& exiting) {
  const Blocks latch = latches(cycle);
  if (!cycle.isReducible() || latch.size() != 1) return false;
  if (&exiting != cycle.getHeader() && &exiting != latch[0]) return false;  // not asked in each turn
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(exiting.getTerminator());
  const auto* compare =
      branch && branch->isConditional() ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
  if (!compare) return false;
  for (unsigned i = 0; i < 2; ++i) {
    const std::optional<int64_t> step = step_of(compare->getOperand(i), cycle, latch[0]);
    if (!step) continue;
    llvm::CmpInst::Predicate goes_on = i == 0 ? compare->getPredicate() : compare->getSwappedPredicate();
    if (!cycle.contains(branch->getSuccessor(0))) goes_on = llvm::CmpInst::getInversePredicate(goes_on);
    using enum llvm::CmpInst::Predicate;
    if (*step > 0 && (goes_on == ICMP_SLT || goes_on == ICMP_ULT)) return true;
    if (*step < 0 && (goes_on == ICMP_SGT || goes_on == ICMP_UGT)) return true;
  }
  return false;
}

class CycleQuestion {
 public:
  CycleQuestion(const llvm::Cycle& cycle, Callees& callees) : cycle_(cycle), callees_(callees) {}

  bool may_wait() {
    const Blocks exiting = exiting_blocks(cycle_);
    if (exiting.empty()) return true;
    const auto is_marked = [](llvm::BasicBlock* latch) { return latch->getTerminator()->getMetadata(kDoesNotWait); };
    if (llvm::any_of(latches(cycle_), is_marked)) return false;
    if (!cycle_communicates() || is_retry(cycle_)) return false;
    for (llvm::BasicBlock* block : exiting)
      if (!counts(cycle_, *block)) add_condition(*block);
    for (size_t i = 0; i < slice_.size(); ++i)
      if (visit(*slice_[i])) return true;
    return false;
  }

 private:
  bool cycle_communicates() const {
    for (llvm::BasicBlock* block : cycle_.blocks())
      for (llvm::Instruction& instruction : *block) {
        if (communicates(instruction)) return true;
        const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (call && callees_.communicate(*call)) return true;
      }
    return false;
  }

  /// One instruction that an exit depends on. True: it takes its value from memory.
  bool visit(llvm::Instruction& instruction) {
    if (instruction.mayReadFromMemory() && !instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load)) return true;
    // Which way a value came depends on the branches between, unless there is one way only.
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction); phi && ways_in_cycle(*phi) > 1)
      for (llvm::BasicBlock* block : cycle_.blocks()) add_condition(*block);
    for (llvm::Value* operand : instruction.operands()) add(operand);
    return false;
  }

  unsigned ways_in_cycle(const llvm::PHINode& phi) const {
    return llvm::count_if(phi.blocks(), [&](const llvm::BasicBlock* block) { return cycle_.contains(block); });
  }

  void add_condition(llvm::BasicBlock& block) {
    for (llvm::Value* operand : block.getTerminator()->operands()) add(operand);
  }

  void add(llvm::Value* value) {
    if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(value); instruction && contains(cycle_, instruction))
      slice_.insert(instruction);
  }

  const llvm::Cycle& cycle_;
  Callees& callees_;
  llvm::SetVector<llvm::Instruction*> slice_;
};

template <typename Visit>
void each_waiting_cycle(llvm::Function& function, Callees& callees, Visit visit) {
  llvm::CycleInfo cycles;
  cycles.compute(function);
  llvm::SmallVector<llvm::Cycle*, 16> work(cycles.toplevel_cycles());
  for (size_t i = 0; i < work.size(); ++i) {
    llvm::append_range(work, work[i]->children());
    if (CycleQuestion(*work[i], callees).may_wait()) visit(*work[i]);
  }
}

void count_down(llvm::BasicBlock& block) {
  llvm::Instruction* end = block.getTerminator();
  llvm::Value* context = context_of(*block.getParent());
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

void instrument_polling(llvm::Module& module, const kir::CallReach& reach) {
  Callees callees(reach);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    llvm::SmallSetVector<llvm::BasicBlock*, 8> ends;
    each_waiting_cycle(function, callees, [&](const llvm::Cycle& cycle) { ends.insert_range(latches(cycle)); });
    for (llvm::BasicBlock* end : ends) count_down(*end);
  }
}

void mark_as_not_waiting(llvm::Instruction& branch) {
  branch.setMetadata(kDoesNotWait, llvm::MDNode::get(branch.getContext(), {}));
}

llvm::SmallVector<llvm::BasicBlock*, 4> waiting_loops(llvm::Function& function, const kir::CallReach& reach) {
  llvm::SmallVector<llvm::BasicBlock*, 4> result;
  Callees callees(reach);
  each_waiting_cycle(function, callees, [&](const llvm::Cycle& cycle) { result.push_back(cycle.getHeader()); });
  return result;
}

}  // namespace cupola::cpu::build
