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

const llvm::CallInst* as_thread_index(const Value* value) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  return call && kir::intrinsic_of(*call) == kir::Intrinsic::TidX ? call : nullptr;
}

/// The threadIdx.x of all threads for which the condition has that value; nothing: of various.
std::optional<uint32_t> known_where(Value* condition, bool is_true) {
  Value *one = nullptr, *other = nullptr;
  if (is_true ? match(condition, m_LogicalAnd(m_Value(one), m_Value(other)))
              : match(condition, m_LogicalOr(m_Value(one), m_Value(other)))) {
    const auto known = known_where(one, is_true);
    return known ? known : known_where(other, is_true);
  }
  llvm::CmpPredicate predicate;
  const llvm::APInt* number = nullptr;
  if (!match(condition, m_ICmp(predicate, m_Value(one), m_APInt(number)))) return std::nullopt;
  const llvm::CallInst* index = as_thread_index(one);
  if (!index) return std::nullopt;
  llvm::ConstantRange those = llvm::ConstantRange::makeExactICmpRegion(predicate, *number);
  if (!is_true) those = those.inverse();
  if (const auto all = index->getRange()) those = those.intersectWith(*all);
  const llvm::APInt* lone = those.getSingleElement();
  return lone ? std::optional(static_cast<uint32_t>(lone->getZExtValue())) : std::nullopt;
}

/// A way on which threads of one threadIdx.x go.
struct LoneWay {
  llvm::BasicBlockEdge edge;
  uint32_t index;
};

llvm::SmallVector<LoneWay, 4> lone_ways(llvm::Function& kernel) {
  llvm::SmallVector<LoneWay, 4> ways;
  for (llvm::BasicBlock& block : kernel) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1)) continue;
    for (const bool is_true : {true, false})
      if (const auto index = known_where(branch->getCondition(), is_true))
        ways.push_back({{&block, branch->getSuccessor(is_true ? 0 : 1)}, *index});
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
const SCEV* with_index(const SCEV* value, uint32_t index, llvm::ScalarEvolution& evolution) {
  llvm::ValueToSCEVMapTy known;
  llvm::SCEVExprContains(value, [&](const SCEV* part) {
    const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
    if (unknown && as_thread_index(unknown->getValue()))
      known[unknown->getValue()] = evolution.getConstant(unknown->getType(), index);
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
