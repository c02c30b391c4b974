#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>

#include "kir/kir.h"

namespace cupola::kir {

/// A module from text, and its functions as machine code of the host: tests of values run what the passes made of the
/// text.
class TestModule {
 public:
  explicit TestModule(const std::string& text);
  ~TestModule();
  llvm::Module& operator*() { return *module_; }
  llvm::Module* operator->() { return module_.get(); }
  std::string text() const { return print(*module_); }

  /// The function's address; the first call compiles the module, which may not be changed afterwards.
  template <typename Function>
  Function* function(const std::string& name) {
    return reinterpret_cast<Function*>(address(name));
  }

 private:
  struct Machine;
  void* address(const std::string& name);
  std::unique_ptr<llvm::LLVMContext> context_;
  std::unique_ptr<llvm::Module> module_;
  std::unique_ptr<Machine> machine_;
};

}  // namespace cupola::kir
