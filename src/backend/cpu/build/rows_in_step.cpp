#include "backend/cpu/build/rows_in_step.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

#include "backend/cpu/build/counted_loop.h"
#include "backend/cpu/build/kernel_barriers.h"
#include "backend/cpu/build/vector_shape.h"
#include "backend/cpu/build/vector_steps.h"
#include "backend/cpu/build/vector_turns.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using llvm::Instruction;
using llvm::SCEV;
using llvm::Value;

/// What threads do beside each other.
struct Row {
  Instruction* access;
  const SCEV* place;
};
using Rows = llvm::SmallVector<Row, 8>;

/// Of a thread, with its accesses: what computes more does not wait for memory.
constexpr size_t kMostInstructions = 40;
/// Of blocks: half a kilobyte of each array.
constexpr uint32_t kFewestThreads = 128;
/// Of a block, from one meeting to the next, in bytes: half of the registers of 512 bits.
constexpr uint64_t kMostKept = 1024;
/// Of a grid, in bytes: what no cache holds. In caches the order does not matter.
constexpr uint64_t kLargeFrom = 64 << 20;
/// Arrays: one that is copied is copied as fast warp after warp.
constexpr unsigned kFewestRead = 2;
/// A beginning, what is done unless the thread is beyond the end, and an end.
constexpr size_t kMostParts = 3;

bool is_plain(const Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->isSimple();
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return store->isSimple();
  if (const auto known = kir::intrinsic_of(instruction)) return is_place_or_size(*known);
  return !instruction.mayReadOrWriteMemory() && !instruction.mayHaveSideEffects() &&
         (!llvm::isa<llvm::CallBase>(instruction) || llvm::isa<llvm::IntrinsicInst>(instruction));
}

/// Whether the two lie in one array, of structures maybe, and both read or both write.
bool are_together(const Row& one, const Row& other, llvm::ScalarEvolution& evolution) {
  if (llvm::isa<llvm::StoreInst>(one.access) != llvm::isa<llvm::StoreInst>(other.access)) return false;
  const auto distance = evolution.computeConstantDifference(unless_it_wraps(evolution, other.place),
                                                            unless_it_wraps(evolution, one.place));
  return distance && distance->abs().ult(kFar);
}

/// In order; nothing: the code does something else as well, or is long.
Rows rows_of(llvm::Function& function, llvm::ScalarEvolution& evolution) {
  Rows rows;
  size_t count = 0;
  unsigned arrays_read = 0;
  bool writes = false;
  for (Instruction& instruction : llvm::instructions(function)) {
    if (!is_plain(instruction) || ++count > kMostInstructions) return {};
    Value* address = llvm::getLoadStorePointerOperand(&instruction);
    if (!address) continue;
    const SCEV* place = evolution.getSCEV(address);
    const SCEV* step = Steps(evolution, kir::Intrinsic::TidX).of(place);
    const bool is_store = llvm::isa<llvm::StoreInst>(instruction);
    if (step && step->isZero() && !is_store) continue;  // all threads read the same
    const auto stride = positive_constant(step);
    if (!stride || *stride > kMostStride) return {};
    const Row row{&instruction, place};
    writes |= is_store;
    arrays_read += !is_store && (rows.empty() || !are_together(rows.back(), row, evolution));
    rows.push_back(row);
  }
  return arrays_read >= kFewestRead && writes ? rows : Rows();
}

/// Of numbers that were read in rows and what was made of them, that a thread keeps there for later; all in one block.
uint64_t kept_bytes(const Instruction& place, const Rows& rows, const llvm::DataLayout& layout) {
  llvm::SmallPtrSet<const Value*, 16> read;
  uint64_t bytes = 0;
  for (const Instruction& before : *place.getParent()) {
    if (&before == &place) break;
    const bool is_read = llvm::any_of(rows, [&](const Row& row) { return row.access == &before; }) ||
                         llvm::any_of(before.operands(), [&](const Value* operand) { return read.contains(operand); });
    if (!is_read) continue;
    read.insert(&before);
    const bool is_kept = llvm::any_of(before.users(), [&](const llvm::User* user) {
      const auto* later = llvm::cast<Instruction>(user);
      return later->getParent() != place.getParent() || !later->comesBefore(&place);
    });
    if (is_kept) bytes += layout.getTypeStoreSize(before.getType()).getFixedValue();
  }
  return bytes;
}

bool is_straight(const llvm::Function& function) {
  return llvm::none_of(function,
                       [](const llvm::BasicBlock& block) { return block.getTerminator()->getNumSuccessors() > 1; });
}

struct Meetings {
  llvm::SmallVector<Instruction*, 4> places;
  uint64_t bytes = 0;  ///< that a thread reads and writes
};

Meetings meetings(llvm::Function& function, const Dim3& shape) {
  if (shape.x < kFewestThreads || shape.x % kLanes != 0 || shape.y != 1 || shape.z != 1) return {};
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  if (!loops.empty()) return {};
  Evolution evolution(function, loops, dominators);
  const llvm::DataLayout& layout = function.getDataLayout();
  Meetings found;
  const Rows rows = rows_of(function, *evolution);
  for (size_t i = 0; i < rows.size(); ++i) {
    Instruction& place = *rows[i].access;
    found.bytes += layout.getTypeStoreSize(llvm::getLoadStoreType(&place)).getFixedValue();
    if (i == 0) continue;
    if (place.getParent() != rows[i - 1].access->getParent()) return {};
    if (are_together(rows[i - 1], rows[i], *evolution)) continue;
    if (kept_bytes(place, rows, layout) * shape.x > kMostKept) return {};
    found.places.push_back(&place);
  }
  return found;
}

}  // namespace

bool is_short_stream(llvm::Function& function, const Dim3& shape, bool asks) {
  return (asks ? function.size() <= kMostParts : is_straight(function)) && !meetings(function, shape).places.empty();
}

std::optional<uint32_t> meet_in_step(llvm::Function& function, const Dim3& shape) {
  if (!is_straight(function)) return std::nullopt;
  const Meetings found = meetings(function, shape);
  if (found.places.empty()) return std::nullopt;
  for (Instruction* place : found.places) meet_before(*place);
  return static_cast<uint32_t>(kLargeFrom / std::max(found.bytes * shape.x, uint64_t{1}));
}

}  // namespace cupola::cpu::build
