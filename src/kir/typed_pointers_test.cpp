// Oracle: LLVM's own reader, which takes the text afterwards, and its printer, which says what it read.

#include "kir/typed_pointers.h"

#include <gtest/gtest.h>

#include "kir/kir.h"

namespace cupola::kir {
namespace {

std::string rewritten(const std::string& text) {
  return with_opaque_pointers(text).value_or("(unchanged)");
}

/// The text read by LLVM after the change, and printed.
std::string read_back(const std::string& text) {
  llvm::LLVMContext context;
  const std::string opaque = rewritten(text);
  auto module = read(context, std::as_bytes(std::span(opaque)));
  EXPECT_TRUE(module) << module.error().message << "\n" << opaque;
  return module ? print(**module) : "";
}

TEST(TypedPointers, TextWithoutThemIsLeftAlone) {
  EXPECT_FALSE(with_opaque_pointers("define void @f(ptr %p) { ret void }\n; i32*\n@s = constant [3 x i8] c\"a*b\"\n"));
}

TEST(TypedPointers, EveryTypeBeforeAStarGivesWay) {
  EXPECT_EQ(rewritten("i32*"), "ptr");
  EXPECT_EQ(rewritten("%struct.a**"), "ptr");
  EXPECT_EQ(rewritten("%\"a b\" addrspace(3)*"), "ptr addrspace(3)");
  EXPECT_EQ(rewritten("[4 x { i8*, <2 x float>* }] addrspace(1)*"), "ptr addrspace(1)");
  EXPECT_EQ(rewritten("<{ i8, i32* }>*"), "ptr");
  EXPECT_EQ(rewritten("void (i8*, ...)*"), "ptr");
  EXPECT_EQ(rewritten("i32 (i32 (i8*)*, i64)* addrspace(4)*"), "ptr addrspace(4)");
  EXPECT_EQ(rewritten("ptr addrspace(5), i8*"), "ptr addrspace(5), ptr");
}

TEST(TypedPointers, WhatOnlyLooksLikeATypeStays) {
  EXPECT_EQ(rewritten("call void %f()\ni8*"), "call void %f()\nptr");
  EXPECT_EQ(rewritten("call void %f(i32* %p)"), "call void %f(ptr %p)");
  EXPECT_EQ(rewritten("{ i32* @a, i32 1 }"), "{ ptr @a, i32 1 }");
  EXPECT_EQ(rewritten("[ i8* null, i8* @b ]"), "[ ptr null, ptr @b ]");
  EXPECT_EQ(rewritten("!0 = !{void ()* @k, !\"kernel*\", i32 1}"), "!0 = !{ptr @k, !\"kernel*\", i32 1}");
  EXPECT_EQ(rewritten("; i8* in a comment\ni8*"), "; i8* in a comment\nptr");
}

TEST(TypedPointers, ParametersByValueKeepTheirType) {
  EXPECT_EQ(rewritten("(%s* byval align 4 %a, i32* dereferenceable(4) %b)"),
            "(ptr byval(%s) align 4 %a, ptr dereferenceable(4) %b)");
  EXPECT_EQ(rewritten("({ i32, float }* noalias sret %a)"), "(ptr noalias sret({ i32, float }) %a)");
  EXPECT_EQ(rewritten("(i8* byval(%s) %a)"), "(ptr byval(%s) %a)");
}

TEST(TypedPointers, LinesStayWhereTheyWere) {
  const std::string text = "define void @f(i32* %p,\n  i64* %q) {\n  ret void\n}\n";
  EXPECT_EQ(std::ranges::count(rewritten(text), '\n'), std::ranges::count(text, '\n'));
}

TEST(TypedPointers, AProgramOfLlvm7IsRead) {
  const std::string printed = read_back(R"(
%node = type { i32, %node*, float (%node*)* }
@table = internal addrspace(3) global [8 x i32*] undef, align 8
@names = constant { i8*, i64 } { i8* getelementptr inbounds ([3 x i8], [3 x i8]* @s, i64 0, i64 1), i64 2 }
@s = private constant [3 x i8] c"a*\00"
declare i8* @malloc(i64)
declare i32 @vprintf(i8*, i8*)
declare void @llvm.memcpy.p0i8.p0i8.i64(i8* nocapture writeonly, i8* nocapture readonly, i64, i1)
define i32* @walk(%node* %n, i32* (i32)* %f, i64 %i) {
entry:
  %p = getelementptr inbounds %node, %node* %n, i64 0, i32 1
  %q = load %node*, %node** %p, align 8
  %v = bitcast %node* %q to i8*
  %w = addrspacecast [8 x i32*] addrspace(3)* @table to [8 x i32*]*
  %x = getelementptr [8 x i32*], [8 x i32*]* %w, i64 0, i64 %i
  store i32* inttoptr (i64 16 to i32*), i32** %x
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* %v, i8* %v, i64 4, i1 false)
  %r = call i32 @vprintf(i8* %v, i8* null)
  %c = call i32* %f(i32 %r)
  %t = cmpxchg i32* %c, i32 0, i32 1 seq_cst monotonic
  ret i32* %c
}
)");
  EXPECT_NE(printed.find("%node = type { i32, ptr, ptr }"), std::string::npos) << printed;
  EXPECT_NE(printed.find("define ptr @walk(ptr %n, ptr %f, i64 %i)"), std::string::npos) << printed;
  EXPECT_NE(printed.find("llvm.memcpy.p0.p0.i64"), std::string::npos) << printed;
  EXPECT_EQ(printed.find("p0i8"), std::string::npos) << printed;
}

TEST(TypedPointers, NestedWithoutEndIsNoTrouble) {
  EXPECT_EQ(rewritten(std::string(5000, '{') + "i8*").size(), 5003u);
  EXPECT_EQ(rewritten("i8" + std::string(5000, '*')), "ptr");
}

}  // namespace
}  // namespace cupola::kir
