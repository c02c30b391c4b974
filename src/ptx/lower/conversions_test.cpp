// Oracle: values worked out by hand from the PTX ISA's definitions, NaNs of tf32 as an H200 answered them; 8-bit
// formats from the "OCP 8-bit Floating Point Specification".

#include "ptx/lower/form_evaluation.h"

namespace cupola::ptx {
namespace {

TEST(Conversions, OfIntegers) {
  for (const FormCase& c : std::vector<FormCase>{{"cvt.s64.s32", {0x80000000}, 0xffffffff80000000},
                                                 {"cvt.u64.u32", {0x80000000}, 0x80000000},
                                                 {"cvt.u64.s32", {0x80000000}, 0xffffffff80000000},
                                                 {"cvt.u16.u32", {0x12345678}, 0x5678},
                                                 {"cvt.s16.s8", {0x80}, 0xff80},
                                                 {"cvt.u32.u8", {0xff80}, 0x80},
                                                 {"cvt.s32.s8", {0xff80}, 0xffffff80},
                                                 {"cvt.sat.u8.s32", {0xffffffff}, 0},
                                                 {"cvt.sat.u8.s32", {300}, 255},
                                                 {"cvt.sat.s8.s32", {0xffff0000}, 0xff80},
                                                 {"cvt.sat.s16.u32", {0xffffffff}, 0x7fff},
                                                 {"cvt.sat.s32.u32", {0x80000000}, 0x7fffffff},
                                                 {"cvt.sat.u32.s32", {0x80000000}, 0},
                                                 {"cvt.sat.s64.u64", {~uint64_t{0}}, 0x7fffffffffffffff},
                                                 {"cvt.sat.u64.s8", {0xff}, 0},
                                                 {"cvt.sat.u32.u64", {uint64_t{1} << 32}, 0xffffffff}})
    expect_value(c);
}

TEST(Conversions, FromIntegersRound) {
  const uint64_t odd = 0x01000001;  // 2^24 + 1
  for (const FormCase& c : std::vector<FormCase>{{"cvt.rn.f32.s32", {odd}, 0x4b800000},
                                                 {"cvt.rp.f32.s32", {odd}, 0x4b800001},
                                                 {"cvt.rz.f32.u32", {0xffffffff}, 0x4f7fffff},
                                                 {"cvt.rn.f32.u32", {0xffffffff}, 0x4f800000},
                                                 {"cvt.rm.f32.s32", {0xfeffffff}, 0xcb800001},
                                                 {"cvt.rz.f32.s64", {0x7fffffffffffffff}, 0x5effffff},
                                                 {"cvt.rp.f64.u64", {~uint64_t{0}}, 0x43f0000000000000},
                                                 {"cvt.rm.f64.u64", {~uint64_t{0}}, 0x43efffffffffffff},
                                                 {"cvt.rm.f64.s32", {0xffffffff}, 0xbff0000000000000},
                                                 {"cvt.rp.f32.s16", {0xffff}, 0xbf800000},
                                                 {"cvt.rn.f32.u8", {0xff}, 0x437f0000},
                                                 {"cvt.rn.sat.f32.s32", {5}, 0x3f800000},
                                                 {"cvt.rn.sat.f32.s32", {0xfffffffb}, 0},
                                                 {"cvt.rn.f16.s32", {65519}, 0x7bff},
                                                 {"cvt.rn.f16.s32", {65520}, 0x7c00},
                                                 {"cvt.rz.f16.u64", {~uint64_t{0}}, 0x7bff},
                                                 {"cvt.rp.f16.u16", {2049}, 0x6801},
                                                 {"cvt.rn.f16.u16", {2049}, 0x6800},
                                                 {"cvt.rn.bf16.s32", {257}, 0x4380},
                                                 {"cvt.rp.bf16.s32", {257}, 0x4381},
                                                 {"cvt.rm.bf16.s64", {0xfffffffffffffeff}, 0xc381},
                                                 // just above a tie: to double first would make it one
                                                 {"cvt.rn.bf16.u64", {0x8080000000000001}, 0x5f01}})
    expect_value(c);
}

TEST(Conversions, ToIntegersRoundAndSaturate) {
  const uint64_t two_and_half = 0x40200000;
  for (const FormCase& c : std::vector<FormCase>{{"cvt.rni.s32.f32", {two_and_half}, 2},
                                                 {"cvt.rpi.s32.f32", {two_and_half}, 3},
                                                 {"cvt.rmi.s32.f32", {0xc0200000}, 0xfffffffd},
                                                 {"cvt.rzi.s32.f32", {0xc0200000}, 0xfffffffe},
                                                 {"cvt.rzi.s32.f32", {0x4f000000}, 0x7fffffff},
                                                 {"cvt.rzi.s32.f32", {0x7fffffff}, 0},
                                                 {"cvt.rzi.u32.f32", {0xbf800000}, 0},
                                                 {"cvt.rzi.u32.f64", {0x7ff8000000000000}, 0x80000000},
                                                 {"cvt.rzi.s64.f32", {0x7fffffff}, 0x8000000000000000},
                                                 {"cvt.rzi.u64.f64", {0xfff0000000000000}, 0},
                                                 {"cvt.rpi.u32.f32", {1}, 1},
                                                 {"cvt.rpi.ftz.u32.f32", {1}, 0},
                                                 {"cvt.rzi.u8.f32", {0x43938000}, 255},  // 295
                                                 {"cvt.rzi.s8.f32", {0xc3938000}, 0xff80},
                                                 {"cvt.rzi.u16.f32", {0xc3938000}, 0},
                                                 {"cvt.rzi.s16.f32", {0x7fffffff}, 0},
                                                 {"cvt.rzi.u16.f64", {0x7ff8000000000000}, 0x8000},
                                                 {"cvt.rzi.sat.s8.f64", {0x7ff8000000000000}, 0xff80},
                                                 {"cvt.rni.s32.f16", {0x7c00}, 0x7fffffff},
                                                 {"cvt.rzi.s32.f16", {0xc100}, 0xfffffffe},
                                                 {"cvt.rmi.s64.bf16", {0xbf81}, 0xfffffffffffffffe}})
    expect_value(c);
}

TEST(Conversions, BetweenFloats) {
  for (const FormCase& c : std::vector<FormCase>{{"cvt.f32.f16", {0x0001}, 0x33800000},
                                                 {"cvt.f64.f32", {0x3f800000}, 0x3ff0000000000000},
                                                 {"cvt.ftz.f64.f32", {0x80000001}, 0x8000000000000000},
                                                 {"cvt.rn.f32.f64", {0x3ff0000010000000}, 0x3f800000},
                                                 {"cvt.rp.f32.f64", {0x3ff0000010000000}, 0x3f800001},
                                                 {"cvt.rz.f32.f64", {0x7fefffffffffffff}, 0x7f7fffff},
                                                 {"cvt.rn.ftz.f32.f64", {0x3800000000000000}, 0},  // 2^-127
                                                 {"cvt.rn.f32.f64", {0xfff8000000000000}, 0x7fffffff},
                                                 // 1 + 2^-11 + 2^-40 is above the tie, and by way of f32 would be one
                                                 {"cvt.rn.f16.f64", {0x3ff0020000001000}, 0x3c01},
                                                 {"cvt.rn.f16.f32", {0x3f801000}, 0x3c00},
                                                 {"cvt.rz.f16.f32", {0x3f803fff}, 0x3c01},
                                                 {"cvt.rm.f16.f32", {0xbf800001}, 0xbc01},
                                                 {"cvt.rp.f16.f32", {1}, 0x0001},
                                                 {"cvt.rm.ftz.f16.f32", {0x80000001}, 0x8001},
                                                 {"cvt.rp.f16.f32", {0x80000001}, 0x8000},
                                                 {"cvt.rm.f16.f64", {0x8000000000000001}, 0x8001},
                                                 {"cvt.rz.f16.f32", {0x477fffff}, 0x7bff},
                                                 {"cvt.rp.f16.f32", {0x477fffff}, 0x7c00},
                                                 {"cvt.rn.f16.f32", {0xffc00001}, 0x7fff},
                                                 {"cvt.rn.relu.f16.f32", {0xbf800000}, 0},
                                                 {"cvt.rn.satfinite.f16.f32", {0xff800000}, 0xfbff},
                                                 {"cvt.rn.bf16.f32", {0x3f808000}, 0x3f80},
                                                 {"cvt.rn.bf16.f32", {0x3f818000}, 0x3f82},
                                                 {"cvt.rz.bf16.f32", {0xbf81ffff}, 0xbf81},
                                                 {"cvt.rz.bf16.f32", {0x7f800001}, 0x7fff},
                                                 {"cvt.f32.bf16", {0x3f81}, 0x3f810000},
                                                 {"cvt.rn.f16.bf16", {0x7f7f}, 0x7c00},
                                                 {"cvt.rn.bf16.f16", {0x3c04}, 0x3f80},
                                                 {"cvt.f64.bf16", {0xbf80}, 0xbff0000000000000},
                                                 {"cvt.sat.f32.f32", {0x40000000}, 0x3f800000},
                                                 {"cvt.sat.f32.f32", {0x7fffffff}, 0},
                                                 {"cvt.ftz.f32.f32", {0x807fffff}, 0x80000000},
                                                 {"cvt.rni.f32.f32", {0x40200000}, 0x40000000},
                                                 {"cvt.rzi.f64.f64", {0xbfe0000000000000}, 0x8000000000000000},
                                                 {"cvt.rmi.f16.f16", {0xb800}, 0xbc00},
                                                 {"cvt.rpi.ftz.f32.f32", {1}, 0}})
    expect_value(c);
  EXPECT_NE(refusal("b32", ".reg .b64 a; mov.b64 a, 0; cvt.f32.f64 d, a;").find("lacks one of .rn"), std::string::npos);
}

TEST(Conversions, OfPairs) {
  for (const FormCase& c : std::vector<FormCase>{{"cvt.rn.f16x2.f32", {0x3f800000, 0x40000000}, 0x3c004000},
                                                 {"cvt.rz.bf16x2.f32", {0x3f81ffff, 0x40000000}, 0x3f814000},
                                                 {"cvt.rn.relu.f16x2.f32", {0xbf800000, 0x7fc00001}, 0x00007fff},
                                                 {"cvt.rn.satfinite.f16x2.f32", {0x7f800000, 0xc77fffff}, 0x7bfffbff},
                                                 {"cvt.rna.tf32.f32", {0x3f801000}, 0x3f802000},
                                                 {"cvt.rn.tf32.f32", {0x3f801000}, 0x3f800000},
                                                 {"cvt.rn.tf32.f32", {0x3f803000}, 0x3f804000},
                                                 {"cvt.rz.tf32.f32", {0x3f803fff}, 0x3f802000},
                                                 {"cvt.rna.tf32.f32", {0x7f7fffff}, 0x7f800000},
                                                 {"cvt.rna.satfinite.tf32.f32", {0xff7fffff}, 0xff7fe000},
                                                 {"cvt.rna.tf32.f32", {0xffc12345}, 0xffc12000},
                                                 {"cvt.rn.tf32.f32", {0xff800001}, 0x7fffe000},
                                                 {"cvt.rn.relu.tf32.f32", {0xbf800000}, 0}})
    expect_value(c);
}

TEST(Conversions, OfBytes) {
  for (const FormCase& c : std::vector<FormCase>{
           {"cvt.rn.satfinite.e4m3x2.f32", {0x3f800000, 0xc0000000}, 0x38c0},
           {"cvt.rn.satfinite.e4m3x2.f32", {0x43e00000, 0x7f800000}, 0x7e7e},  // 448, infinity
           {"cvt.rn.satfinite.e4m3x2.f32", {0x7fc00000, 0xff7fffff}, 0x7ffe},
           {"cvt.rn.satfinite.e4m3x2.f32", {0x3b000000, 0x3a800000}, 0x0100},  // 2^-9 and 2^-10, a tie with 0
           {"cvt.rn.satfinite.e4m3x2.f32", {0x3a800001, 0x3f880000}, 0x0138},  // 1.0625 is a tie
           {"cvt.rn.satfinite.e5m2x2.f32", {0x47600000, 0x47ffffff}, 0x7b7b},  // 57344
           {"cvt.rn.satfinite.e5m2x2.f32", {0xff800000, 0x37800000}, 0xfb01},  // 2^-16
           {"cvt.rn.satfinite.relu.e5m2x2.f32", {0xbf800000, 0x3f800000}, 0x003c},
           {"cvt.rn.satfinite.e4m3x2.f16x2", {0x3c00c000}, 0x38c0},
           {"cvt.rn.satfinite.relu.e4m3x2.f16x2", {0xbc007e00}, 0x007f},
           {"cvt.rn.f16x2.e4m3x2", {0x38c0}, 0x3c00c000},
           {"cvt.rn.f16x2.e4m3x2", {0x017e}, 0x18005f00},  // 2^-9, 448
           {"cvt.rn.f16x2.e4m3x2", {0xff80}, 0x7fff8000},
           {"cvt.rn.relu.f16x2.e4m3x2", {0xc038}, 0x00003c00},
           {"cvt.rn.f16x2.e5m2x2", {0x7c01}, 0x7c000100},
           {"cvt.rn.f16x2.e5m2x2", {0x7dbc}, 0x7fffbc00}})
    expect_value(c);
}

TEST(Conversions, Pack) {
  for (const FormCase& c : std::vector<FormCase>{{"cvt.pack.sat.s16.s32", {0x12345, 0xffff0000}, 0x7fff8000},
                                                 {"cvt.pack.sat.u16.s32", {0x12345, 0xffffffff}, 0xffff0000},
                                                 {"cvt.pack.sat.u8.s32.b32", {300, 5, 0xabcd1234}, 0x1234ff05},
                                                 {"cvt.pack.sat.s8.s32.b32", {0xffffff00, 200, 0xabcd1234}, 0x1234807f},
                                                 {"cvt.pack.sat.u4.s32.b32", {99, 3, 0xabcd1234}, 0xcd1234f3}})
    expect_value(c);
}

}  // namespace
}  // namespace cupola::ptx
