#include "backend/cpu/build/place_notes.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Scalar/LoopDeletion.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

#include <optional>
#include <utility>

#include "backend/cpu/build/shared_window.h"
#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_prefetch.h"

// LLVM sees so by itself only where few notes are made: a context whose address has many uses counts as given away.

namespace cupola::cpu::build {
namespace {

/// Nothing that the context has, for certain.
bool is_elsewhere(const llvm::Instruction& instruction) {
  const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    const llvm::Intrinsic::ID which = call->getIntrinsicID();
    if (which == llvm::Intrinsic::masked_gather || which == llvm::Intrinsic::masked_scatter) return true;
    if (which == llvm::Intrinsic::masked_load) address = call->getArgOperand(0);
    if (which == llvm::Intrinsic::masked_store) address = call->getArgOperand(1);
  }
  return address && llvm::getUnderlyingObject(address) != context_of(*instruction.getFunction());
}

/// Where in the context the note is made; nothing: it is none.
std::optional<uint64_t> place_of_note(const llvm::Instruction& instruction) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  if (!store || !store->isVolatile()) return std::nullopt;
  if (!store->getValueOperand()->getType()->isIntegerTy(32)) return std::nullopt;
  return place_in_context(*store->getPointerOperand(), *instruction.getFunction());
}

/// What cannot fail: its place in the window of shared memory is there for certain.
llvm::DenseSet<const llvm::Instruction*> certain_accesses(llvm::Function& code) {
  llvm::DenseSet<const llvm::Instruction*> certain;
  if (const auto accesses = accesses_of_window(code))
    for (const WindowAccess& access : *accesses)
      if (is_inside(access.range)) certain.insert(access.instruction);
  return certain;
}

/// In which places notes are made before anything is done that could fail or tell, on whichever way it goes on.
class OverwrittenNotes {
 public:
  explicit OverwrittenNotes(llvm::Function& code) : certain_(certain_accesses(code)) {
    // From nothing that could fail or tell to less: a loop that does nothing of the kind hides none that follow it.
    for (llvm::BasicBlock* block : llvm::post_order(&code)) before_[block] = kAll;
    for (bool changed = true; changed;) {
      changed = false;
      for (llvm::BasicBlock* block : llvm::post_order(&code)) {
        Places places = behind(*block);
        for (llvm::Instruction& instruction : llvm::reverse(*block)) pass(instruction, places);
        changed |= std::exchange(before_[block], places) != places;
      }
    }
  }

  /// Whether there was any.
  bool drop() {
    bool dropped = false;
    for (const auto& [block, _] : before_) {
      Places places = behind(*block);
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::reverse(*block)))
        if (pass(instruction, places)) {
          instruction.eraseFromParent();
          dropped = true;
        }
    }
    return dropped;
  }

 private:
  using Places = uint64_t;  ///< a bit for each word of the context
  static constexpr Places kAll = ~uint64_t{0};
  static_assert(sizeof(image::cpu::ThreadContext) / sizeof(uint32_t) <= 64);

  Places behind(llvm::BasicBlock& block) const {
    if (llvm::succ_empty(&block)) return 0;
    Places places = kAll;
    for (llvm::BasicBlock* next : llvm::successors(&block)) places &= before_.lookup(next);
    return places;
  }

  /// Goes before the instruction. Whether it is a note that another one overwrites.
  bool pass(const llvm::Instruction& instruction, Places& places) const {
    if (const auto place = place_of_note(instruction)) {
      const Places bit = Places{1} << *place / sizeof(uint32_t);
      return std::exchange(places, places | bit) & bit;
    }
    if (instruction.mayReadOrWriteMemory() && !is_fetch(instruction) && !certain_.contains(&instruction)) places = 0;
    return false;
  }

  const llvm::DenseSet<const llvm::Instruction*> certain_;
  llvm::MapVector<llvm::BasicBlock*, Places> before_;
};

bool is_idle(const llvm::Loop* loop) {
  return llvm::none_of(loop->blocks(), [](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, [](const llvm::Instruction& instruction) { return instruction.mayHaveSideEffects(); });
  });
}

}  // namespace

void drop_overwritten_notes(llvm::Function& code, llvm::FunctionAnalysisManager& analyses) {
  if (!OverwrittenNotes(code).drop()) return;
  analyses.invalidate(code, llvm::PreservedAnalyses::none());
  if (llvm::none_of(analyses.getResult<llvm::LoopAnalysis>(code).getLoopsInPreorder(), is_idle)) return;
  analyses.invalidate(code, llvm::createFunctionToLoopPassAdaptor(llvm::LoopDeletionPass()).run(code, analyses));
}

void tell_notes_apart(llvm::Function& code, llvm::ArrayRef<llvm::StoreInst*> notes) {
  constexpr unsigned kScopes = llvm::LLVMContext::MD_alias_scope, kOthers = llvm::LLVMContext::MD_noalias;
  llvm::MDBuilder metadata(code.getContext());
  llvm::MDNode* elsewhere = metadata.createAnonymousAliasScope(metadata.createAnonymousAliasScopeDomain());
  llvm::MDNode* scopes = llvm::MDNode::get(code.getContext(), elsewhere);
  for (llvm::StoreInst* note : notes) note->setMetadata(kOthers, scopes);
  for (llvm::Instruction& instruction : llvm::instructions(code))
    if (is_elsewhere(instruction))
      instruction.setMetadata(kScopes, llvm::MDNode::concatenate(instruction.getMetadata(kScopes), scopes));
}

}  // namespace cupola::cpu::build
