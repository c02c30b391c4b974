// Oracle: values worked out by hand from the PTX ISA's definitions.

#include "ptx/lower/form_fixture.h"

namespace cupola::ptx {
namespace {

using Video = FormValues;

/// Bodies find a, b and c in registers: 0x04030201, 0xfffe8000 and 3.
std::string with_registers(const char* body) {
  return std::string(".reg .b32 a, b, c; mov.b32 a, 0x04030201; mov.b32 b, 0xfffe8000; mov.b32 c, 3; ") + body;
}

TEST_P(Video, Give) {
  EXPECT_EQ(result_of(GetParam().type, with_registers(GetParam().body)), GetParam().expected) << GetParam().body;
}

constexpr FormValue kScalar[] = {
    {"s32", "vadd.s32.u32.s32 d, b.b3, b.h1;", "FD"},  // 255 - 2
    {"s32", "vadd.s32.s32.s32 d, b.b3, b.h0;", "FFFF7FFF"},
    {"u32", "vadd.u32.u32.u32 d, 0xffffffff, 2;", "1"},
    {"u32", "vadd.u32.u32.u32.sat d, 0xffffffff, 2;", "FFFFFFFF"},
    {"s32", "vadd.s32.u32.u32.sat d, 0xffffffff, 2;", "7FFFFFFF"},
    {"u32", "vsub.u32.u32.u32.sat d, 1, 2;", "0"},
    {"s32", "vsub.s32.s32.s32.sat d, 0x80000000, 1;", "80000000"},
    {"u32", "vadd.u32.u32.u32 d.b1, 0xff, 1, 0x11223344;", "11220044"},
    {"u32", "vadd.u32.u32.u32.sat d.b1, 0xff, 1, 0x11223344;", "1122FF44"},
    {"s32", "vsub.s32.u32.u32.sat d.h1, 0, 0x9000, 0x11223344;", "80003344"},
    {"u32", "vadd.u32.u32.u32.add d, 5, 6, c;", "E"},
    {"u32", "vadd.u32.u32.u32.min d, 5, 6, c;", "3"},
    {"s32", "vsub.s32.u32.u32.max d, 1, 2, -5;", "FFFFFFFF"},
    {"u32", "vabsdiff.u32.s32.s32 d, 0x80000000, 0x7fffffff;", "FFFFFFFF"},
    {"s32", "vabsdiff.s32.u32.u32.sat d, 0, 0xffffffff;", "7FFFFFFF"},
    {"s32", "vmin.s32.s32.u32 d, -1, 1;", "FFFFFFFF"},
    {"u32", "vmax.u32.u32.u32 d, a.b2, a.b3;", "4"},
    {"u32", "vshl.u32.u32.u32.clamp d, 1, 40;", "0"},
    {"u32", "vshl.u32.u32.u32.sat.clamp d, 1, 40;", "FFFFFFFF"},
    {"u32", "vshl.u32.u32.u32.wrap d, 1, 33;", "2"},
    {"s32", "vshr.s32.s32.u32.clamp d, 0x80000000, 40;", "FFFFFFFF"},
    {"u32", "vshr.u32.u32.u32.wrap d, 0x80000000, 33;", "40000000"},
    {"u32", "vmad.u32.u32.u32 d, 3, 4, 5;", "11"},
    {"u32", "vmad.u32.u32.u32.po d, 3, 4, 5;", "12"},
    {"s32", "vmad.s32.u32.u32 d, -c, 4, 5;", "FFFFFFF9"},
    {"s32", "vmad.s32.u32.u32 d, a.b3, 4, -c;", "D"},
    {"u32", "vmad.u32.u32.u32.shr7 d, 256, 4, 0;", "8"},
    {"s32", "vmad.s32.s32.s32.shr15 d, -1, 1, 0;", "FFFFFFFF"},
    {"s32", "vmad.s32.s32.s32.sat d, 0x7fffffff, 2, 0;", "7FFFFFFF"},
    {"u32", "vmad.u32.u32.u32.sat d, 0xffffffff, 0xffffffff, 0;", "FFFFFFFF"},
    {"u32", "vset.u32.s32.lt d, 1, -1;", "0"},
    {"u32", "vset.s32.u32.lt d, -1, 1;", "1"},
    {"u32", "vset.u32.u32.eq.add d, a.b0, 1, 7;", "8"},
    {"u32", "vset.u32.u32.ge d.h1, 2, 1, 0x12345678;", "15678"},
};
INSTANTIATE_TEST_SUITE_P(Scalar, Video, testing::ValuesIn(kScalar));

constexpr FormValue kSimd[] = {
    {"s32", "vadd2.s32.s32.s32.sat d, 0x7fff8000, 0x0001ffff, 0;", "7FFF8000"},
    {"u32", "vadd2.u32.u32.u32.sat d, 0xfffe0001, 0x00020001, 0;", "FFFF0002"},
    {"u32", "vadd2.u32.u32.u32 d.h1, 0x00010001, 0x00020002, 0xaaaabbbb;", "3BBBB"},
    {"u32", "vadd2.u32.u32.u32 d.h10, 0x00010001, 0x00020002, 0xaaaabbbb;", "30003"},
    {"u32", "vadd2.u32.u32.u32.add d, 0x00010001, 0x00020002, 10;", "10"},
    {"u32", "vadd2.u32.u32.u32.add d.h0, 0x00010001, 0x00020002, 10;", "D"},
    {"s32", "vsub2.s32.u32.u32 d, a.h01, c.h22, 0;", "1FE0400"},  // 0x0201 - 3, 0x0403 - 3
    {"u32", "vadd2.u32.u32.u32 d, a.h32, c.h00, 0;", "2010204"},  // 0 + 0x0201, 3 + 0x0201
    {"s32", "vavrg2.s32.s32.s32 d, 0xfffffffe, 0x0000ffff, 0;", "FFFFFFFE"},
    {"u32", "vavrg4.u32.u32.u32 d, 0x01020304, 0x02020202, 0;", "2020303"},
    {"u32", "vabsdiff4.u32.u32.u32.add d, 0x01020304, 0x04030201, 100;", "6C"},
    {"s32", "vabsdiff2.s32.s32.s32.sat d, 0x80000001, 0x7fffffff, 0;", "7FFF0002"},
    {"s32", "vmin4.s32.s32.s32 d, 0x80ff0102, 0x01010101, 0;", "80FF0101"},
    {"u32", "vmax4.u32.u32.u32 d, 0x80ff0102, 0x01010101, 0;", "80FF0102"},
    {"s32", "vmax2.s32.s32.s32 d, 0x80000005, 0x00010004, 0;", "10005"},
    {"u32", "vmin2.u32.u32.u32 d, 0x80000005, 0x00010004, 0;", "10004"},
    {"u32", "vadd4.u32.u32.u32 d.b20, 0x01010101, 0x01010101, 0x55555555;", "55025502"},
    {"u32", "vadd4.u32.u32.u32 d.b3, 0x01010101, 0x01010101, 0x55555555;", "2555555"},
    {"u32", "vadd4.u32.u32.u32 d, a.b0000, b.b7777, 0;", "0"},  // 1 + 0xff in each byte
    {"u32", "vsub4.u32.u32.u32.sat d, 0x05050505, 0x06040503, 0;", "10002"},
    {"u32", "vset4.u32.u32.gt d, 0x05000500, 0x01010101, 0;", "1000100"},
    {"u32", "vset4.u32.u32.gt.add d, 0x05000500, 0x01010101, 5;", "7"},
    {"u32", "vset2.s32.s32.lt d, 0xffff0001, 0x00000000, 0;", "10000"},
    {"u32", "vset2.u32.u32.ne d.h0, 0xffff0001, 0x00000000, 0xabcd0000;", "ABCD0001"},
};
INSTANTIATE_TEST_SUITE_P(Simd, Video, testing::ValuesIn(kSimd));

TEST(VideoForms, RefusesWhatTheIsaDoesNotHave) {
  for (const char* body :
       {"vadd.u32.u32.u32 d, a, b, c;", "vadd.u32.u32.u32.add d, a, b;", "vadd.u32.u32.u32.add d.b0, a, b, c;",
        "vadd2.u32.u32.u32 d.b0, a, b, c;", "vadd2.u32.u32.u32 d, a.h1, b, c;", "vadd4.u32.u32.u32 d.b74, a, b, c;",
        "add.u32 d, a.b0, b;", "add.u32 d, -a, b;", "add.u32 d, a.h10, b;"})
    EXPECT_NE(refusal("u32", with_registers(body)), "") << body;
}

}  // namespace
}  // namespace cupola::ptx
