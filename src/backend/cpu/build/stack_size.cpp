#include "backend/cpu/build/stack_size.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <optional>

#include "kir/call_reach.h"

namespace cupola::cpu::build {
namespace {

class Depth {
 public:
  explicit Depth(const kir::CallReach& reach) : reach_(reach) {}

  /// Nothing when a chain of calls comes back to a function on it.
  std::optional<uint64_t> of(llvm::Function& function) {
    if (auto known = known_.find(&function); known != known_.end()) return known->second;
    known_[&function] = std::nullopt;  // while it is open: meeting it again is recursion
    uint64_t deepest = 0;
    for (llvm::Function* callee : reach_.callees(&function)) {
      const std::optional<uint64_t> below = of(*callee);
      if (!below) return std::nullopt;
      deepest = std::max(deepest, *below);
    }
    return known_[&function] = own(function) + deepest;
  }

 private:
  static uint64_t own(const llvm::Function& function) {
    uint64_t bytes = 0;
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
        if (auto size = local->getAllocationSize(function.getParent()->getDataLayout()); size && !size->isScalable())
          bytes += size->getFixedValue();
    return bytes;
  }

  const kir::CallReach& reach_;
  llvm::DenseMap<llvm::Function*, std::optional<uint64_t>> known_;
};

}  // namespace

uint64_t local_bytes(llvm::Function& function, const kir::CallReach& reach) {
  return Depth(reach).of(function).value_or(0);
}

}  // namespace cupola::cpu::build
