#include "backend/cpu/build/early_clears.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>

#include "backend/cpu/build/shared_window.h"

namespace cupola::cpu::build {
namespace {

using llvm::Instruction;

/// Bytes that are cleared one after the other: less fits into a processor's queue of stores.
constexpr int64_t kLeastBytes = 4096;

using Accesses = llvm::DenseMap<const Instruction*, WindowAccess>;

/// Stores of known numbers, and nothing else to the window between them.
using Run = llvm::SmallVector<WindowAccess, 16>;

bool is_clear(const WindowAccess& access) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(access.instruction);
  return store && llvm::isa<llvm::Constant>(store->getValueOperand()) && is_inside(access.range);
}

int64_t bytes_of(const Run& run) {
  int64_t bytes = 0;
  for (const WindowAccess& clear : run) bytes += clear.range->second - clear.range->first;
  return bytes;
}

/// What may be seen elsewhere in an order.
bool orders_memory(const Instruction& instruction) {
  return llvm::isa<llvm::FenceInst>(instruction) || instruction.isAtomic();
}

/// Whether the store can stand behind the instruction, of the same block.
bool can_follow(const llvm::StoreInst& store, const Instruction& place) {
  const auto* address = llvm::dyn_cast<Instruction>(store.getPointerOperand());
  return !address || address->getParent() != place.getParent() || address->comesBefore(&place);
}

/// Goes through a block of code.
class Clearing {
 public:
  void take(const WindowAccess& access) {
    if (is_clear(access)) {
      run_.push_back(access);
    } else {
      end_run();
      before_.push_back(access);
    }
  }

  void end_run() {
    if (bytes_of(run_) >= kLeastBytes && run_.size() <= kMostStores)
      for (const WindowAccess& clear : run_) move(clear);
    before_.append(run_);
    run_.clear();
  }

  /// Nothing moves to before this.
  void forget() {
    end_run();
    before_.clear();
  }

 private:
  static constexpr size_t kMostStores = 1024;  // each is compared with the others, and with what is before

  void move(const WindowAccess& clear) {
    const auto last = llvm::find_if(llvm::reverse(before_),
                                    [&](const WindowAccess& access) { return overlap(clear.range, access.range); });
    auto& store = llvm::cast<llvm::StoreInst>(*clear.instruction);
    if (last == before_.rend() || moved_.contains(last->instruction) || !can_follow(store, *last->instruction) ||
        is_set_twice(clear))
      return;
    Instruction*& place = behind_.try_emplace(last->instruction, last->instruction).first->second;
    store.moveAfter(place);
    place = &store;
    moved_.insert(&store);
  }

  bool is_set_twice(const WindowAccess& clear) const {
    return llvm::any_of(run_, [&](const WindowAccess& other) {
      return other.instruction != clear.instruction && overlap(other.range, clear.range);
    });
  }

  Run run_;
  llvm::SmallVector<WindowAccess, 32> before_;         ///< in the order of the code as it was
  llvm::DenseMap<Instruction*, Instruction*> behind_;  ///< the last that was moved to behind it
  llvm::SmallPtrSet<const Instruction*, 32> moved_;
};

}  // namespace

void clear_early(llvm::Function& code) {
  const auto all = accesses_of_window(code);
  if (!all) return;
  Accesses accesses;
  for (const WindowAccess& access : *all) accesses.try_emplace(access.instruction, access);
  for (llvm::BasicBlock& block : code) {
    Clearing clearing;
    for (Instruction& instruction : llvm::make_early_inc_range(block)) {
      if (const auto access = accesses.find(&instruction); access != accesses.end())
        clearing.take(access->second);
      else if (orders_memory(instruction))
        clearing.forget();
    }
    clearing.end_run();
  }
}

}  // namespace cupola::cpu::build
