#include "backend/cpu/build/lone_threads.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "backend/cpu/build/polling.h"
#include "backend/cpu/build/vector_atomics.h"
#include "backend/cpu/build/vector_shapes.h"
#include "backend/cpu/build/vector_turns.h"
#include "kir/call_reach.h"
#include "kir/intrinsics.h"

// Both ways are given a price in cycles for 32 threads. What a turn of a loop costs alone is the work of its
// instructions, or the time that a turn has to wait for the one before it, whichever is more. Prices are those of
// memory in the first levels of the cache, on a processor with vectors of 512 bits that it does in halves.

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Loop;

/// Below that the two are too close to tell.
constexpr double kClearly = 1.5;
/// Turns of a loop for each turn of the one around it; of the deepest that are told apart.
constexpr double kTurns = 8;
constexpr unsigned kMostDepth = 4;
/// Lanes that have left a loop wait for the others.
constexpr double kIdle = 1.5;

constexpr double kGather = 2.5 * kLanes, kScatter = 3 * kLanes, kLaneByLane = 4 * kLanes, kRow = 4, kWideDivision = 32;
/// Of 32 threads: an instruction, a division, an access, a branch that threads take differently.
constexpr double kScalar = 0.25 * kLanes, kDivision = 5 * kLanes, kAccess = 0.4 * kLanes, kParting = 5 * kLanes;
/// Of 32 threads: an update of a place that others may update.
constexpr double kAtomic = 20 * kLanes;
/// Of 32 threads: a place that lies beside that of the next thread, and far from that of the next turn.
constexpr double kFarAccess = 8 * kLanes;

bool is_division(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return instruction.getOpcode() == Instruction::FDiv || instruction.getOpcode() == Instruction::FRem ||
         instruction.isIntDivRem() || (call && call->getIntrinsicID() == llvm::Intrinsic::sqrt);
}

/// What threads ask of themselves and of the launch is at hand.
bool is_call(const Instruction& instruction) {
  if (!llvm::isa<llvm::CallInst>(instruction) || llvm::isa<llvm::IntrinsicInst>(instruction)) return false;
  return kir::effect_of(instruction) != kir::Effect::kPure;
}

/// A part of others in code for one thread, or of nothing.
bool is_free(const Instruction& instruction) {
  if (llvm::isa<llvm::PHINode, llvm::GetElementPtrInst, llvm::AllocaInst, llvm::ExtractValueInst, llvm::SExtInst,
                llvm::ZExtInst, llvm::TruncInst>(instruction))
    return true;
  const auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction);
  return (cast && cast->isNoopCast(instruction.getDataLayout())) || instruction.isDebugOrPseudoInst() ||
         instruction.isLifetimeStartOrEnd() || is_turn_mark(instruction);
}

/// In cycles, from the operands to the result.
double latency_of(const Instruction& instruction) {
  if (llvm::isa<llvm::LoadInst>(instruction)) return 6;
  if (instruction.isAtomic()) return 20;
  if (is_division(instruction)) return 15;
  if (instruction.getType()->isFloatingPointTy() && llvm::isa<llvm::BinaryOperator, llvm::CallInst>(instruction))
    return 4;
  if (instruction.getOpcode() == Instruction::Mul) return 3;
  return is_free(instruction) ? 0 : 1;
}

class Prices {
 public:
  Prices(llvm::Function& function, const Shapes& shapes, const llvm::LoopInfo& loops)
      : function_(function), shapes_(shapes), loops_(loops) {}

  bool parts_threads() const {
    return llvm::any_of(loops_.getLoopsInPreorder(), [&](const Loop* loop) { return is_left_apart(*loop); });
  }

  /// Of a turn.
  double in_step(const Loop& loop) const {
    double sum = 0;
    for (const BasicBlock* block : loop.blocks())
      for (const Instruction& instruction : *block) sum += in_step(instruction);
    return sum;
  }
  double alone(const Loop& loop) const {
    double own = 0;
    for (const BasicBlock* block : loop.blocks())
      for (const Instruction& instruction : *block) own += alone(instruction);
    return std::max(own, kLanes * wait(loop));
  }

  double in_step() const {
    double sum = 0;
    for (const BasicBlock& block : function_)
      for (const Instruction& instruction : block) sum += turns(block) * idle(block) * in_step(instruction);
    return sum;
  }

  double alone() const {
    llvm::MapVector<const Loop*, double> work;
    for (const BasicBlock& block : function_)
      for (const Instruction& instruction : block) work[loops_.getLoopFor(&block)] += alone(instruction);
    double sum = 0;
    for (const auto& [loop, own] : work)
      sum += loop ? turns(*loop->getHeader()) * std::max(own, kLanes * wait(*loop)) : own;
    return sum;
  }

 private:
  bool is_left_apart(const Loop& loop) const {
    llvm::SmallVector<BasicBlock*, 4> ends;
    loop.getExitingBlocks(ends);
    return llvm::any_of(ends, [&](const BasicBlock* end) { return shapes_.diverges(end); });
  }

