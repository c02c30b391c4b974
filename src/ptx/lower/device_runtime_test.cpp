// The functions of the device runtime as PTX declares them. Oracle: the device library, which defines them.

#include <gtest/gtest.h>

#include <string>

#include "base/format.h"
#include "ptx/lower/form_fixture.h"

namespace cupola::ptx {
namespace {

/// As PTX declares a function of the library under another name: by widths, aggregates by their bytes.
std::string declaration_of(const llvm::Function& function, const std::string& name, const llvm::DataLayout& layout) {
  const auto width = [](const llvm::Type* type) {
    return type->isPointerTy() ? 64u : static_cast<unsigned>(type->getPrimitiveSizeInBits());
  };
  std::string text = ".extern .func ";
  if (!function.getReturnType()->isVoidTy())
    text += formatted("(.param .b{} result) ", width(function.getReturnType()));
  text += name + "(";
  for (const llvm::Argument& argument : function.args()) {
    if (argument.getArgNo()) text += ", ";
    const uint64_t bytes = argument.hasByValAttr() ? layout.getTypeAllocSize(argument.getParamByValType()) : 0;
    text += bytes ? formatted(".param .align 8 .b8 p{}[{}]", argument.getArgNo(), bytes)
                  : formatted(".param .b{} p{}", width(argument.getType()), argument.getArgNo());
  }
  return text + ");\n";
}

TEST(DeviceRuntime, IsDeclaredAsTheLibraryDefinesIt) {
  llvm::LLVMContext context;
  const auto library = kir::read(context, device_library());
  ASSERT_TRUE(library) << library.error().message;
  int functions = 0;
  for (const llvm::Function& function : **library) {
    if (function.isDeclaration() || !function.getName().starts_with("cuda")) continue;
    ++functions;
    const std::string name = function.getName().str();
    for (const std::string& called : {name, "__cudaCDP2" + name.substr(4)}) {
      const auto parsed = parse(".version 8.0\n.target sm_70\n.address_size 64\n" +
                                declaration_of(function, called, (*library)->getDataLayout()));
      ASSERT_TRUE(parsed) << parsed.error().message;
      const auto module = lower(*parsed, context);
      ASSERT_TRUE(module) << module.error().message;
      const llvm::Function* const declared = (*module)->getFunction(name);
      ASSERT_NE(declared, nullptr) << called;
      EXPECT_EQ(declared->getFunctionType(), function.getFunctionType()) << called;
    }
  }
  EXPECT_GE(functions, 25);
}

}  // namespace
}  // namespace cupola::ptx
