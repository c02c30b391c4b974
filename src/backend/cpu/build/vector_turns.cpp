#include "backend/cpu/build/vector_turns.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <algorithm>
#include <bit>

#include "backend/cpu/build/shared_atomics.h"
#include "backend/cpu/build/vector_lanes.h"
#include "backend/cpu/build/vector_prefetch.h"
#include "backend/cpu/build/vector_shapes.h"
#include "backend/cpu/build/vector_steps.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using llvm::SCEV;
using llvm::Value;

constexpr const char* kMark = "cupola.turn";

/// Of a loop, that are fetched ahead.
constexpr size_t kMostRows = 4;
/// Of a mark, for each row.
constexpr unsigned kRowOperands = 3;

/// Of a turn that waits for memory more than it computes.
constexpr size_t kMostInstructions = 60;

/// So many rows of memory a warp goes through, turn after turn, use what was fetched for them before others take its
/// place: 8 rows of 8 warps touch 16 lines each of 8 pages, which may all belong into the same sets of a cache.
constexpr uint32_t kMostTurns = 8, kMostRowsATime = 12;

/// Where threads meet, or lanes take their time one after the other. What an update of shared memory returns may depend
/// on the order of warps, which is left as it is then.
bool takes_longer(const llvm::Instruction& instruction) {
  if (instruction.isAtomic()) return !is_shared_atomic(instruction) || !instruction.use_empty();
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (!call || llvm::isa<llvm::IntrinsicInst>(call)) return false;
  return kir::effect_of(*call) != kir::Effect::kPure;
}

/// A block of more threads than a warp has.
Value* has_warps(llvm::IRBuilder<>& builder) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  Value* threads = builder.getInt32(1);
  for (const auto size : {kir::Intrinsic::NtidX, kir::Intrinsic::NtidY, kir::Intrinsic::NtidZ})
    threads = builder.CreateMul(threads, builder.CreateCall(kir::declare(module, size)));
  return builder.CreateICmpUGT(threads, builder.getInt32(kLanes));
}

/// Steps and their values.
using Numbers = llvm::MapVector<const SCEV*, Value*>;

/// Whether one of the steps is far, in the loop's preheader.
Value* some_are_far(const Numbers& steps, const llvm::Loop& loop) {
  llvm::IRBuilder<> builder(loop.getLoopPreheader()->getTerminator());
  Value* some = nullptr;
  for (const auto& [step, number] : steps) {
    const uint64_t width = number->getType()->getIntegerBitWidth();
    const auto constant = [&](uint64_t value) { return llvm::ConstantInt::get(builder.getIntNTy(width), value); };
    Value* is_far = builder.CreateICmpUGE(builder.CreateAdd(number, constant(kFar - 1)), constant(2 * kFar - 1));
    some = some ? builder.CreateOr(some, is_far) : is_far;
  }
  return builder.CreateAnd(some, has_warps(builder));
}

/// Whether others than the thread have the memory, and the address is known at the end of each turn.
bool is_row(const Value* address, const llvm::Loop& loop, const llvm::DominatorTree& dominators) {
  return dominators.dominates(address, loop.getLoopLatch()->getTerminator()) &&
         !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address));
}

/// Whether the row is part of another one: fields of one structure, or what the turn reads and writes again.
bool is_in(llvm::ArrayRef<FarRow> rows, Value* address, llvm::ScalarEvolution& evolution) {
  return llvm::any_of(rows, [&](const FarRow& row) {
    const auto distance =
        evolution.computeConstantDifference(evolution.getSCEV(address), evolution.getSCEV(row.address));
    return distance && distance->abs().ult(kLine);
  });
}

void mark(const llvm::Loop& loop, llvm::ScalarEvolution& evolution, const llvm::DominatorTree& dominators,
          FarTurns& turns) {
  llvm::SCEVExpander expander(evolution, "step");
  llvm::Instruction* place = loop.getLoopPreheader()->getTerminator();
  llvm::SmallVector<Value*, 4> addresses;
  FarRows rows;
  Numbers steps;
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& instruction : *block) {
      Value* address = llvm::getLoadStorePointerOperand(&instruction);
      if (!address) continue;
      const SCEV* step = Steps(evolution, loop).of(evolution.getSCEV(address));
      if (!step || !expander.isSafeToExpandAt(step, place)) continue;
      if (is_near(step)) continue;
      addresses.push_back(address);
      Value*& number = steps[step];
      if (!number) number = expander.expandCodeFor(step, step->getType(), place);
      if (llvm::isa<llvm::LoadInst>(instruction) && rows.size() < kMostRows && is_row(address, loop, dominators) &&
          !is_in(rows, address, evolution))
        rows.push_back({address, number});
    }
  if (steps.empty()) return;
  Value* far = some_are_far(steps, loop);
  llvm::IRBuilder<> builder(loop.getLoopLatch()->getTerminator());
  turns.push_back({mark_turn(builder, far, rows), std::move(addresses)});
}

/// A turn waits for memory more than it computes, and meets nobody.
bool may_wait_for_memory(const llvm::Loop& loop) {
  size_t count = 0;
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block)
      if (++count > kMostInstructions || takes_longer(instruction)) return false;
  return true;
}

}  // namespace

uint32_t turns_at_a_time(size_t rows) {
  const auto fitting = kMostRowsATime / static_cast<uint32_t>(std::max<size_t>(rows, 1));
  return std::clamp(std::bit_floor(fitting), 1U, kMostTurns);
}

