#include "ptx/lower/lower.h"

#include "kir/kir.h"
#include "ptx/lower/module_lowering.h"

namespace cupola::ptx {

Result<std::unique_ptr<llvm::Module>> lower(const Module& module, llvm::LLVMContext& context) {
  auto out = std::make_unique<llvm::Module>("ptx", context);
  out->setTargetTriple(llvm::Triple(kir::kTriple));
  out->setDataLayout(kir::kDataLayout);
  ModuleLowering lowering(module, *out);
  TRY(lowering.declare());
  TRY(lowering.lower_bodies());
  return out;
}

}  // namespace cupola::ptx
