#include "backend/cpu/build/lone_lanes.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "backend/cpu/build/vector_steps.h"

namespace cupola::cpu::build {
namespace {

using llvm::SCEV;
using llvm::Value;
using namespace llvm::PatternMatch;

bool is_thread_index(const Value* value) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  return call && kir::intrinsic_of(*call) == kir::Intrinsic::TidX;
}

/// The threadIdx.x of all threads for which the condition has that value; null: of various.
llvm::ConstantInt* known_where(Value* condition, bool is_true) {
  Value *one = nullptr, *other = nullptr;
  if (is_true ? match(condition, m_LogicalAnd(m_Value(one), m_Value(other)))
              : match(condition, m_LogicalOr(m_Value(one), m_Value(other)))) {
    llvm::ConstantInt* known = known_where(one, is_true);
    return known ? known : known_where(other, is_true);
  }
  llvm::CmpPredicate predicate;
  llvm::ConstantInt* number = nullptr;
  if (!match(condition, m_ICmp(predicate, m_Value(one), m_ConstantInt(number))) || !is_thread_index(one))
    return nullptr;
  return predicate == (is_true ? llvm::CmpInst::ICMP_EQ : llvm::CmpInst::ICMP_NE) ? number : nullptr;
}

/// A way on which threads of one threadIdx.x go.
struct LoneWay {
  llvm::BasicBlockEdge edge;
  llvm::ConstantInt* index;
};

llvm::SmallVector<LoneWay, 4> lone_ways(llvm::Function& kernel) {
  llvm::SmallVector<LoneWay, 4> ways;
  for (llvm::BasicBlock& block : kernel) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1)) continue;
    for (const bool is_true : {true, false})
      if (llvm::ConstantInt* index = known_where(branch->getCondition(), is_true))
        ways.push_back({{&block, branch->getSuccessor(is_true ? 0 : 1)}, index});
  }
  return ways;
}

llvm::Use* address_of(llvm::Instruction& instruction) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return &load->getOperandUse(llvm::LoadInst::getPointerOperandIndex());
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return &store->getOperandUse(llvm::StoreInst::getPointerOperandIndex());
  return nullptr;
}

/// The same where threadIdx.x is that; null: it does not depend on it.
const SCEV* with_index(const SCEV* value, llvm::ConstantInt* index, llvm::ScalarEvolution& evolution) {
  llvm::ValueToSCEVMapTy known;
  llvm::SCEVExprContains(value, [&](const SCEV* part) {
    const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
    if (unknown && is_thread_index(unknown->getValue())) known[unknown->getValue()] = evolution.getSCEV(index);
    return false;
  });
  return known.empty() ? nullptr : llvm::SCEVParameterRewriter::rewrite(value, evolution, known);
}

}  // namespace

void know_lone_lanes(llvm::Function& kernel) {
  const auto ways = lone_ways(kernel);
  if (ways.empty()) return;
  llvm::DominatorTree dominators(kernel);
  llvm::LoopInfo loops(dominators);
  Evolution evolution(kernel, loops, dominators);
  llvm::SCEVExpander expander(*evolution, "lone");
  for (const LoneWay& way : ways)
    for (llvm::BasicBlock& block : kernel) {
      if (!dominators.dominates(way.edge, &block)) continue;
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
        llvm::Use* address = address_of(instruction);
        const SCEV* known = address ? with_index((*evolution).getSCEV(*address), way.index, *evolution) : nullptr;
        if (known && expander.isSafeToExpandAt(known, &instruction))
          address->set(expander.expandCodeFor(known, (*address)->getType(), &instruction));
      }
    }
}

}  // namespace cupola::cpu::build
