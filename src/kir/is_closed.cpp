#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>

#include "kir/address_space.h"
#include "kir/c_functions.h"
#include "kir/intrinsics.h"
#include "kir/kir.h"

namespace cupola::kir {
namespace {

/// What a library defines; bodies are not read.
llvm::StringSet<> names_in(std::span<const std::byte> bitcode) {
  llvm::StringSet<> names;
  llvm::LLVMContext context;
  const llvm::StringRef bytes(reinterpret_cast<const char*>(bitcode.data()), bitcode.size());
  auto module = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bytes, "device library"), context);
  if (!module) {
    llvm::consumeError(module.takeError());
    return names;
  }
  for (const llvm::Function& function : **module)
    if (!function.isDeclaration() && function.hasExternalLinkage()) names.insert(function.getName());
  return names;
}

bool is_called_only(const llvm::Function& function) {
  return llvm::all_of(function.uses(), [](const llvm::Use& use) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
    return call && call->isCallee(&use);
  });
}

/// What prepare has a meaning for without a library.
bool is_known(const llvm::Function& function) {
  if (function.isIntrinsic()) return true;
  const auto intrinsic = intrinsic_of(function);
  return intrinsic ? function.getFunctionType() == type_of(*intrinsic, function.getContext())
                   : is_library_call(function.getName());
}

}  // namespace

bool is_closed(const llvm::Module& module, std::span<const std::byte> device_library) {
  if (llvm::verifyModule(module)) return false;
  for (const llvm::GlobalVariable& variable : module.globals())
    if (variable.isDeclaration() && !variable.use_empty() && variable.getAddressSpace() != kSharedSpace) return false;
  llvm::SmallVector<const llvm::Function*, 8> open;
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() || function.use_empty()) continue;
    if (!function.isIntrinsic() && !is_called_only(function)) return false;
    if (!is_known(function)) open.push_back(&function);
  }
  if (open.empty()) return true;
  const llvm::StringSet<> names = names_in(device_library);
  return llvm::all_of(open, [&](const llvm::Function* function) { return names.contains(function->getName()); });
}

}  // namespace cupola::kir
