#include "backend/metal/build/raise/meetings.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "backend/metal/build/raise/barrier_kinds.h"
#include "backend/metal/build/raise/meeting_loop.h"
#include "backend/metal/build/raise/metal_intrinsics.h"
#include "backend/metal/build/raise/spaces.h"
#include "kir/address_space.h"
#include "kir/block_uniformity.h"
#include "kir/branch_ways.h"
#include "kir/intrinsics.h"
#include "kir/kir.h"
#include "kir/refusal.h"

namespace cupola::metal::build {
namespace {

bool ends_thread(const llvm::Instruction& instruction) {
  return metal_intrinsic_of(instruction) == MetalIntrinsic::Fail ||
         kir::effect_of(instruction) == kir::Effect::kNoReturn;
}

bool needs_kernel(const llvm::Instruction& instruction) {
  return is_barrier(instruction) || is_numbered_barrier(instruction) || is_grid_barrier(instruction) ||
         kir::effect_of(instruction) == kir::Effect::kNoReturn;
}

/// Between threads that come by together.
bool differs_by_itself(const llvm::Instruction& instruction) {
  using kir::Intrinsic;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return load->getPointerAddressSpace() != kConstant || !load->isSimple();
  if (const auto known = kir::intrinsic_of(instruction)) switch (*known) {
      case Intrinsic::TidX:
      case Intrinsic::TidY:
      case Intrinsic::TidZ:
      case Intrinsic::LaneId:
      case Intrinsic::WarpId:
        return true;
      default:
        return kir::effect_of(*known) != kir::Effect::kPure;
    }
  return instruction.mayReadOrWriteMemory() || llvm::isa<llvm::AllocaInst, llvm::FreezeInst>(instruction);
}

/// A branch may part threads that then meet at barriers, or do not all come there.
bool may_part_at_barriers(llvm::Function& kernel) {
  const llvm::PostDominatorTree post_dominators(kernel);
  const kir::BlockUniformity uniformity(kernel, {}, post_dominators, {is_barrier, differs_by_itself});
  for (llvm::BasicBlock& block : kernel)
    if (!uniformity.is_uniform(block.getTerminator()))
      for (llvm::BasicBlock* reached : kir::ways_from(&block, post_dominators))
        if (llvm::any_of(*reached, is_barrier)) return true;
  return false;
}

}  // namespace

Result<> inline_what_needs_a_kernel(llvm::Module& module) {
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::Function& function : module) {
      if (function.isDeclaration() || function.use_empty() || !llvm::any_of(llvm::instructions(function), needs_kernel))
        continue;
      for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
        auto* call = llvm::dyn_cast<llvm::CallInst>(user);
        if (!call || call->getCalledFunction() != &function) continue;
        llvm::InlineFunctionInfo info;
        const std::string place = kir::place_of(*call);
        if (!llvm::InlineFunction(*call, info).isSuccess())
          return fail(ErrorCode::NotSupported,
                      "metal: {}: a function with barriers, or that may end the thread, cannot be part of its caller",
                      place);
        changed = true;
      }
    }
  }
  return {};
}

void count_at_numbered_barriers(llvm::Module& module) {
  auto* type = llvm::ArrayType::get(llvm::Type::getInt32Ty(module.getContext()), 2 * kBarriers);
  for (llvm::Function* kernel : kir::kernels(module)) {
    if (!has_any(*kernel, is_numbered_barrier)) continue;
    auto* counts =
        new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::InternalLinkage, llvm::PoisonValue::get(type),
                                 "", nullptr, llvm::GlobalValue::NotThreadLocal, kir::kSharedSpace);
    llvm::IRBuilder<> b(&kernel->getEntryBlock(), kernel->getEntryBlock().getFirstInsertionPt());
    call(b, MetalIntrinsic::BeginBarriers, {b.Insert(new llvm::PtrToIntInst(counts, b.getInt32Ty()))});
  }
}

void end_by_return(llvm::Function& kernel) {
  llvm::SmallVector<llvm::Instruction*, 8> ends;
  for (llvm::Instruction& instruction : llvm::instructions(kernel))
    if (ends_thread(instruction)) ends.push_back(&instruction);
  for (llvm::Instruction* end : ends) {
    llvm::BasicBlock* block = end->getParent();
    llvm::SplitBlock(block, end->getNextNode());
    llvm::Instruction* jump = block->getTerminator();
    jump->getSuccessor(0)->removePredecessor(block);
    llvm::IRBuilder<> b(jump);
    b.CreateRetVoid();
    jump->eraseFromParent();
    if (kir::intrinsic_of(*end) == kir::Intrinsic::Exit) end->eraseFromParent();
  }
  llvm::removeUnreachableBlocks(kernel);
}

uint32_t make_threads_meet(llvm::Function& kernel) {
  const bool is_needed = has_any(kernel, is_grid_barrier) || begin_barriers_of(kernel) ||
                         (has_any(kernel, is_barrier) && may_part_at_barriers(kernel));
  return is_needed ? make_meeting_loop(kernel) : 0;
}

}  // namespace cupola::metal::build