llvm::SmallVector<llvm::Loop*, 8> short_loops(llvm::LoopInfo& loops) {
  llvm::SmallVector<llvm::Loop*, 8> result;
  for (llvm::Loop* loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && loop->getLoopPreheader() && loop->getLoopLatch() && may_wait_for_memory(*loop))
      result.push_back(loop);
  return result;
}

bool is_near(const SCEV* step) {
  if (const auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(step)) return constant->getAPInt().abs().ult(kFar);
  return !llvm::SCEVExprContains(step, [](const SCEV* part) {
    const auto known = register_of(part);
    using enum kir::Intrinsic;
    return llvm::isa<llvm::SCEVUnknown>(part) && known != NtidX && known != NtidY && known != NtidZ;
  });
}

namespace {

bool is_meeting(const llvm::Instruction& instruction) {
  return kir::intrinsic_of(instruction) == kir::Intrinsic::Barrier;
}

}  // namespace

bool meets(const llvm::Loop& loop) {
  return llvm::any_of(loop.blocks(), [](const llvm::BasicBlock* block) { return llvm::any_of(*block, is_meeting); });
}

bool meets(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), is_meeting);
}

bool writes_far_where_it_meets(Evolution& evolution, const llvm::LoopInfo& loops) {
  const auto writes_far = [&](llvm::Instruction& instruction, const llvm::Loop& loop) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    const SCEV* step = store ? Steps(*evolution, loop).of((*evolution).getSCEV(store->getPointerOperand())) : nullptr;
    return step && !is_near(step);
  };
  return llvm::any_of(loops.getLoopsInPreorder(), [&](const llvm::Loop* loop) {
    return meets(*loop) && llvm::any_of(loop->blocks(), [&](llvm::BasicBlock* block) {
             return llvm::any_of(*block, [&](llvm::Instruction& each) { return writes_far(each, *loop); });
           });
  });
}

bool writes_rows_far_apart(llvm::Function& kernel, Evolution& evolution, const llvm::LoopInfo& loops) {
  return loops.empty() && llvm::any_of(llvm::instructions(kernel), [&](llvm::Instruction& instruction) {
           auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
           const SCEV* place = store ? (*evolution).getSCEV(store->getPointerOperand()) : nullptr;
           const SCEV* step = place ? Steps(*evolution, kir::Intrinsic::TidY).of(place) : nullptr;
           return step && !is_near(step);
         });
}

FarTurns mark_far_turns(Evolution& evolution, llvm::LoopInfo& loops, const llvm::DominatorTree& dominators) {
  FarTurns turns;
  for (const llvm::Loop* loop : short_loops(loops)) mark(*loop, *evolution, dominators, turns);
  return turns;
}

bool keep_turns_of_rows(const FarTurns& turns, const Shapes& shapes, bool to_the_end) {
  bool are_there = false;
  for (const auto& [mark, addresses] : turns) {
    const bool has_rows = llvm::any_of(addresses, [&](const Value* address) {
      const Shape shape = shapes.of(address);
      return shape.has_steps() && shape.stride != 0;
    });
    const bool is_one = has_rows && shapes.of(are_far(*mark)).is_uniform();
    are_there |= is_one;
    if (!is_one || to_the_end) mark->eraseFromParent();
  }
  return are_there;
}

llvm::CallInst* mark_turn(llvm::IRBuilderBase& builder, Value* are_far, llvm::ArrayRef<FarRow> rows) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getInt1Ty()}, /*isVarArg=*/true);
  llvm::SmallVector<Value*, 8> operands{are_far};
  for (const FarRow& row : rows) operands.append({row.address, row.step, builder.getInt64(row.bytes)});
  return builder.CreateCall(module.getOrInsertFunction(kMark, type), operands);
}

Value* are_far(const llvm::CallInst& mark) {
  return mark.getArgOperand(0);
}

FarRows rows_of(const llvm::CallInst& mark) {
  FarRows rows;
  for (unsigned i = 1; i < mark.arg_size(); i += kRowOperands)
    rows.push_back({mark.getArgOperand(i), mark.getArgOperand(i + 1),
                    llvm::cast<llvm::ConstantInt>(mark.getArgOperand(i + 2))->getZExtValue()});
  return rows;
}

void widen_turn_mark(Lanes& lanes, const llvm::CallInst& mark) {
  FarRows rows;
  for (const FarRow& row : rows_of(mark))
    for (const Lines& lines : lines_of(lanes, row.address))
      rows.push_back({lines.address, lanes.scalar(row.step), lines.bytes});
  mark_turn(lanes.builder, lanes.scalar(are_far(mark)), rows);
}

void fetch_ahead(llvm::IRBuilderBase& builder, llvm::ArrayRef<FarRow> rows, uint32_t turns) {
  for (const FarRow& row : rows) {
    Value* address = row.address;
    for (uint32_t turn = 0; turn < turns; ++turn) {
      address = builder.CreateGEP(builder.getInt8Ty(), address, row.step);
      fetch_lines(builder, address, row.bytes);
    }
  }
}

bool is_turn_mark(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == kMark;
}

llvm::SmallVector<llvm::CallInst*, 4> turn_marks(llvm::Function& function) {
  llvm::SmallVector<llvm::CallInst*, 4> marks;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (is_turn_mark(instruction)) marks.push_back(llvm::cast<llvm::CallInst>(&instruction));
  return marks;
}

void remove_turn_marks(llvm::Function& function) {
  for (llvm::CallInst* mark : turn_marks(function)) mark->eraseFromParent();
}

}  // namespace cupola::cpu::build
