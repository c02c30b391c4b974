// Oracle: values worked out by hand from the PTX ISA's definitions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kir/passes.h"
#include "kir/test_module.h"
#include "ptx/lower/lower.h"

namespace cupola::ptx {
namespace {

using kir::TestModule;

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A function of two i32 around an asm statement that takes them as $1 and $2.
uint32_t run(const std::string& text, uint32_t a, uint32_t b) {
  TestModule module("define i32 @f(i32 %a, i32 %b) { %r = call i32 asm sideeffect \"" + text +
                    "\", \"=r,r,r\"(i32 %a, i32 %b)\n ret i32 %r }");
  const Result<> expanded = expand_inline_ptx(*module);
  EXPECT_TRUE(expanded) << expanded.error().message;
  if (!expanded) return 0;
  kir::define_guards(*module);
  EXPECT_TRUE(kir::expand_nvvm(*module));
  return module.function<uint32_t(uint32_t, uint32_t)>("f")(a, b);
}

TEST(InlinePtx, Integers) {
  EXPECT_EQ(run("add.u32 $0, $1, $2;", 5, 6), 11u);
  EXPECT_EQ(run("sub.s32 $0, $1, -3;", 5, 0), 8u);
  EXPECT_EQ(run("mul.hi.u32 $0, $1, $2;", 0x80000000, 4), 2u);
  EXPECT_EQ(run("mad.lo.s32 $0, $1, $2, 0x10;", 3, 4), 28u);
  EXPECT_EQ(run("shl.b32 $0, $1, $2;", 1, 32), 0u);
  EXPECT_EQ(run("shr.s32 $0, $1, $2;", 0x80000000, 40), 0xffffffffu);
  EXPECT_EQ(run("min.s32 $0, $1, $2;", 0xffffffff, 3), 0xffffffffu);
  EXPECT_EQ(run("popc.b32 $0, $1;", 0xff, 0), 8u);
  EXPECT_EQ(run("brev.b32 $0, $1;", 1, 0), 0x80000000u);
  EXPECT_EQ(run("bfind.u32 $0, $1;", 0x100, 0), 8u);
}

TEST(InlinePtx, BitFields) {
  EXPECT_EQ(run("bfe.u32 $0, $1, 8, 8;", 0x00abcd00, 0), 0xcdu);
  EXPECT_EQ(run("bfe.s32 $0, $1, 8, 8;", 0x00abcd00, 0), 0xffffffcdu);
  EXPECT_EQ(run("bfe.u32 $0, $1, $2, 32;", 0x12345678, 4), 0x01234567u);
  EXPECT_EQ(run("bfe.u32 $0, $1, $2, 0;", 0x12345678, 4), 0u);
  EXPECT_EQ(run("bfi.b32 $0, $1, $2, 8, 8;", 0xff12, 0xaaaaaaaa), 0xaaaa12aau);
  EXPECT_EQ(run("prmt.b32 $0, $1, $2, 0x5410;", 0x33221100, 0x77665544), 0x55441100u);
  EXPECT_EQ(run("lop3.b32 $0, $1, $2, 0xf0, 0x96;", 0xff, 0x0f), 0xffu ^ 0x0fu ^ 0xf0u);
  EXPECT_EQ(run("lop3.b32 $0, $1, $2, 0, 0xC0;", 0xfc, 0x3f), 0x3cu);
}

TEST(InlinePtx, CarryLivesFromOneInstructionToTheNext) {
  EXPECT_EQ(run("{ .reg .u32 t;\\0A add.cc.u32 t, $1, $2; // low word\\0A addc.u32 $0, 0, 0; }", 0xffffffff, 1), 1u);
  EXPECT_EQ(run("{ .reg .u32 t; add.cc.u32 t, $1, $2; addc.u32 $0, 5, 0; }", 1, 1), 5u);
  EXPECT_EQ(run("{ .reg .u32 t; sub.cc.u32 t, $1, $2; subc.u32 $0, 5, 0; }", 1, 2), 4u);
}

TEST(InlinePtx, PredicatesSelect) {
  EXPECT_EQ(run("{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.u32 $0, 7, 9, p; }", 0xffffffff, 1), 7u);
  EXPECT_EQ(
      run("{ .reg .pred p; mov.u32 $0, 3; setp.eq.u32 p, $1, $2; @p mov.u32 $0, 4; @!p add.u32 $0, $0, 10; }", 1, 1),
      4u);
  EXPECT_EQ(
      run("{ .reg .pred p; mov.u32 $0, 3; setp.eq.u32 p, $1, $2; @p mov.u32 $0, 4; @!p add.u32 $0, $0, 10; }", 1, 2),
      13u);
}

TEST(InlinePtx, BranchesWithinTheStatement) {
  const std::string loop =
      "{ .reg .pred p; .reg .u32 n; mov.u32 n, $1; mov.u32 $0, 0; L${:uid}: add.u32 $0, $0, n; sub.u32 n, n, 1; "
      "setp.ne.u32 p, n, 0; @p bra L${:uid}; }";
  EXPECT_EQ(run(loop, 4, 0), 10u);
  EXPECT_EQ(run("{ .reg .pred p; setp.lt.u32 p, $1, $2; mov.u32 $0, 1; @p bra done; mov.u32 $0, 2; done: }", 5, 3), 2u);
}

TEST(InlinePtx, PacksAndUnpacks) {
  EXPECT_EQ(
      run("{ .reg .b64 t; .reg .b32 lo, hi; mov.b64 t, {$1, $2}; mov.b64 {lo, hi}, t; sub.u32 $0, hi, lo; }", 3, 10),
      7u);
}

TEST(InlinePtx, LoadsAndStores) {
  TestModule module(
      "define i32 @f(ptr %p) { %r = call i32 asm sideeffect \"ld.global.u32 $0, [$1+4]; st.global.u32 [$1], $0;\", "
      "\"=r,l,~{memory}\"(ptr %p)\n ret i32 %r }");
  ASSERT_TRUE(expand_inline_ptx(*module));
  uint32_t words[2] = {1, 77};
  EXPECT_EQ(module.function<uint32_t(uint32_t*)>("f")(words), 77u);
  EXPECT_EQ(words[0], 77u);
}

std::string expanded(const std::string& body) {
  TestModule module("define void @f(i32 %a) { " + body + "\n ret void }");
  const Result<> result = expand_inline_ptx(*module);
  if (!result) return result.error().message;
  EXPECT_TRUE(kir::expand_nvvm(*module));
  return module.text();
}

TEST(InlinePtx, ReachesTheIntrinsics) {
  EXPECT_THAT(expanded("%r = call i32 asm \"mov.u32 $0, %laneid;\", \"=r\"()"), HasSubstr("@cupola.laneid()"));
  EXPECT_THAT(expanded("%r = call i32 asm \"mov.u32 $0, %lanemask_lt;\", \"=r\"()"), HasSubstr("@cupola.laneid()"));
  EXPECT_THAT(expanded("%r = call i64 asm \"mov.u64 $0, %globaltimer;\", \"=l\"()"),
              HasSubstr("@cupola.global_timer()"));
  EXPECT_THAT(expanded("call void asm sideeffect \"bar.sync 1, 64;\", \"~{memory}\"()"),
              HasSubstr("@cupola.barrier(i32 1, i32 64)"));
  EXPECT_THAT(expanded("call void asm sideeffect \"membar.gl;\", \"\"()"),
              HasSubstr("fence syncscope(\"device\") seq_cst"));
  EXPECT_THAT(expanded("%r = call i32 asm sideeffect \"shfl.sync.bfly.b32 $0, $1, 1, 31, -1;\", \"=r,r\"(i32 %a)"),
              AllOf(HasSubstr("@cupola.shuffle(i32 -1, i32 2, i32 %"), HasSubstr(", i32 1, i32 31)")));
}

// GCC's documentation of extended asm, which CUDA's inline PTX follows: "volatile" and the "memory" clobber.
TEST(InlinePtx, VolatileAccessesStay) {
  const std::string load = "\"ld.global.u32 $0, [$1];\", \"=r,l\"(i64 64)";
  EXPECT_THAT(expanded("%r = call i32 asm sideeffect " + load), HasSubstr("load volatile i32"));
  EXPECT_THAT(expanded("%r = call i32 asm " + load), Not(HasSubstr("volatile")));
  EXPECT_THAT(expanded("call void asm sideeffect \"st.global.cg.u32 [$0], $1;\", \"l,r\"(i64 64, i32 %a)"),
              HasSubstr("store volatile i32"));
}

TEST(InlinePtx, AMemoryClobberIsAFenceForTheCompiler) {
  EXPECT_THAT(expanded("call void asm sideeffect \"\", \"~{memory}\"()"),
              HasSubstr("fence syncscope(\"singlethread\")"));
  EXPECT_THAT(expanded("call void asm sideeffect \"\", \"\"()"), Not(HasSubstr("fence")));
}

TEST(InlinePtx, RefusalShowsTheText) {
  EXPECT_THAT(expanded("call void asm sideeffect \"wgmma.fence.sync.aligned;\", \"\"()"),
              AllOf(HasSubstr("function 'f': inline PTX 'wgmma.fence.sync.aligned;': "), HasSubstr("needs sm_90")));
  EXPECT_THAT(expanded("call void asm sideeffect \"ret;\", \"\"()"), HasSubstr("cannot leave the function"));
  EXPECT_THAT(expanded("call void asm sideeffect \"add.s32 $0, 1;\", \"r\"(i32 %a)"),
              HasSubstr("does not take 2 operands"));
}

}  // namespace
}  // namespace cupola::ptx
