#include "ptx/lower/lower.h"

#include "ptx/lower/module_lowering.h"

namespace cupola::ptx {

Result<std::unique_ptr<llvm::Module>> lower(const Module& module, llvm::LLVMContext& context) {
  auto out = std::make_unique<llvm::Module>("ptx", context);
  out->setTargetTriple(llvm::Triple("nvptx64-nvidia-cuda"));
  out->setDataLayout("e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64");
  ModuleLowering lowering(module, *out);
  TRY(lowering.declare());
  TRY(lowering.lower_bodies());
  return out;
}

}  // namespace cupola::ptx
