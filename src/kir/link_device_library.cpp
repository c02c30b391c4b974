#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Attributes.h>
#include <llvm/IR/Constants.h>
#include <llvm/Linker/Linker.h>
#include <llvm/TargetParser/Triple.h>

#include "kir/diagnostics.h"
#include "kir/intrinsics.h"
#include "kir/kir.h"
#include "kir/passes.h"

namespace cupola::kir {
namespace {

/// A library must not bring flags that contradict the module's, nor keep its functions alive by itself.
void strip_module_level(llvm::Module& library) {
  for (const char* name : {"llvm.module.flags", "nvvmir.version", "llvm.ident", "opencl.ocl.version"})
    if (llvm::NamedMDNode* node = library.getNamedMetadata(name)) node->eraseFromParent();
  for (const char* name : {"llvm.used", "llvm.compiler.used"})
    if (llvm::GlobalVariable* list = library.getGlobalVariable(name)) list->eraseFromParent();
}

/// Bitcode of which functions are read when they are linked: a program uses few. Text as read() does.
Result<std::unique_ptr<llvm::Module>> read_lazily(llvm::LLVMContext& context, std::span<const std::byte> code) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(code.data()), code.size());
  if (!is_bitcode(bytes)) return read(context, code);
  auto module = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bytes, "device library"), context);
  llvm::Error error = module ? (*module)->materializeMetadata() : module.takeError();
  if (!error) return std::move(*module);
  return fail(ErrorCode::InvalidImage, "kir: the device library cannot be read: {}", llvm::toString(std::move(error)));
}

bool flushes(const llvm::Module& module) {
  auto* flag = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(module.getModuleFlag("nvvm-reflect-ftz"));
  return flag && !flag->isZero();
}

/// The module declares something that is no intrinsic. Where there is nothing of the kind the library need not be read,
/// whose declarations alone take longer than small kernels.
bool is_open(const llvm::Module& module) {
  const auto is_declared = [](const llvm::GlobalValue& value) { return value.isDeclaration(); };
  return llvm::any_of(module.globals(), is_declared) || llvm::any_of(module, [&](const llvm::Function& function) {
           return is_declared(function) && !function.isIntrinsic() && !intrinsic_of(function);
         });
}

}  // namespace

Result<> link_device_library(llvm::Module& module, std::span<const std::byte> bitcode) {
  if (bitcode.empty() || !is_open(module)) return {};
  TRY(std::unique_ptr<llvm::Module> library, read_lazily(module.getContext(), bitcode));
  strip_module_level(*library);
  library->setDataLayout(module.getDataLayout());
  library->setTargetTriple(module.getTargetTriple());
  for (llvm::Function& function : *library) {
    if (function.isDeclaration()) continue;
    function.removeFnAttr("denormal-fp-math-f32");
    if (function.getSection() == kElementarySection) {
      function.setSection("");
      function.addFnAttr(kElementary);
      continue;
    }
    if (flushes(module)) say_flushing(function);
  }
  const std::string& diagnostic = collect_diagnostics(module.getContext());
  if (llvm::Linker::linkModules(module, std::move(library), llvm::Linker::Flags::LinkOnlyNeeded))
    return fail(ErrorCode::InvalidImage, "kir: the device library cannot be linked with module '{}': {}",
                module.getModuleIdentifier(), diagnostic);
  return {};
}

void internalize(llvm::Module& module, bool relocatable) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    for (const char* host : {"target-cpu", "target-features", "frame-pointer", "stack-protector-buffer-size"})
      function.removeFnAttr(host);  // no back-end's, and where they differ nothing would be inlined
    function.setComdat(nullptr);
    function.setVisibility(llvm::GlobalValue::DefaultVisibility);
    if (relocatable && (function.hasExternalLinkage() || function.hasWeakLinkage())) continue;
    function.setLinkage(is_kernel(function) ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage);
  }
  remove_unreached(module);
}

}  // namespace cupola::kir
