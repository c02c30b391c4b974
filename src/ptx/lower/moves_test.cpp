// Oracle: values worked out by hand from the PTX ISA's definitions.

#include "ptx/lower/form_fixture.h"

namespace cupola::ptx {
namespace {

using Moves = FormValues;

TEST_P(Moves, Give) {
  EXPECT_EQ(result_of(GetParam().type, GetParam().body), GetParam().expected) << GetParam().body;
}

constexpr FormValue kMoves[] = {
    {"b32", "mov.b32 d, 0xdeadbeef;", "DEADBEEF"},
    {"s16", "mov.s16 d, -1;", "FFFF"},
    {"f32", "mov.f32 d, 0f7fa00001;", "7FA00001"},
    {"f64", "mov.f64 d, 0dbff0000000000000;", "BFF0000000000000"},
    {"pred", "mov.pred d, 1;", "1"},
    {"b64", "mov.b64 d, {0x11111111, 0x22222222};", "2222222211111111"},
    {"b32", ".reg .b16 x, y; mov.b16 x, 0x1234; mov.b16 y, 0xabcd; mov.b32 d, {x, y};", "ABCD1234"},
    {"b32", ".reg .b32 lo; .reg .b64 w; mov.b64 w, 0x0123456789abcdef; mov.b64 {lo, d}, w;", "1234567"},
    {"b32", ".reg .b64 w; mov.b64 w, 0x0123456789abcdef; mov.b64 {d, _}, w;", "89ABCDEF"},
    {"f32", ".reg .b64 w; mov.b64 w, 0x3f80000000000000; mov.b64 {_, d}, w;", "3F800000"},
    {"b16", ".reg .b16 a, b, c; mov.b64 {a, b, c, d}, 0x1122334455667788;", "1122"},
    {"b64", ".reg .b128 q; .reg .b64 lo; mov.b128 q, {7, 9}; mov.b128 {lo, d}, q;", "9"},
    {"u32", ".reg .v4 .u32 v; mov.v4.u32 v, {1, 2, 3, 4}; mov.u32 d, v.z;", "3"},
    {"u32", ".reg .v2 .u32 v; .reg .u32 t; mov.v2.u32 v, {1, 2}; mov.v2.u32 {d, t}, v; add.u32 d, d, t;", "3"},
    {"u32", ".reg .v2 .u32 v, w; mov.v2.u32 v, {1, 2}; mov.v2.u32 w, v; mov.u32 d, w.y;", "2"},
    {"b32", ".reg .pred p; mov.pred p, 0; selp.b32 d, 1, 2, p;", "2"},
    {"b32", ".reg .pred p; mov.pred p, 0; selp.b32 d, 1, 2, !p;", "1"},
    {"f64", ".reg .pred p; mov.pred p, 1; selp.f64 d, 0d7ff4000000000001, 0d0000000000000000, p;", "7FF4000000000001"},
    {"u16", ".reg .pred p; mov.pred p, 1; selp.u16 d, 0xffff, 0, p;", "FFFF"},
    {"u32", "slct.u32.s32 d, 1, 2, 0;", "1"},
    {"u32", "slct.u32.s32 d, 1, 2, -1;", "2"},
    {"u32", "slct.u32.f32 d, 1, 2, 0f80000000;", "1"},      // -0
    {"u32", "slct.u32.f32 d, 1, 2, 0f80000001;", "2"},      // -denormal
    {"u32", "slct.ftz.u32.f32 d, 1, 2, 0f80000001;", "1"},  // flushed to -0
    {"u32", "slct.ftz.u32.f32 d, 1, 2, 0f80800000;", "2"},  // -2^-126
    {"u32", "slct.u32.f32 d, 1, 2, 0f7fc00000;", "2"},      // NaN
    {"u64", "slct.u64.s32 d, 1, 2, 0x7fffffff;", "1"},
    {"u64", "cvta.global.u64 d, 0x1000;", "1000"},
    {"u64", "cvta.to.const.u64 d, 0x1000;", "1000"},
    {"u64", "cvta.param.u64 d, 0x1000;", "1000"},
};
INSTANTIATE_TEST_SUITE_P(Values, Moves, testing::ValuesIn(kMoves));

TEST(Move, FormsLower) {
  const char* const kBodies[] = {
      ".shared .b32 s[4]; mov.u64 d, s;",
      ".shared .b32 s[4]; mov.u64 d, s+8;",
      ".shared .b32 s[4]; cvta.shared.u64 d, s;",
      ".reg .u64 a; cvta.to.shared.u64 d, a;",
      ".reg .u64 a; cvta.shared::cta.u64 d, a;",
      ".local .b32 l[4]; .reg .u64 a; mov.u64 a, l; cvta.local.u64 d, a;",
      ".reg .u64 a; cvta.to.local.u64 d, a;",
      ".global .b32 g[4]; mov.u64 d, g; cvta.global.u64 d, g;",
      "mov.u64 d, %clock64;",
      ".reg .u32 t; mov.u32 t, %tid.x; mov.b64 d, {t, t};",
      ".reg .pred p; .reg .u64 a; isspacep.shared p, a; selp.u64 d, 1, 0, p;",
      ".reg .pred p; .reg .u64 a; isspacep.global p, a; selp.u64 d, 1, 0, p;",
      ".reg .pred p; .reg .u64 a; isspacep.local p, a; selp.u64 d, 1, 0, p;",
      ".reg .pred p; .reg .u64 a; isspacep.const p, a; selp.u64 d, 1, 0, p;",
      ".reg .pred p; .reg .u64 a; isspacep.shared::cluster p, a; selp.u64 d, 1, 0, p;",
      ".reg .pred p; .reg .u64 a; isspacep.param p, a; selp.u64 d, 1, 0, p;",
      "mov.u64 d, f;",
  };
  for (const char* body : kBodies) EXPECT_EQ(refusal("u64", body), "") << body;
}

TEST(Move, RefusesAddressesOf32Bits) {
  EXPECT_NE(refusal("u32", "cvta.to.shared.u32 d, 0;").find("64 bits"), std::string::npos);
}

}  // namespace
}  // namespace cupola::ptx