  double turns(const BasicBlock& block) const {
    return std::pow(kTurns, std::min(kMostDepth, loops_.getLoopDepth(&block)));
  }
  double idle(const BasicBlock& block) const {
    const Loop* loop = loops_.getLoopFor(&block);
    return loop && shapes_.is_masked(loop->getHeader()) ? kIdle : 1;
  }

  // ---- accesses ----

  Shape place(const llvm::Value* address, const Instruction& user) const {
    return shapes_.at(address, user.getParent());
  }

  /// Lanes beside each other use places beside each other, more or less.
  bool is_row(const llvm::Value* address, const Instruction& user) const {
    const Shape shape = place(address, user);
    return shape.has_steps() && std::abs(shape.stride) <= 16;
  }

  double wide_access(const llvm::Value* address, const Instruction& user, double apart) const {
    if (place(address, user).is_uniform()) return 1;
    return is_row(address, user) ? kRow : apart;
  }

  double lone_access(const llvm::Value* address, const Instruction& user) const {
    return is_row(address, user) && loops_.getLoopFor(user.getParent()) ? kFarAccess : kAccess;
  }

  // ---- instructions ----

  double in_step(const Instruction& instruction) const {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      return wide_access(load->getPointerOperand(), instruction, kGather);
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      return wide_access(store->getPointerOperand(), instruction, kScatter);
    if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
        update && is_one_for_all(*update) && place(update->getPointerOperand(), instruction).is_uniform())
      return kAtomic / kLanes + kLaneByLane / 4;
    if (instruction.isAtomic()) return kAtomic + kLaneByLane;
    const Shape shape = shapes_.of(&instruction);
    if (instruction.getType()->isVoidTy() || !shape.is_varying()) return instruction.isTerminator() ? 2 : 1;
    if (is_call(instruction)) return kLaneByLane;
    if (is_division(instruction)) return kWideDivision;
    return instruction.getType()->getScalarSizeInBits() > 32 || instruction.getType()->isPointerTy() ? 4 : 2;
  }

  double alone(const Instruction& instruction) const {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      return lone_access(load->getPointerOperand(), instruction);
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      return lone_access(store->getPointerOperand(), instruction);
    if (instruction.isAtomic()) return kAtomic;
    if (is_free(instruction)) return 0;
    if (is_division(instruction)) return kDivision;
    if (is_call(instruction)) return kLaneByLane;
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction);
    if (!branch) return kScalar;
    if (branch->isUnconditional()) return 0;
    const Loop* loop = loops_.getLoopFor(instruction.getParent());
    const bool leaves = loop && loop->isLoopExiting(instruction.getParent());
    return shapes_.diverges(instruction.getParent()) && !leaves ? kParting : kScalar;
  }

  // ---- what a turn waits for ----

  /// Cycles from the beginning of a turn to what the next one begins with, along what is carried from turn to turn.
  double wait(const Loop& loop) const {
    double most = 0;
    for (const llvm::PHINode& carried : loop.getHeader()->phis()) {
      llvm::DenseMap<const llvm::Value*, double> known{{&carried, 0}};
      most = std::max(most, cycles_to(carried.getIncomingValueForBlock(loop.getLoopLatch()), loop, known));
    }
    return most;
  }

  /// From the carried value that is `known`; below zero: nothing comes from there.
  double cycles_to(const llvm::Value* value, const Loop& loop,
                   llvm::DenseMap<const llvm::Value*, double>& known) const {
    const auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || !loop.contains(instruction)) return -1;
    const auto [place, is_new] = known.try_emplace(value, -1);
    if (!is_new) return place->second;
    const bool begins_turn = llvm::isa<llvm::PHINode>(instruction) && loops_.isLoopHeader(instruction->getParent());
    double longest = -1;
    if (!begins_turn)
      for (const llvm::Value* operand : instruction->operands())
        longest = std::max(longest, cycles_to(operand, loop, known));
    return known[value] = longest < 0 ? -1 : longest + latency_of(*instruction);
  }

  const llvm::Function& function_;
  const Shapes& shapes_;
  const llvm::LoopInfo& loops_;
};

}  // namespace

bool may_run_alone(llvm::Function& function, const kir::CallReach& reach) {
  for (const Instruction& instruction : llvm::instructions(function)) {
    if (instruction.isVolatile()) return false;  // as threads that count on their warp's step have it
    if (kir::effect_of(instruction) == kir::Effect::kSync) return false;
  }
  return waiting_loops(function, reach).empty();
}

bool is_faster_alone(llvm::Function& function, const Shapes& shapes, const llvm::LoopInfo& loops) {
  const Prices prices(function, shapes, loops);
  return prices.parts_threads() && prices.in_step() > kClearly * prices.alone();
}

bool is_faster_alone(llvm::Function& function, const Loop& loop, const Shapes& shapes, const llvm::LoopInfo& loops) {
  const Prices prices(function, shapes, loops);
  return prices.in_step(loop) > kClearly * prices.alone(loop);
}

}  // namespace cupola::cpu::build
