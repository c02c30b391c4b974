#include "ptx/lower/lower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "kir/kir.h"
#include "ptx/syntax/parser.h"
#include "ptx/syntax/verify.h"

namespace cupola::ptx {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kSample = R"(.version 8.7
.target sm_89
.file 1 "a.cu"
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .shared .align 16 .b8 dynamic[];
.visible .global .align 8 .u64 t[2] = {generic(x)+8, 5};
.global .u32 x = 7;
.func (.param .align 8 .b8 o[16]) f(.param .align 8 .b8 in[16], .reg .b32 n) {
.reg .b64 %d<3>; ld.param.b64 %d1, [in+8]; st.param.v2.b64 [o], {%d1, -1}; ret; }
.visible .entry k(.param .u64 p, .param .u32 n) .maxntid 128, 1, 1
{ .reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<5>; .reg .b64 %d<5>; .shared .b8 tile[512];
.loc 1 7 3
ld.param.u64 %d1, [p]; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d1+-16];
setp.lt.and.f32 %p1|%p2, %f1, 0f3F800000, !%p2; @!%p1 bra L;
atom.global.add.u32 %r1, [%d1], 1; shfl.sync.bfly.b32 %r2|%p1, %r1, 16, 31, -1;
mov.b64 %d3, {%r1, %r2}; prmt.b32 %r4, %r1, %r2, 0x5410; cvt.rn.f16x2.f32 %r3, %f1, %f2;
{ .param .align 8 .b8 a[16]; .param .align 8 .b8 b[16]; st.param.b64 [a], %d3; call.uni (b), f, (a, %r3); ld.param.b32 %r5, [b]; }
q: .branchtargets L, M; brx.idx %r5, q;
L: bar.sync 0; wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [tile], 16;
cp.async.cg.shared.global [tile], [%d1], 16; div.s32 %r1, %r2, %r3;
M: ret; }
)";

/// Parse, verify, lower; what comes out must be a valid LLVM module. The first refusal, or "".
std::string outcome(const std::string& text) {
  const auto parsed = parse(text);
  if (!parsed) return parsed.error().message;
  if (const auto verified = verify(*parsed); !verified) return verified.error().message;
  llvm::LLVMContext context;
  const auto module = lower(*parsed, context);
  if (!module) return module.error().message;
  std::string why;
  llvm::raw_string_ostream out(why);
  EXPECT_FALSE(llvm::verifyModule(**module, &out)) << why << "\n" << text;
  return {};
}

TEST(Lower, MakesAValidModuleOfEverything) {
  EXPECT_EQ(outcome(std::string(kSample)), "");
}

TEST(Lower, DamagedTextIsRefusedOrMakesAValidModule) {
  for (size_t at = 0; at < kSample.size(); ++at)
    for (const char damage : {'\xff', ' ', '9', 'b', ';'}) {
      std::string text(kSample);
      text[at] = damage;
      const std::string refusal = outcome(text);
      EXPECT_TRUE(refusal.empty() || refusal.starts_with("ptx: ")) << refusal << "\n" << text;
    }
}

TEST(Lower, TruncatedTextIsRefusedOrMakesAValidModule) {
  for (size_t size = 0; size < kSample.size(); ++size) {
    const std::string refusal = outcome(std::string(kSample.substr(0, size)));
    EXPECT_TRUE(refusal.empty() || refusal.starts_with("ptx: ")) << refusal;
  }
}

std::string module_of(const std::string& text) {
  return ".version 8.7\n.target sm_89\n" + text;
}

TEST(Lower, CallsBeforeTheFirstLocAreInlined) {
  const std::string text = module_of(
      ".file 1 \"a.cu\"\n.func f() { .loc 1 3 1\nret; }\n.visible .entry k() { call f; .loc 1 0 0\ncall f; .loc 1 9 "
      "1\nret; }\n");
  EXPECT_EQ(outcome(text), "");
  llvm::LLVMContext context;
  const auto module = lower(*parse(text), context);
  ASSERT_TRUE(module);
  const auto prepared = kir::prepare(**module, {});
  EXPECT_TRUE(prepared) << prepared.error().message;
}

TEST(Lower, MismatchesAreRefused) {
  const std::string entry = ".entry k() { .reg .b32 %r<3>; .reg .b64 %d<3>; ";
  for (const std::string& text : std::vector<std::string>{
           ".extern .func (.param .b32 r) malloc(.param .b64 n, .param .b64 m);\n" + entry +
               "call (%r1), malloc, (%d1); }",
           ".func f(.param .align 8 .b8 p[64]) { ret; }\n" + entry + ".param .b32 a; call f, (a); }",
           ".func f() { ret; }\n.alias f, f;\n", ".alias g, nowhere;\n",
           ".func f() { ret; }\n.func g() { ret; }\n.alias f, g;\n",
           ".func f();\n.func g();\n.alias f, g;\n.alias g, f;\n", ".entry f() { ret; }\n.func g();\n.alias g, f;\n",
           ".global .b32 g;\n.func f() { ret; }\n.alias g, f;\n", ".extern .global .b32 f;\n.func f() { ret; }\n",
           entry + "l: .branchtargets m; m: bra l; }", entry + "m: brx.idx %r1, m; }"})
    EXPECT_THAT(outcome(module_of(text)), HasSubstr("ptx: line ")) << text;
  EXPECT_EQ(outcome(module_of(".func f() { ret; }\n.func g();\n.alias g, f;\n" + entry + "call g; ret; }\n")), "");
}

TEST(Lower, LinkageSuitsWhatIsLinked) {
  EXPECT_EQ(outcome(module_of(".common .global .b32 zeros;\n.common .global .b32 five = 5;\n.weak .entry later();\n"
                              ".weak .entry k() { ret; }\n")),
            "");
}

TEST(Lower, RefusalsNameInstructionAndLine) {
  const auto body = [](const std::string& instructions) {
    return ".version 8.7\n.target sm_90a\n.entry k()\n{\n\t.reg .b32 %r<9>;\n\t" + instructions + "\n\tret;\n}\n";
  };
  EXPECT_THAT(outcome(body("wgmma.fence.sync.aligned;")),
              HasSubstr("ptx: line 6, column 2: 'wgmma.fence.sync.aligned': needs sm_90"));
  EXPECT_THAT(outcome(body("call missing, (%r1);")), HasSubstr("line 6, column 2"));
  EXPECT_THAT(outcome(body("mov.u32 %r1, missing;")), HasSubstr("'missing' is not declared"));
}

}  // namespace
}  // namespace cupola::ptx
