#include "compile/ptx_text.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <cstdlib>

namespace cupola {
namespace {

constexpr const char* kTriple = "nvptx64-nvidia-cuda";

/// The oldest PTX that has what kernels use up to sm_90, so that drivers of CUDA 12.8 and later read it; architectures
/// that came with CUDA 13 ask for more.
const char* version_for(const std::string& architecture) {
  const int number = std::atoi(architecture.c_str() + sizeof "sm_" - 1);
  return number < 100 && number != 88 ? "+ptx87" : "+ptx90";
}

Result<std::unique_ptr<llvm::TargetMachine>> nvptx_machine(const std::string& architecture) {
  static const bool ready = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)ready;
  const llvm::Triple triple(kTriple);
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) return fail(ErrorCode::NotSupported, "ptx: {}", error);
  const std::unique_ptr<llvm::MCSubtargetInfo> known(target->createMCSubtargetInfo(triple, "", ""));
  if (!known->isCPUStringValid(architecture))
    return fail(ErrorCode::NotSupported, "ptx: '{}' is no architecture that LLVM writes PTX for; sm_89 is one",
                architecture);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // kir decided what is fused; prints .rn
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, architecture, version_for(architecture), options, llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine) return fail(ErrorCode::NotSupported, "ptx: LLVM cannot write PTX for {}", architecture);
  return machine;
}

}  // namespace

Result<std::string> ptx_text(std::unique_ptr<llvm::Module> module, const std::string& architecture) {
  TRY(std::unique_ptr<llvm::TargetMachine> machine, nvptx_machine(architecture));
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  llvm::stripNonLineTableDebugInfo(*module);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return fail(ErrorCode::NotSupported, "ptx: LLVM was built without its PTX printer");
  passes.run(*module);
  return std::string(text.str());
}

}  // namespace cupola
