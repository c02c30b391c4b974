// Oracle: values worked out by hand from the PTX ISA's definitions.

#include "ptx/lower/form_evaluation.h"

namespace cupola::ptx {
namespace {

TEST(Comparisons, OfIntegersFollowTheType) {
  for (const FormCase& c : std::vector<FormCase>{{"setp.lt.s32", {0xffffffff, 1}, 1},
                                                 {"setp.lt.u32", {0xffffffff, 1}, 0},
                                                 {"setp.lo.u16", {1, 0xffff}, 1},
                                                 {"setp.hs.u64", {5, 5}, 1},
                                                 {"setp.hi.u32", {5, 5}, 0},
                                                 {"setp.ls.u32", {5, 5}, 1},
                                                 {"setp.ge.s64", {0x8000000000000000, 0}, 0},
                                                 {"setp.ne.b32", {1, 2}, 1},
                                                 {"setp.eq.b16", {7, 7}, 1},
                                                 {"setp.eq.and.s32", {1, 1, 0}, 0},
                                                 {"setp.eq.or.s32", {1, 2, 1}, 1},
                                                 {"setp.eq.xor.s32", {1, 1, 1}, 0}})
    expect_value(c);
}

TEST(Comparisons, OfNumbersTreatNans) {
  const uint64_t nan = 0x7fffffff, one = 0x3f800000;
  for (const FormCase& c : std::vector<FormCase>{{"setp.ne.f32", {nan, one}, 0},
                                                 {"setp.neu.f32", {nan, one}, 1},
                                                 {"setp.lt.f32", {nan, one}, 0},
                                                 {"setp.ltu.f32", {nan, one}, 1},
                                                 {"setp.num.f32", {one, one}, 1},
                                                 {"setp.nan.f64", {0x7ff8000000000000, 0}, 1},
                                                 {"setp.eq.f32", {0, 0x80000000}, 1},
                                                 {"setp.gt.f32", {1, 0}, 1},
                                                 {"setp.gt.ftz.f32", {1, 0}, 0},
                                                 {"setp.eq.ftz.f16", {1, 0x8001}, 1},
                                                 {"setp.geu.bf16", {0x3f80, 0x4000}, 0}})
    expect_value(c);
}

TEST(Comparisons, SecondPredicateIsTheOpposite) {
  const auto second = [](const std::string& instruction) {
    return result_of("pred", ".reg .pred p, c; mov.pred c, 0; .reg .b32 h; mov.b32 h, 0x3c004000; " + instruction);
  };
  EXPECT_EQ(second("setp.lt.s32 p|d, 1, 2;"), "0");
  EXPECT_EQ(second("setp.lt.and.s32 p|d, 2, 1, c;"), "0");
  EXPECT_EQ(second("setp.lt.and.s32 p|d, 2, 1, !c;"), "1");
  EXPECT_EQ(second("setp.lt.or.s32 d|p, 2, 1, !c;"), "1");
  EXPECT_EQ(second("setp.lt.s32 _|d, 2, 1;"), "1");
  EXPECT_EQ(second("setp.lt.f16x2 p|d, h, h;"), "0");
  EXPECT_EQ(second("{ .reg .b32 g; mov.b32 g, 0x40003c00; setp.lt.f16x2 p|d, h, g; }"), "1");
  EXPECT_EQ(second("{ .reg .b32 g; mov.b32 g, 0x40003c00; setp.lt.f16x2 d|p, h, g; }"), "0");
  EXPECT_EQ(second("{ .reg .b32 g; mov.b32 g, 0x40003c00; setp.lt.xor.f16x2 d|p, h, g, !c; }"), "1");
}

TEST(Comparisons, SetGivesOnesOrOne) {
  for (const FormCase& c : std::vector<FormCase>{{"set.lt.u32.s32", {0xffffffff, 1}, 0xffffffff},
                                                 {"set.lt.f32.u32", {1, 2}, 0x3f800000},
                                                 {"set.gt.s32.f64", {0, 0}, 0},
                                                 {"set.eq.and.u32.b64", {5, 5, 1}, 0xffffffff},
                                                 {"set.eq.f16.f16", {0x3c00, 0x3c00}, 0x3c00},
                                                 {"set.eq.u16.f16", {0x3c00, 0x3c00}, 0xffff},
                                                 {"set.neu.s32.f16", {0x7e00, 0x3c00}, 0xffffffff},
                                                 {"set.gt.f16x2.f16x2", {0x40003c00, 0x3c004000}, 0x3c000000},
                                                 {"set.gt.u32.f16x2", {0x40003c00, 0x3c004000}, 0xffff0000},
                                                 {"set.le.bf16x2.bf16x2", {0x3f804000, 0x3f803f80}, 0x3f800000},
                                                 {"set.le.u32.bf16x2", {0x3f804000, 0x40004000}, 0xffffffff},
                                                 {"set.ne.f16.s64", {1, 2}, 0x3c00},
                                                 {"set.lt.bf16.f32", {0, 0x3f800000}, 0x3f80},
                                                 {"set.gt.ftz.u32.f32", {1, 0}, 0}})
    expect_value(c);
}

}  // namespace
}  // namespace cupola::ptx
