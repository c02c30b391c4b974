#include "backend/cpu/build/output_turns.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "backend/cpu/build/value_copy.h"
#include "backend/cpu/build/vector_steps.h"

namespace cupola::cpu::build {
namespace {

using llvm::SCEV;
using llvm::Value;

/// Of one loop; more make no difference, and their product fits into 64 bits.
constexpr uint64_t kMostTurns = 1 << 20;

bool is_place(kir::Intrinsic known) {
  using enum kir::Intrinsic;
  return known == TidX || known == TidY || known == TidZ || known == CtaidX || known == CtaidY || known == CtaidZ;
}

/// The same for the grid's first thread; null: it is of more than arguments, sizes and places.
const SCEV* of_first_thread(const SCEV* value, llvm::ScalarEvolution& evolution) {
  llvm::ValueToSCEVMapTy zeros;
  const bool is_other = llvm::SCEVExprContains(value, [&](const SCEV* part) {
    const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
    if (!unknown) return llvm::isa<llvm::SCEVAddRecExpr>(part);
    const auto known = register_of(unknown);
    if (known && is_place(*known)) zeros[unknown->getValue()] = evolution.getZero(unknown->getType());
    return !llvm::isa<llvm::Argument>(unknown->getValue()) && !(known && is_place_or_size(*known));
  });
  return is_other ? nullptr : llvm::SCEVParameterRewriter::rewrite(value, evolution, zeros);
}

/// Where a loop goes on by a comparison of what steps on with a bound: how often, if the steps do not wrap. LLVM does
/// not say so of `i += blockDim.x`, a sum without a sign that is compared with one.
const SCEV* steps_below_bound(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  const llvm::BasicBlock* exiting = loop.getExitingBlock();
  const auto* branch = exiting ? llvm::dyn_cast<llvm::BranchInst>(exiting->getTerminator()) : nullptr;
  const auto* asked =
      branch && branch->isConditional() ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
  if (!asked) return nullptr;
  for (const bool is_swapped : {false, true}) {
    const auto* number = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(asked->getOperand(is_swapped)));
    const SCEV* bound = evolution.getSCEV(asked->getOperand(!is_swapped));
    if (!number || !number->getType()->isIntegerTy() || number->getLoop() != &loop || !number->isAffine() ||
        !evolution.isLoopInvariant(bound, &loop))
      continue;
    const SCEV *begin = number->getStart(), *step = number->getStepRecurrence(evolution);
    const SCEV* end = asked->isSigned() ? evolution.getSMaxExpr(begin, bound) : evolution.getUMaxExpr(begin, bound);
    return evolution.getUDivCeilSCEV(evolution.getMinusSCEV(end, begin),
                                     evolution.getUMaxExpr(step, evolution.getOne(step->getType())));
  }
  return nullptr;
}

/// How often a loop begins again; null: it is not known.
const SCEV* more_turns(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  const SCEV* known = evolution.getBackedgeTakenCount(&loop);
  if (!llvm::isa<llvm::SCEVCouldNotCompute>(known)) return of_first_thread(known, evolution);
  const SCEV* likely = steps_below_bound(loop, evolution);
  return likely ? of_first_thread(likely, evolution) : nullptr;
}

/// Whether a loop asks first whether it has another turn; else behind the store.
bool asks_before(const llvm::Loop& loop, const llvm::StoreInst& store) {
  return loop.getExitingBlock() == loop.getHeader() && store.getParent() != loop.getHeader();
}

/// How many turns loops around a store make in which it stores at another place than before; null: one, or unknown.
const SCEV* turns_of(llvm::StoreInst& store, llvm::ScalarEvolution& evolution, const llvm::LoopInfo& loops) {
  const SCEV* all = nullptr;
  const SCEV* place = evolution.getSCEV(store.getPointerOperand());
  for (const llvm::Loop* loop = loops.getLoopFor(store.getParent()); loop; loop = loop->getParentLoop()) {
    const SCEV* step = Steps(evolution, *loop).of(place);
    if (!step || step->isZero()) continue;
    const SCEV* more = more_turns(*loop, evolution);
    if (!more) continue;
    const SCEV* turns = evolution.getTruncateOrZeroExtend(more, llvm::Type::getInt64Ty(store.getContext()));
    if (!asks_before(*loop, store)) turns = evolution.getAddExpr(turns, evolution.getOne(turns->getType()));
    const SCEV* least = evolution.getUMinExpr(turns, evolution.getConstant(turns->getType(), kMostTurns));
    all = all ? evolution.getMulExpr(all, least) : least;
  }
  return all;
}

llvm::Function* make_counting(const SCEV* turns, llvm::Function& kernel, llvm::ScalarEvolution& evolution) {
  llvm::SCEVExpander expander(evolution, "output_turns");
  llvm::SCEVExpanderCleaner cleaner(expander);  // leaves nothing of it in the kernel
  llvm::Instruction* end = kernel.getEntryBlock().getTerminator();
  if (!expander.isSafeToExpandAt(turns, end)) return nullptr;
  Value* count = expander.expandCodeFor(turns, turns->getType(), end);
  auto* type = llvm::FunctionType::get(count->getType(), kernel.getFunctionType()->params(), /*isVarArg=*/false);
  llvm::Function* made =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, kernel.getName() + ".turns", kernel.getParent());
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(kernel.getContext(), "", made));
  builder.CreateRet(ValueCopy(kernel, builder)(count));
  return made;
}

}  // namespace

llvm::SmallVector<OutputTurns, 2> turns_of_outputs(Evolution& evolution, const llvm::LoopInfo& loops) {
  llvm::MapVector<llvm::Argument*, const SCEV*> most;
  for (const llvm::Loop* outermost : loops)
    for (llvm::BasicBlock* block : outermost->blocks())
      for (llvm::Instruction& instruction : *block) {
        auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
        Value* object = store ? const_cast<Value*>(llvm::getUnderlyingObject(store->getPointerOperand())) : nullptr;
        auto* output = llvm::dyn_cast_or_null<llvm::Argument>(object);
        const SCEV* turns = output ? turns_of(*store, *evolution, loops) : nullptr;
        if (!turns) continue;
        const SCEV*& known = most[output];
        known = known ? (*evolution).getUMaxExpr(known, turns) : turns;
      }
  llvm::SmallVector<OutputTurns, 2> all;
  for (const auto& [output, turns] : most)
    if (llvm::Function* counts = make_counting(turns, *output->getParent(), *evolution))
      all.push_back({output->getArgNo(), counts});
  return all;
}

}  // namespace cupola::cpu::build
