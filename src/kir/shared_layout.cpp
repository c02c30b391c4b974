#include "kir/shared_layout.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <vector>

#include "kir/address_space.h"
#include "kir/call_reach.h"

namespace cupola::kir {
namespace {

using Kernels = llvm::SmallPtrSet<const llvm::Function*, 4>;

struct Placed {
  uint64_t offset, size;
  const Kernels* kernels;
};

bool intersects(const Kernels& a, const Kernels& b) {
  return std::any_of(a.begin(), a.end(), [&](const llvm::Function* kernel) { return b.contains(kernel); });
}

uint64_t lowest_offset(const std::vector<Placed>& placed, const Kernels& kernels, uint64_t size, uint64_t alignment) {
  std::vector<Placed> taken;
  for (const Placed& other : placed)
    if (intersects(*other.kernels, kernels)) taken.push_back(other);
  std::sort(taken.begin(), taken.end(), [](const Placed& a, const Placed& b) { return a.offset < b.offset; });
  uint64_t offset = 0;
  for (const Placed& other : taken) {
    if (offset + size <= other.offset) break;
    offset = std::max(offset, llvm::alignTo(other.offset + other.size, alignment));
  }
  return offset;
}

/// For each shared variable, the kernels that reach a function that names it.
llvm::MapVector<llvm::GlobalVariable*, Kernels> users_of(llvm::Module& module, llvm::ArrayRef<llvm::Function*> kernels,
                                                         const CallReach& reach) {
  llvm::DenseMap<const llvm::Function*, Kernels> reached_by;
  for (llvm::Function* kernel : kernels)
    for (const llvm::Function* function : reach.from(kernel)) reached_by[function].insert(kernel);
  llvm::MapVector<llvm::GlobalVariable*, Kernels> users;
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getAddressSpace() != kSharedSpace) continue;
    Kernels& all = users[&variable];
    for (const llvm::User* user : variable.users())
      if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user)) {
        const Kernels& some = reached_by[instruction->getFunction()];
        all.insert(some.begin(), some.end());
      }
  }
  return users;
}

}  // namespace

Result<SharedLayout> lay_out_shared(llvm::Module& module, llvm::ArrayRef<llvm::Function*> kernels,
                                    const CallReach& reach, const SharedLimits& limits) {
  const llvm::DataLayout& data_layout = module.getDataLayout();
  SharedLayout layout;
  std::vector<Placed> placed;
  const auto users = users_of(module, kernels, reach);
  for (const auto& [variable, reaching] : users)
    for (const llvm::Function* kernel : reaching) {
      uint64_t& alignment = layout.alignments[kernel];
      alignment = std::max(alignment, variable->getAlign().valueOrOne().value());
    }
  for (const auto& [variable, reaching] : users) {
    const uint64_t size = data_layout.getTypeAllocSize(variable->getValueType());
    if (variable->isDeclaration() || size == 0) continue;  // dynamic
    const uint64_t alignment = data_layout.getPreferredAlign(variable).value();
    const uint64_t offset = lowest_offset(placed, reaching, size, alignment);
    layout.offsets[variable] = offset;
    placed.push_back({offset, size, &reaching});
    for (const llvm::Function* kernel : reaching) {
      uint64_t& bytes = layout.static_bytes[kernel];
      bytes = std::max(bytes, offset + size);
      if (bytes > limits.window)
        return fail(ErrorCode::NotSupported, "'{}' needs more than {} bytes of static shared memory",
                    kernel->getName().str(), limits.window);
    }
  }
  for (const auto& [variable, reaching] : users) {
    if (layout.offsets.contains(variable)) continue;
    const uint64_t alignment = variable->getAlign().valueOrOne().value();
    if (alignment <= limits.dynamic_alignment) continue;
    for (const llvm::Function* kernel : reaching) {
      uint64_t& bytes = layout.static_bytes[kernel];
      bytes = llvm::alignTo(bytes, alignment);
    }
  }
  return layout;
}

}  // namespace cupola::kir
