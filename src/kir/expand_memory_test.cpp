// Oracle: the PTX ISA's "atom", "membar", "cp.async" and "isspacep", worked out by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "kir/passes.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

using testing::HasSubstr;

/// The module with @f around `body`, after expansion.
std::string module_text(const std::string& declarations, const std::string& signature, const std::string& body) {
  std::string text;
  for (size_t at = 0; at < declarations.size();) {
    const size_t end = std::min(declarations.find(';', at), declarations.size());
    text += "declare " + declarations.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text + "define " + signature + " {\n" + body + "\n}";
}

/// What an atomic operation answers and leaves behind.
struct Atomic {
  uint32_t answer, left;
  bool operator==(const Atomic&) const = default;
};

Atomic atomic(const std::string& op, uint32_t start, uint32_t operand) {
  const std::string name = "i32 @llvm.nvvm.atomic." + op + ".gen.i.sys.i32.p0(ptr";
  TestModule module(
      module_text(name + ", i32)", "i32 @f(ptr %p, i32 %x)", "%r = call " + name + " %p, i32 %x)\nret i32 %r"));
  const Result<> expanded = expand_nvvm(*module);
  EXPECT_TRUE(expanded) << expanded.error().message;
  const uint32_t answer = module.function<uint32_t(uint32_t*, uint32_t)>("f")(&start, operand);
  return {answer, start};
}

TEST(ExpandMemory, AtomicsAnswerWhatWasThere) {
  EXPECT_EQ(atomic("add", 5, 7), (Atomic{5, 12}));
  EXPECT_EQ(atomic("and", 0b1100, 0b1010), (Atomic{0b1100, 0b1000}));
  EXPECT_EQ(atomic("or", 0b1100, 0b1010), (Atomic{0b1100, 0b1110}));
  EXPECT_EQ(atomic("xor", 0b1100, 0b1010), (Atomic{0b1100, 0b0110}));
  EXPECT_EQ(atomic("exch", 1, 2), (Atomic{1, 2}));
  EXPECT_EQ(atomic("inc", 3, 4), (Atomic{3, 4}));
  EXPECT_EQ(atomic("inc", 4, 4), (Atomic{4, 0}));
  EXPECT_EQ(atomic("dec", 0, 4), (Atomic{0, 4}));
  EXPECT_EQ(atomic("dec", 9, 4), (Atomic{9, 4}));
  EXPECT_EQ(atomic("dec", 3, 4), (Atomic{3, 2}));
}

TEST(ExpandMemory, CompareAndSwap) {
  const std::string name = "i32 @llvm.nvvm.atomic.cas.gen.i.cta.i32.p0(ptr";
  TestModule module(module_text(name + ", i32, i32)", "i32 @f(ptr %p, i32 %x, i32 %y)",
                                "%r = call " + name + " %p, i32 %x, i32 %y)\nret i32 %r"));
  ASSERT_TRUE(expand_nvvm(*module));
  EXPECT_THAT(module.text(), HasSubstr("syncscope(\"block\")"));
  auto* f = module.function<uint32_t(uint32_t*, uint32_t, uint32_t)>("f");
  uint32_t value = 5;
  EXPECT_EQ(f(&value, 4, 9), 5u);
  EXPECT_EQ(value, 5u);
  EXPECT_EQ(f(&value, 5, 9), 5u);
  EXPECT_EQ(value, 9u);
}

TEST(ExpandMemory, MinAndMaxOfUnknownSignAreRefused) {
  const std::string name = "i32 @llvm.nvvm.atomic.max.gen.i.cta.i32.p0(ptr";
  TestModule module(
      module_text(name + ", i32)", "i32 @f(ptr %p, i32 %x)", "%r = call " + name + " %p, i32 %x)\nret i32 %r"));
  EXPECT_FALSE(expand_nvvm(*module));
}

TEST(ExpandMemory, FencesHaveTheirScopes) {
  const auto fence = [](const std::string& name) {
    TestModule module(
        module_text("void @llvm.nvvm." + name + "()", "void @f()", "call void @llvm.nvvm." + name + "()\nret void"));
    EXPECT_TRUE(expand_nvvm(*module));
    return module.text();
  };
  EXPECT_THAT(fence("membar.cta"), HasSubstr("fence syncscope(\"block\") seq_cst"));
  EXPECT_THAT(fence("membar.gl"), HasSubstr("fence syncscope(\"device\") seq_cst"));
  EXPECT_THAT(fence("membar.sys"), HasSubstr("fence seq_cst"));
}

TEST(ExpandMemory, AsynchronousCopiesCopyAndFillWithZeros) {
  const std::string to = "ptr addrspace(3)", from = "ptr addrspace(1)";
  const std::string whole = "void @llvm.nvvm.cp.async.ca.shared.global.8(" + to;
  const std::string part = "void @llvm.nvvm.cp.async.cg.shared.global.16.s(" + to;
  TestModule module(module_text(whole + ", " + from + ");" + part + ", " + from + ", i32)",
                                "void @f(ptr %to, ptr %from, i32 %n)",
                                "%t = addrspacecast ptr %to to " + to + "\n%s = addrspacecast ptr %from to " + from +
                                    "\n%u = getelementptr i8, " + to + " %t, i64 16\ncall " + whole + " %t, " + from +
                                    " %s)\ncall " + part + " %u, " + from + " %s, i32 %n)\nret void"));
  const Result<> expanded = expand_nvvm(*module);
  ASSERT_TRUE(expanded) << expanded.error().message;
  auto* f = module.function<void(uint32_t*, const uint32_t*, int)>("f");
  alignas(16) const std::array<uint32_t, 4> source = {1, 2, 3, 4};
  for (const int bytes : {16, 8, 0, 99}) {
    alignas(16) std::array<uint32_t, 8> target = {9, 9, 9, 9, 9, 9, 9, 9};
    f(target.data(), source.data(), bytes);
    std::array<uint32_t, 8> expected = {1, 2, 9, 9, 0, 0, 0, 0};
    for (size_t i = 0; i < 4; ++i)
      if (static_cast<int>(4 * i) < bytes) expected[4 + i] = source[i];
    EXPECT_EQ(target, expected) << bytes;
  }
}

TEST(ExpandMemory, UniformLoads) {
  const std::string name = "i32 @llvm.nvvm.ldu.global.i.i32.p1(ptr addrspace(1)";
  TestModule module(
      module_text(name + ", i32)", "i32 @f(ptr %p)",
                  "%g = addrspacecast ptr %p to ptr addrspace(1)\n%r = call " + name + " %g, i32 4)\nret i32 %r"));
  ASSERT_TRUE(expand_nvvm(*module));
  uint32_t value = 1234;
  EXPECT_EQ(module.function<uint32_t(uint32_t*)>("f")(&value), 1234u);
}

TEST(ExpandMemory, AlignmentsThatAreNoneAreRefused) {
  const std::string name = "i32 @llvm.nvvm.ldu.global.i.i32.p1(ptr addrspace(1)";
  for (const std::string alignment : {"i32 3", "i32 0", "i32 %n"}) {
    TestModule module(module_text(name + ", i32)", "i32 @f(ptr addrspace(1) %p, i32 %n)",
                                  "%r = call " + name + " %p, " + alignment + ")\nret i32 %r"));
    EXPECT_FALSE(expand_nvvm(*module)) << alignment;
  }
}

TEST(ExpandMemory, GlobalIsWhatIsNeitherSharedNorLocal) {
  const std::string name = "i1 @llvm.nvvm.isspacep.global(ptr";
  TestModule module(
      module_text(name + ")", "i32 @f(ptr %p)", "%r = call " + name + " %p)\n%w = zext i1 %r to i32\nret i32 %w") +
      "\n@shared = global i1 false\n@local = global i1 false\n"
      "define i1 @cupola.is_shared(ptr %p) { %r = load i1, ptr @shared\n ret i1 %r }\n"
      "define i1 @cupola.is_local(ptr %p) { %r = load i1, ptr @local\n ret i1 %r }");
  ASSERT_TRUE(expand_nvvm(*module));
  auto* f = module.function<uint32_t(void*)>("f");
  auto* shared = module.function<bool>("shared");
  auto* local = module.function<bool>("local");
  EXPECT_EQ(f(nullptr), 1u);
  *shared = true;
  EXPECT_EQ(f(nullptr), 0u);
  *shared = false, *local = true;
  EXPECT_EQ(f(nullptr), 0u);
}

}  // namespace
}  // namespace cupola::kir
