#pragma once

#include <gtest/gtest.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Support/raw_ostream.h>

#include <fstream>
#include <iterator>
#include <string>

#include "kir/kir.h"
#include "ptx/lower/lower.h"
#include "ptx/syntax/parser.h"
#include "ptx/syntax/verify.h"

// Single instructions from text to kir. A value is what LLVM folds the function to, once kir::prepare has given every
// instruction its meaning; so only forms that need no thread and no memory have one here. Calls of the device library
// fold as well.

namespace cupola::ptx {

/// The device library of the build.
inline std::span<const std::byte> device_library() {
  static const auto* bytes = [] {
    std::ifstream file(CUPOLA_DEVICE_LIBRARY, std::ios::binary);
    return new std::string(std::istreambuf_iterator<char>(file), {});  // leaked: lives as long as the tests
  }();
  return std::as_bytes(std::span(*bytes));
}

/// A kernel `k` that stores what `.func (.reg .TYPE d) f() { BODY ret; }` returns.
inline Result<std::unique_ptr<llvm::Module>> prepared(llvm::LLVMContext& context, const std::string& type,
                                                      const std::string& body) {
  TRY(const Module parsed, parse(".version 9.0\n.target sm_90\n.address_size 64\n.func (.reg ." + type +
                                 " d) f()\n{\n" + body + "\nret;\n}\n"));
  TRY(verify(parsed));
  TRY(std::unique_ptr<llvm::Module> module, lower(parsed, context));
  llvm::Function* f = module->getFunction("f");
  llvm::Type* bits = llvm::Type::getIntNTy(context, f->getReturnType()->getPrimitiveSizeInBits());
  auto* out = new llvm::GlobalVariable(*module, bits, false, llvm::GlobalValue::ExternalLinkage,
                                       llvm::Constant::getNullValue(bits), "out");
  auto* kernel = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
                                        llvm::GlobalValue::ExternalLinkage, "k", *module);
  if (kir::says_flushing(*f)) kir::say_flushing(*kernel);
  kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", kernel));
  b.CreateStore(b.CreateBitCast(b.CreateCall(f), bits), out);
  b.CreateRetVoid();
  TRY(kir::prepare(*module, {.device_library = device_library()}));
  return module;
}

/// Why the body cannot be lowered; empty when it can.
inline std::string refusal(const std::string& type, const std::string& body) {
  llvm::LLVMContext context;
  const auto module = prepared(context, type, body);
  return module ? std::string() : module.error().message;
}

/// What the body leaves in `d`, in hexadecimal digits; else the error, or the code that is not a constant.
inline std::string result_of(const std::string& type, const std::string& body) {
  llvm::LLVMContext context;
  const auto module = prepared(context, type, body);
  if (!module) return module.error().message;
  for (const llvm::Instruction& instruction : llvm::instructions((*module)->getFunction("k")))
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      if (auto* value = llvm::dyn_cast<llvm::ConstantInt>(store->getValueOperand()))
        return llvm::toString(value->getValue(), 16, false);
  return kir::print(**module);
}

/// A body and what it leaves in `d`.
struct FormValue {
  const char* type;
  const char* body;
  const char* expected;
};
class FormValues : public testing::TestWithParam<FormValue> {};

}  // namespace cupola::ptx
