#include "kir/test_module.h"

#include <gtest/gtest.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

namespace cupola::kir {

struct TestModule::Machine {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

TestModule::TestModule(const std::string& text) : context_(std::make_unique<llvm::LLVMContext>()) {
  auto module = read(*context_, std::as_bytes(std::span(text)));
  if (!module) {
    ADD_FAILURE() << module.error().message;
    std::abort();
  }
  module_ = std::move(*module);
}

TestModule::~TestModule() {
  machine_.reset();
  module_.reset();
}

void* TestModule::address(const std::string& name) {
  if (!machine_) {
    EXPECT_FALSE(llvm::verifyModule(*module_, &llvm::errs()));
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    machine_ = std::make_unique<Machine>();
    machine_->jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
    module_->setTargetTriple(machine_->jit->getTargetTriple());
    module_->setDataLayout(machine_->jit->getDataLayout());
    for (llvm::Function& function : *module_) {
      function.setCallingConv(llvm::CallingConv::C);
      function.removeFnAttr("target-cpu");
      function.removeFnAttr("target-features");
    }
    llvm::orc::ThreadSafeContext context(std::move(context_));
    llvm::cantFail(machine_->jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module_), context)));
  }
  return llvm::cantFail(machine_->jit->lookup(name)).toPtr<void*>();
}

namespace {

TEST(TestModule, RunsWhatTheTextSays) {
  TestModule module("define i32 @f(i32 %x) { %y = add i32 %x, 1\n ret i32 %y }");
  EXPECT_EQ(module.function<int(int)>("f")(41), 42);
}

}  // namespace
}  // namespace cupola::kir
