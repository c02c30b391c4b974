#include "backend/cpu/build/vector_neighbours.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "backend/cpu/build/vector_shapes.h"
#include "backend/cpu/build/vector_steps.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using llvm::SCEV;

constexpr uint64_t kMostThreads = 1024;

const SCEV* without_casts(const SCEV* value) {
  while (const auto* cast = llvm::dyn_cast<llvm::SCEVCastExpr>(value)) value = cast->getOperand();
  return value;
}

bool is_block_width(const SCEV* value) {
  const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(without_casts(value));
  const auto* call = unknown ? llvm::dyn_cast<llvm::CallInst>(unknown->getValue()) : nullptr;
  return call && kir::intrinsic_of(*call) == kir::Intrinsic::NtidX;
}

/// Whether `step`, in bytes, is what a row of the block takes with elements of `size` bytes. A number in the program
/// stands for the block's width where that is any multiple of 32.
bool is_row_of_block(const SCEV* step, uint64_t size, BlockClass blocks) {
  step = without_casts(step);
  if (const auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(step)) {
    const uint64_t bytes = constant->getAPInt().getLimitedValue();
    const unsigned lanes = segment_lanes(blocks);
    return lanes < kLanes ? bytes == lanes * size
                          : bytes > 0 && bytes % (kLanes * size) == 0 && bytes <= kMostThreads * size;
  }
  if (is_block_width(step)) return size == 1;
  const auto* product = llvm::dyn_cast<llvm::SCEVMulExpr>(step);
  if (!product || product->getNumOperands() != 2 || !is_block_width(product->getOperand(1))) return false;
  const auto* factor = llvm::dyn_cast<llvm::SCEVConstant>(product->getOperand(0));
  return factor && factor->getAPInt() == size;
}

}  // namespace

bool rows_go_on_beside(llvm::Function& function, BlockClass blocks, const Shapes& shapes, llvm::LoopInfo& loops,
                       llvm::DominatorTree& dominators) {
  const llvm::TargetLibraryInfoImpl known(function.getParent()->getTargetTriple());
  llvm::TargetLibraryInfo library(known);
  llvm::AssumptionCache assumptions(function);
  llvm::ScalarEvolution evolution(function, library, assumptions, dominators, loops);
  const llvm::DataLayout& layout = function.getDataLayout();
  return llvm::any_of(llvm::instructions(function), [&](llvm::Instruction& instruction) {
    llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
    if (!address) return false;
    llvm::Type* type = llvm::getLoadStoreType(&instruction);
    if (!is_row(shapes.of(address), type, layout)) return false;
    const SCEV* step = Steps(evolution).of(evolution.getSCEV(address));
    return step && is_row_of_block(step, layout.getTypeStoreSize(type).getFixedValue(), blocks);
  });
}

}  // namespace cupola::cpu::build
