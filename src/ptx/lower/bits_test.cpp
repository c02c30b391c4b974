// Oracle: values worked out by hand from the PTX ISA's definitions.

#include "ptx/lower/form_fixture.h"

namespace cupola::ptx {
namespace {

using Bits = FormValues;

TEST_P(Bits, Give) {
  EXPECT_EQ(result_of(GetParam().type, GetParam().body), GetParam().expected) << GetParam().body;
}

constexpr FormValue kLogic[] = {
    {"b16", "and.b16 d, 0xff0f, 0x0ff0;", "F00"},
    {"pred", "or.pred d, 0, 1;", "1"},
    {"pred", ".reg .pred p; mov.pred p, 1; and.pred d, !p, p;", "0"},
    {"b64", "xor.b64 d, 0xff, -1;", "FFFFFFFFFFFFFF00"},
    {"pred", "not.pred d, 0;", "1"},
    {"b16", "not.b16 d, 0;", "FFFF"},
    {"b32", "cnot.b32 d, 0;", "1"},
    {"b64", "cnot.b64 d, 0x8000000000000000;", "0"},
    {"b32", "lop3.b32 d, 0xf0, 0xcc, 0xaa, 0x80;", "80"},
    {"b32", "lop3.b32 d, 0xf0, 0xcc, 0xaa, 0xfe;", "FE"},
    {"b32", "lop3.b32 d, 0xf0, 0xcc, 0xaa, 0x96;", "96"},
    {"b32", "lop3.b32 d, 0xf0, 0xcc, 0xaa, 0x1a;", "1A"},
    {"b32", "lop3.b32 d, 0xfffffff0, 0xffffffcc, 0xffffffaa, 0xca;", "FFFFFFCA"},
    {"pred", ".reg .b32 r; lop3.or.b32 r|d, 1, 1, 1, 0x80, 0;", "1"},
    {"pred", ".reg .b32 r; lop3.and.b32 r|d, 1, 1, 1, 0x80, 0;", "0"},
    {"pred", ".reg .pred q; mov.pred q, 1; lop3.and.b32 _|d, 1, 1, 0, 0x80, q;", "0"},
    {"b32", "prmt.b32 d, 0x33221100, 0x77665544, 0x7531;", "77553311"},
    {"b32", "prmt.b32 d, 0x00008000, 0, 0x0009;", "FF"},
    {"b32", "prmt.b32.f4e d, 0x33221100, 0x77665544, 3;", "66554433"},
    {"b32", "prmt.b32.b4e d, 0x33221100, 0x77665544, 0;", "55667700"},
    {"b32", "prmt.b32.rc8 d, 0x33221100, 0x77665544, 3;", "33333333"},
    {"b32", "prmt.b32.ecl d, 0x33221100, 0x77665544, 1;", "33221111"},
    {"b32", "prmt.b32.ecr d, 0x33221100, 0x77665544, 1;", "11111100"},
    {"b32", "prmt.b32.rc16 d, 0x33221100, 0x77665544, 0;", "11001100"},
};
INSTANTIATE_TEST_SUITE_P(Logic, Bits, testing::ValuesIn(kLogic));

constexpr FormValue kShifts[] = {
    {"b16", "shl.b16 d, 1, 15;", "8000"},
    {"b16", "shl.b16 d, 1, 16;", "0"},
    {"b16", "shl.b16 d, 1, 0x10000;", "0"},  // not 1 << 0
    {"u16", "shr.u16 d, 0x8000, 16;", "0"},
    {"s16", "shr.s16 d, 0x8000, 0x10000;", "FFFF"},
    {"b16", "shr.b16 d, 0x8000, 15;", "1"},
    {"b32", "shl.b32 d, 1, 32;", "0"},
    {"b32", "shl.b32 d, 1, 31;", "80000000"},
    {"s32", "shr.s32 d, 0x80000000, 0xffffffff;", "FFFFFFFF"},
    {"u32", "shr.u32 d, 0x80000000, 32;", "0"},
    {"b64", "shl.b64 d, 1, 64;", "0"},
    {"b64", "shl.b64 d, 1, 63;", "8000000000000000"},
    {"s64", "shr.s64 d, 0x8000000000000000, 64;", "FFFFFFFFFFFFFFFF"},
    {"u64", "shr.u64 d, 0x8000000000000000, 0xffffffff;", "0"},
    {"b32", "shf.l.wrap.b32 d, 0x80000000, 0x1, 33;", "3"},
    {"b32", "shf.l.clamp.b32 d, 0x80000000, 0x1, 33;", "80000000"},
    {"b32", "shf.r.wrap.b32 d, 0x80000000, 0x1, 33;", "C0000000"},
    {"b32", "shf.r.clamp.b32 d, 0x80000000, 0x1, 40;", "1"},
    {"b32", "shf.r.clamp.b32 d, 0x80000000, 0x1, 0;", "80000000"},
};
INSTANTIATE_TEST_SUITE_P(Shifts, Bits, testing::ValuesIn(kShifts));

constexpr FormValue kCounts[] = {
    {"u32", "popc.b32 d, 0xff00ff00;", "10"},
    {"u32", "popc.b64 d, -1;", "40"},
    {"u32", "clz.b32 d, 0;", "20"},
    {"u32", "clz.b64 d, 1;", "3F"},
    {"u32", "bfind.u32 d, 0;", "FFFFFFFF"},
    {"u32", "bfind.u32 d, 0x80000001;", "1F"},
    {"u32", "bfind.s32 d, -1;", "FFFFFFFF"},
    {"u32", "bfind.s32 d, -2;", "0"},
    {"u32", "bfind.u64 d, 0x100000000;", "20"},
    {"u32", "bfind.s64 d, 0x8000000000000000;", "3E"},
    {"u32", "bfind.shiftamt.u32 d, 1;", "1F"},
    {"u32", "bfind.shiftamt.u64 d, 0;", "FFFFFFFF"},
    {"u32", "fns.b32 d, 0xaaaaaaaa, 3, 0;", "3"},
    {"u32", "fns.b32 d, 0xaaaaaaaa, 3, -1;", "3"},
    {"u32", "fns.b32 d, 0xaaaaaaaa, 3, 1;", "3"},
    {"u32", "fns.b32 d, 0xaaaaaaaa, 3, 2;", "5"},
    {"u32", "fns.b32 d, 0xaaaaaaaa, 3, -2;", "1"},
    {"u32", "fns.b32 d, 0xaaaaaaaa, 3, -3;", "FFFFFFFF"},
    {"u32", "fns.b32 d, 0xaaaaaaaa, 2, 0;", "FFFFFFFF"},
    {"u32", "fns.b32 d, 0xffffffff, 0, 32;", "1F"},
    {"u32", "fns.b32 d, 0xffffffff, 31, -32;", "0"},
    {"u32", "fns.b32 d, 0xffffffff, 1, 32;", "FFFFFFFF"},
    {"b32", "brev.b32 d, 1;", "80000000"},
    {"b64", "brev.b64 d, 0x3;", "C000000000000000"},
};
INSTANTIATE_TEST_SUITE_P(Counts, Bits, testing::ValuesIn(kCounts));

constexpr FormValue kFields[] = {
    {"u32", "bfe.u32 d, 0xabcd1234, 8, 8;", "12"},
    {"s32", "bfe.s32 d, 0x00008000, 8, 8;", "FFFFFF80"},
    {"s32", "bfe.s32 d, 0x80000000, 31, 8;", "FFFFFFFF"},
    {"s32", "bfe.s32 d, 0x80000000, 200, 8;", "FFFFFFFF"},
    {"u32", "bfe.u32 d, 0xffffffff, 32, 8;", "0"},
    {"s32", "bfe.s32 d, -1, 0, 0;", "0"},
    {"s32", "bfe.s32 d, 0x40000000, 30, 255;", "1"},
    {"u32", "bfe.u32 d, 0xffffffff, 0x104, 0x108;", "FF"},  // only the low bytes count
    {"u64", "bfe.u64 d, 0x123456789abcdef0, 60, 64;", "1"},
    {"s64", "bfe.s64 d, 0x8000000000000000, 63, 1;", "FFFFFFFFFFFFFFFF"},
    {"b32", "bfi.b32 d, 0xff, 0, 28, 8;", "F0000000"},
    {"b32", "bfi.b32 d, 0, 0xffffffff, 4, 8;", "FFFFF00F"},
    {"b32", "bfi.b32 d, 0x12345678, 0, 0, 32;", "12345678"},
    {"b32", "bfi.b32 d, 0x12345678, 5, 32, 8;", "5"},
    {"b32", "bfi.b32 d, 0x12345678, 5, 4, 0;", "5"},
    {"b64", "bfi.b64 d, 0xff, 0, 56, 255;", "FF00000000000000"},
    {"u32", "szext.clamp.u32 d, 0xffffffff, 4;", "F"},
    {"s32", "szext.clamp.s32 d, 0x8, 4;", "FFFFFFF8"},
    {"s32", "szext.clamp.s32 d, 0x80000000, 99;", "80000000"},
    {"s32", "szext.wrap.s32 d, 0x8, 36;", "FFFFFFF8"},
    {"s32", "szext.clamp.s32 d, -1, 0;", "0"},
    {"b32", "bmsk.clamp.b32 d, 4, 8;", "FF0"},
    {"b32", "bmsk.clamp.b32 d, 28, 8;", "F0000000"},
    {"b32", "bmsk.clamp.b32 d, 32, 8;", "0"},
    {"b32", "bmsk.wrap.b32 d, 33, 33;", "2"},
};
INSTANTIATE_TEST_SUITE_P(Fields, Bits, testing::ValuesIn(kFields));

}  // namespace
}  // namespace cupola::ptx
