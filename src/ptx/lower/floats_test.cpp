// Oracle: values worked out by hand from the PTX ISA's definitions; where it leaves a choice (tiny results with .ftz,
// NaNs of tf32 and f64), what an H200 answered (tests/ptx/golden.tsv).

#include "ptx/lower/form_evaluation.h"

namespace cupola::ptx {
namespace {

constexpr uint64_t kOne = 0x3f800000, kNan = 0x7fffffff, kInf = 0x7f800000, kMinus = 0x80000000;
constexpr uint64_t kOne64 = 0x3ff0000000000000;

TEST(Floats, Properties) {
  for (const FormCase& c : std::vector<FormCase>{{"testp.normal.f32", {0}, 1},
                                                 {"testp.normal.f32", {1}, 0},
                                                 {"testp.subnormal.f32", {0x80000001}, 1},
                                                 {"testp.subnormal.f32", {0}, 0},
                                                 {"testp.finite.f32", {kInf}, 0},
                                                 {"testp.infinite.f64", {0xfff0000000000000}, 1},
                                                 {"testp.number.f64", {0xfff0000000000000}, 1},
                                                 {"testp.number.f32", {kNan}, 0},
                                                 {"testp.notanumber.f64", {0x7ff0000000000001}, 1},
                                                 {"copysign.f32", {0xbf800000, 0x40000000}, 0xc0000000},
                                                 {"copysign.f64", {kOne64, 0xc000000000000000}, 0x4000000000000000}})
    expect_value(c);
}

TEST(Floats, SumsRoundAsTheySay) {
  const uint64_t tie = 0x33800000, half_below = 0xb3000000;  // 2^-24, -2^-25
  for (const FormCase& c : std::vector<FormCase>{{"add.f32", {kOne, tie}, kOne},
                                                 {"add.rn.f32", {kOne, tie}, kOne},
                                                 {"add.rp.f32", {kOne, tie}, 0x3f800001},
                                                 {"add.rm.f32", {kOne, tie}, kOne},
                                                 {"add.rz.f32", {kOne, half_below}, 0x3f7fffff},
                                                 {"add.rm.f32", {kOne, half_below}, 0x3f7fffff},
                                                 {"add.rp.f32", {kOne, half_below}, kOne},
                                                 {"sub.f32", {kOne, kOne}, 0},
                                                 {"sub.rm.f32", {kOne, kOne}, kMinus},
                                                 {"sub.rp.f64", {kOne64, 0xbca0000000000000}, 0x3ff0000000000001},
                                                 {"add.rz.f64", {kOne64, 0x3ca0000000000000}, kOne64},
                                                 {"add.f16", {0x3c00, 0x1000}, 0x3c00},
                                                 {"add.f16", {0x7bff, 0x4c00}, 0x7c00},
                                                 {"sub.f16x2", {0x3c004000, 0x40003c00}, 0xbc003c00},
                                                 {"add.bf16", {0x3f80, 0x3b80}, 0x3f80},
                                                 {"add.rn.bf16x2", {0x3f803f80, 0x3f803b81}, 0x40003f81}})
    expect_value(c);
}

TEST(Floats, FlushAndSaturate) {
  for (const FormCase& c : std::vector<FormCase>{{"add.ftz.f32", {1, 1}, 0},
                                                 {"add.ftz.f32", {0x80000001, 0x80000001}, kMinus},
                                                 {"add.ftz.f32", {0x00800000, 0x80400000}, 0x00800000},
                                                 {"add.f32", {0x00800000, 0x80400000}, 0x00400000},
                                                 {"sub.ftz.f32", {0x00800001, 0x00800000}, 0},
                                                 {"mul.ftz.f32", {1, 0x7e800000}, 0},
                                                 {"mul.f32", {0x3f7fffff, 0x00800000}, 0x00800000},
                                                 {"mul.rn.ftz.f32", {0x7f7fffff, 0x00800000}, 0x407fffff},
                                                 {"mul.rp.ftz.f32", {0x00800000, 0x3f000000}, 0},
                                                 {"fma.rn.ftz.f32", {kOne, kOne, 1}, kOne},
                                                 {"add.sat.f32", {kOne, kOne}, kOne},
                                                 {"add.sat.f32", {kOne, 0xc0000000}, 0},
                                                 {"add.sat.f32", {kNan, kOne}, 0},
                                                 {"mul.sat.f32", {kMinus, kOne}, 0},
                                                 {"add.rp.sat.f32", {0x3f000000, 1}, 0x3f000001},
                                                 {"fma.rz.sat.f32", {0x40000000, kOne, kOne}, kOne},
                                                 {"add.ftz.f16", {0x0001, 0x0001}, 0},
                                                 {"mul.ftz.f16x2", {0x04003c00, 0x38008001}, 0x00008000},
                                                 {"fma.rn.sat.f16", {0x4000, 0x4000, 0x3c00}, 0x3c00},
                                                 {"abs.ftz.f32", {0x80000001}, 0},
                                                 {"abs.f32", {0x80000001}, 1},
                                                 {"neg.ftz.f32", {0x00000001}, kMinus},
                                                 {"neg.f16x2", {0x3c000000}, 0xbc008000},
                                                 {"neg.bf16x2", {0x3f800000}, 0xbf808000},
                                                 {"abs.bf16", {0xffff}, 0x7fff},
                                                 {"abs.f64", {0x8000000000000000}, 0}})
    expect_value(c);
}

TEST(Floats, ProductsAndFusedOperations) {
  for (const FormCase& c :
       std::vector<FormCase>{{"mul.f32", {0x3f800001, 0x3f800001}, 0x3f800002},
                             {"mul.rp.f32", {0x3f800001, 0x3f800001}, 0x3f800003},
                             {"mul.rm.f64", {0x3ff0000000000001, 0x3ff0000000000001}, 0x3ff0000000000002},
                             {"fma.rn.f32", {0x3f800001, 0x3f800001, 0xbf800002}, 0x28800000},  // 2^-46 survives
                             {"mad.rn.f32", {0x3f800001, 0x3f800001, 0xbf800002}, 0x28800000},
                             {"fma.rp.f32", {kOne, kOne, 1}, 0x3f800001},
                             {"fma.rm.f64", {kOne64, kOne64, 0x8000000000000001}, 0x3fefffffffffffff},
                             // (1 + 3 * 2^-10)^2 - 1 = 1.5 * 2^-8 + 2.25 * 2^-18
                             {"fma.rn.f16", {0x3c03, 0x3c03, 0xbc00}, 0x1e02},
                             {"fma.rn.f16x2", {0x40003c00, 0x40003c00, 0x3c003c00}, 0x45004000},
                             {"fma.rn.relu.f16", {0x3c00, 0xc000, 0x3c00}, 0},
                             {"fma.rn.relu.f16", {0x7e01, 0xc000, 0x3c00}, 0x7fff},
                             {"fma.rn.bf16", {0x3f83, 0x3f83, 0xbf80}, 0x3d42},  // 1.5 * 2^-5 + 2.25 * 2^-12
                             {"fma.rn.relu.bf16x2", {0x3f803f80, 0xbf803f80, 0x00000000}, 0x00003f80}})
    expect_value(c);
}

TEST(Floats, QuotientsAndRoots) {
  for (const FormCase& c : std::vector<FormCase>{{"div.rn.f32", {kOne, 0x40400000}, 0x3eaaaaab},
                                                 {"div.rz.f32", {kOne, 0x40400000}, 0x3eaaaaaa},
                                                 {"div.rp.f64", {kOne64, 0x4008000000000000}, 0x3fd5555555555556},
                                                 {"div.rn.f64", {kOne64, 0}, 0x7ff0000000000000},
                                                 {"div.full.f32", {0x40c00000, 0x40400000}, 0x40000000},
                                                 {"div.approx.f32", {0x40c00000, 0x40400000}, 0x40000000},
                                                 {"div.approx.f32", {kOne, 0x7f000000}, 0},  // 1 / 2^127
                                                 {"div.approx.f32", {kOne, 0xff000000}, kMinus},
                                                 {"div.approx.f32", {kOne, 0x7e800000}, 0x00800000},  // 1 / 2^126
                                                 {"div.approx.f32", {kOne, kInf}, 0},
                                                 {"div.approx.ftz.f32", {kOne, 1}, kInf},
                                                 {"rcp.rn.f32", {0x40400000}, 0x3eaaaaab},
                                                 {"rcp.rm.f32", {0x40400000}, 0x3eaaaaaa},
                                                 {"rcp.approx.ftz.f32", {0x80000001}, 0xff800000},
                                                 {"rcp.rz.f64", {0x4008000000000000}, 0x3fd5555555555555},
                                                 {"rcp.approx.ftz.f64", {0x40000000ffffffff}, 0x3fe0000000000000},
                                                 {"rcp.approx.ftz.f64", {0x800fffffffffffff}, 0xfff0000000000000},
                                                 {"rcp.approx.ftz.f64", {0x7fe0000000000000}, 0},
                                                 {"sqrt.rn.f32", {0x40000000}, 0x3fb504f3},
                                                 {"sqrt.rp.f32", {0x40000000}, 0x3fb504f4},
                                                 {"sqrt.rz.f64", {0x4000000000000000}, 0x3ff6a09e667f3bcc},
                                                 {"sqrt.approx.f32", {kMinus}, kMinus},
                                                 {"rsqrt.approx.f32", {0x40800000}, 0x3f000000},
                                                 {"rsqrt.approx.f32", {kMinus}, 0xff800000},
                                                 {"rsqrt.approx.f64", {0x4010000000000000}, 0x3fe0000000000000},
                                                 {"rsqrt.approx.ftz.f64", {0x40100000ffffffff}, 0x3fe0000000000000}})
    expect_value(c);
}

TEST(Floats, ExtremesOrderZerosAndTreatNans) {
  for (const FormCase& c :
       std::vector<FormCase>{{"min.f32", {0, kMinus}, kMinus},
                             {"max.f32", {kMinus, 0}, 0},
                             {"min.f32", {0x7fc00001, kOne}, kOne},
                             {"max.f32", {kOne, 0x7f800001}, kOne},
                             {"max.f32", {0x7fc00001, 0xffc00001}, kNan},
                             {"max.NaN.f32", {0x7fc00001, kOne}, kNan},
                             {"min.f64", {0xfff8000000000001, 0x7ff0000000000002}, 0x7ff8000000000002},
                             {"max.f16", {0x7e00, 0xbc00}, 0xbc00},
                             {"max.NaN.f16x2", {0x7e003c00, 0x3c004000}, 0x7fff4000},
                             {"min.bf16x2", {0x3f808000, 0x7fc00000}, 0x3f808000},
                             {"max.xorsign.abs.f32", {0xc0000000, kOne}, 0xc0000000},
                             {"min.xorsign.abs.f32", {0xc0000000, 0xbf800000}, kOne},
                             {"max.xorsign.abs.f32", {0xffc00001, 0x7fc00001}, kNan},
                             {"min.xorsign.abs.f16x2", {0xc0003c00, 0x3c00c000}, 0xbc00bc00}})
    expect_value(c);
  expect_lowers("max.NaN.xorsign.abs.bf16", 2);
}

TEST(Floats, ApproximationsAreExactWhereTheResultIs) {
  for (const FormCase& c : std::vector<FormCase>{{"ex2.approx.f32", {0x40400000}, 0x41000000},
                                                 {"ex2.approx.ftz.f32", {0xc3020000}, 0},
                                                 {"ex2.approx.f32", {0xc3000000}, 0x00200000},  // 2^-128
                                                 {"ex2.approx.ftz.f32", {0xc3000000}, 0},
                                                 {"ex2.approx.f16", {0x4200}, 0x4800},
                                                 {"ex2.approx.ftz.bf16x2", {0x40400000}, 0x41003f80},
                                                 {"lg2.approx.f32", {0x41000000}, 0x40400000},
                                                 {"lg2.approx.ftz.f32", {1}, 0xff800000},
                                                 {"sin.approx.f32", {kMinus}, kMinus},
                                                 {"cos.approx.ftz.f32", {1}, kOne}})
    expect_value(c);
  for (const char* form : {"tanh.approx.f32", "tanh.approx.f16", "tanh.approx.f16x2", "tanh.approx.bf16",
                           "tanh.approx.bf16x2", "ex2.approx.f16x2", "ex2.approx.ftz.bf16", "sin.approx.ftz.f32"})
    expect_lowers(form, 1);
}

TEST(Floats, RoundInInlinePtxAsWell) {
  const std::string_view text =
      "target triple = \"nvptx64-nvidia-cuda\"\n@out = global float 0.0\n"
      "define ptx_kernel void @k() {\n"
      "  %r = call float asm \"add.rp.f32 $0, $1, $2;\", \"=f,f,f\"(float 1.0, float 0x3E70000000000000)\n"
      "  store float %r, ptr @out\n  ret void\n}";
  llvm::LLVMContext context;
  auto module = kir::read(context, std::as_bytes(std::span(text)));
  ASSERT_TRUE(module);
  const auto done =
      kir::prepare(**module, {.device_library = device_library(), .expand_inline_ptx = expand_inline_ptx});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_NE(kir::print(**module).find("store float 0x3FF0000020000000"), std::string::npos) << kir::print(**module);
}

TEST(Floats, RefusesWhatIsNotDocumented) {
  EXPECT_NE(refusal("b16", ".reg .b16 a; mov.b16 a, 0; fma.rn.oob.f16 d, a, a, a;").find("not documented"),
            std::string::npos);
}

}  // namespace
}  // namespace cupola::ptx
