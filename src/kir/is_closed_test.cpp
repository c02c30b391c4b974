// Oracle: what each module leaves undefined.

#include <gtest/gtest.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Support/raw_ostream.h>

#include "kir/kir.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

std::string library() {
  TestModule module("define float @__nv_sinf(float %x) {\n ret float %x\n}\ndeclare float @sinf(float)\n");
  std::string bitcode;
  llvm::raw_string_ostream out(bitcode);
  llvm::WriteBitcodeToFile(*module, out);
  return bitcode;
}

bool closed(const std::string& text) {
  TestModule module(text);
  static const std::string bitcode = library();
  return is_closed(*module, std::as_bytes(std::span(bitcode)));
}

std::string calls(const std::string& name) {
  return "declare float @" + name + "(float)\ndefine float @f(float %x) {\n %y = call float @" + name +
         "(float %x)\n ret float %y\n}\n";
}

TEST(IsClosed, WhereAllThatIsCalledIsKnown) {
  EXPECT_TRUE(closed("define float @f(float %x) {\n ret float %x\n}\n"));
  EXPECT_TRUE(closed(calls("llvm.sqrt.f32")));
  EXPECT_TRUE(closed(calls("__nv_sinf")));
  EXPECT_TRUE(closed("declare float @elsewhere(float)\n"));  // nobody calls it
  EXPECT_TRUE(
      closed("@dynamic = external addrspace(3) global [0 x i8]\n"
             "define ptr addrspace(3) @f() {\n ret ptr addrspace(3) @dynamic\n}\n"));
}

TEST(IsClosed, NotWhereSomethingIsDefinedNowhere) {
  EXPECT_FALSE(closed(calls("elsewhere")));
  EXPECT_FALSE(closed(calls("__nv_unknown")));
  EXPECT_FALSE(
      closed("@v = external addrspace(1) global i32\n"
             "define ptr addrspace(1) @f() {\n ret ptr addrspace(1) @v\n}\n"));
  EXPECT_FALSE(closed("declare float @__nv_sinf(float)\ndefine ptr @f() {\n ret ptr @__nv_sinf\n}\n"));
}

}  // namespace
}  // namespace cupola::kir
