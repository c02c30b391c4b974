#include "backend/metal/build/raise/refusals.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "kir/call_reach.h"
#include "kir/passes.h"

namespace cupola::metal::build {

void refuse(Raised& raised, const Refusals& functions) {
  if (functions.empty()) return;
  const kir::CallReach reach(*raised.module);
  for (RaisedKernel& kernel : raised.kernels) {
    if (!kernel.code) continue;
    const kir::CallReach::Functions reached = reach.from(kernel.code);
    const auto* first = llvm::find_if(reached, [&](const auto* function) { return functions.contains(function); });
    if (first != reached.end()) kernel.refusal = functions.at(*first);
  }
  for (RaisedKernel& kernel : raised.kernels)
    if (kernel.code && kernel.refusal) kernel.code->deleteBody();
  for (RaisedKernel& kernel : raised.kernels) {
    if (!kernel.code || !kernel.refusal) continue;
    llvm::removeFromUsedLists(*raised.module, [&](llvm::Constant* used) { return used == kernel.code; });
    kernel.code->removeDeadConstantUsers();
    if (kernel.code->use_empty()) kernel.code->eraseFromParent();
    kernel = {.info = {.name = kernel.info.name}, .entry = {}, .code = nullptr, .refusal = kernel.refusal};
  }
  kir::remove_unreached(*raised.module);
}

Error needs_newer(uint32_t version, uint32_t newest) {
  return {ErrorCode::NotSupported, formatted("metal: the code needs MSL {}.{}; this system's Metal has {}.{}",
                                             version / 10, version % 10, newest / 10, newest % 10)};
}

Result<> all_are_made(const Raised& raised) {
  for (const RaisedKernel& kernel : raised.kernels)
    if (kernel.refusal) return fail(*kernel.refusal);
  return {};
}

}  // namespace cupola::metal::build
