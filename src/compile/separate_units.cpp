#include "compile/separate_units.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <span>

namespace cupola {
namespace {

constexpr llvm::StringRef kMarks[] = {"__static__", "__intern__"};
constexpr llvm::StringRef kReferences = "__clang_gpu_used_external";

}  // namespace

void unite_internal_names(llvm::Module& module) {
  for (llvm::GlobalObject& definition : module.global_objects()) {
    if (definition.isDeclaration()) continue;
    for (const llvm::StringRef mark : kMarks) {
      const size_t end = definition.getName().rfind(mark);
      if (end == llvm::StringRef::npos) continue;
      llvm::GlobalValue* plain = module.getNamedValue(definition.getName().take_front(end));
      if (!plain || !plain->isDeclaration() || plain->getType() != definition.getType()) continue;
      plain->replaceAllUsesWith(&definition);
      plain->eraseFromParent();
    }
  }
}

void drop_external_references(llvm::Module& module) {
  llvm::removeFromUsedLists(
      module, [](llvm::Constant* used) { return used->stripPointerCasts()->getName().starts_with(kReferences); });
  for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(module.globals()))
    if (variable.getName().starts_with(kReferences) && variable.use_empty()) variable.eraseFromParent();
}

std::vector<std::byte> bitcode_of(const llvm::Module& module) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::WriteBitcodeToFile(module, out);
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

}  // namespace cupola
