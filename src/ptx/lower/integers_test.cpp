// Oracle: values worked out by hand from the PTX ISA's definitions.

#include "ptx/lower/form_fixture.h"

namespace cupola::ptx {
namespace {

using Integers = FormValues;

TEST_P(Integers, Give) {
  EXPECT_EQ(result_of(GetParam().type, GetParam().body), GetParam().expected) << GetParam().body;
}

constexpr FormValue kSums[] = {
    {"u16", "add.u16 d, 0xffff, 2;", "1"},
    {"s16", "sub.s16 d, 0x8000, 1;", "7FFF"},
    {"u32", "add.u32 d, 0xffffffff, 2;", "1"},
    {"s32", "sub.s32 d, 0, 1;", "FFFFFFFF"},
    {"s64", "add.s64 d, 0x7fffffffffffffff, 1;", "8000000000000000"},
    {"u64", "sub.u64 d, 0, 1;", "FFFFFFFFFFFFFFFF"},
    {"s32", "add.sat.s32 d, 0x7fffffff, 1;", "7FFFFFFF"},
    {"s32", "add.sat.s32 d, 0x80000000, -1;", "80000000"},
    {"s32", "sub.sat.s32 d, 0x80000000, 1;", "80000000"},
    {"s32", "sub.sat.s32 d, 0, 0x80000000;", "7FFFFFFF"},
    {"u32", "add.u16x2 d, 0xffff0001, 0x00010002;", "3"},
    {"u32", "add.s16x2 d, 0x00008000, 0xffffffff;", "FFFF7FFF"},
    {"u32", ".reg .u32 t; add.cc.u32 t, 0xffffffff, 1; addc.u32 d, 0, 0;", "1"},
    {"u32", ".reg .u32 t; add.cc.u32 t, 0xfffffffe, 1; addc.u32 d, 0, 0;", "0"},
    {"u32", ".reg .u32 t; add.cc.u32 t, -1, 1; addc.cc.u32 t, -1, 0; addc.u32 d, 0, 0;", "1"},  // carry of a carry
    {"u32", ".reg .u32 t; add.cc.u32 t, -1, 1; addc.cc.u32 t, 0, 0; addc.u32 d, 0, 0;", "0"},
    {"u32", ".reg .u32 t; add.cc.u32 t, -1, 1; add.u32 t, 0, 0; addc.u32 d, 0, 0;", "1"},  // add leaves CC alone
    {"u32", ".reg .u32 t; sub.cc.u32 t, 0, 1; subc.u32 d, 5, 0;", "4"},
    {"u32", ".reg .u32 t; sub.cc.u32 t, 1, 1; subc.u32 d, 5, 0;", "5"},
    {"u32", ".reg .u32 t; sub.cc.u32 t, 0, 1; subc.cc.u32 t, 0, 0; subc.u32 d, 5, 0;", "4"},
    {"s64", ".reg .s64 t; add.cc.s64 t, -1, 1; addc.s64 d, 0, 0;", "1"},
    {"u32", ".reg .pred p; .reg .u32 t; mov.pred p, 0; add.cc.u32 t, -1, 1; @p add.cc.u32 t, 0, 0; addc.u32 d, 0, 0;",
     "1"},
};
INSTANTIATE_TEST_SUITE_P(Sums, Integers, testing::ValuesIn(kSums));

constexpr FormValue kProducts[] = {
    {"u32", "mul.lo.u32 d, 0x10001, 0x10001;", "20001"},
    {"u32", "mul.hi.u32 d, 0xffffffff, 0xffffffff;", "FFFFFFFE"},
    {"s32", "mul.hi.s32 d, 0x80000000, 0x80000000;", "40000000"},
    {"s32", "mul.hi.s32 d, -1, 1;", "FFFFFFFF"},
    {"s16", "mul.lo.s16 d, 0x8000, -1;", "8000"},
    {"u16", "mul.hi.u16 d, 0xffff, 0xffff;", "FFFE"},
    {"s16", "mul.hi.s16 d, 0x8000, 0x7fff;", "C000"},
    {"u64", "mul.hi.u64 d, 0xffffffffffffffff, 0xffffffffffffffff;", "FFFFFFFFFFFFFFFE"},
    {"s64", "mul.hi.s64 d, 0x8000000000000000, 2;", "FFFFFFFFFFFFFFFF"},
    {"u64", "mul.lo.u64 d, 0x100000001, 0x100000001;", "200000001"},
    {"u64", "mul.wide.u32 d, 0xffffffff, 0xffffffff;", "FFFFFFFE00000001"},
    {"s64", "mul.wide.s32 d, 0x80000000, 2;", "FFFFFFFF00000000"},
    {"u32", "mul.wide.u16 d, 0xffff, 0xffff;", "FFFE0001"},
    {"s32", "mul.wide.s16 d, 0x8000, 0x8000;", "40000000"},
    {"u32", "mul24.lo.u32 d, 0xff000003, 0x01000005;", "F"},
    {"u32", "mul24.hi.u32 d, 0x00ffffff, 0x00ffffff;", "FFFFFE00"},
    {"s32", "mul24.lo.s32 d, 0x00ffffff, 3;", "FFFFFFFD"},
    {"s32", "mul24.hi.s32 d, 0x00800000, 0x00800000;", "40000000"},
    {"s32", "mad.lo.s32 d, 3, 4, -13;", "FFFFFFFF"},
    {"u32", "mad.hi.u32 d, 0x80000000, 4, 5;", "7"},
    {"s32", "mad.hi.sat.s32 d, 0x7fffffff, 0x7fffffff, 0x7fffffff;", "7FFFFFFF"},
    {"u64", "mad.wide.u32 d, 0xffffffff, 0xffffffff, 0xffffffff;", "FFFFFFFF00000000"},
    {"s32", "mad.wide.s16 d, -1, 2, 1;", "FFFFFFFF"},
    {"u64", "mad.lo.u64 d, 3, 5, 1;", "10"},
    {"u16", "mad.lo.u16 d, 0x100, 0x100, 7;", "7"},
    {"u32", ".reg .u32 t; mad.lo.cc.u32 t, 0xffffffff, 1, 1; madc.hi.u32 d, 0xffffffff, 2, 5;", "7"},
    {"u32", ".reg .u32 t; mad.lo.cc.u32 t, 0xffffffff, 1, 0; madc.hi.u32 d, 0xffffffff, 2, 5;", "6"},
    {"u32", ".reg .u32 t; mad.hi.cc.u32 t, -1, -1, 2; madc.lo.cc.u32 t, 0, 0, -1; addc.u32 d, 0, 0;", "1"},
    {"u32", "mad24.lo.u32 d, 0xff000003, 5, 1;", "10"},
    {"s32", "mad24.hi.sat.s32 d, 0x00800000, 0x00800000, 0x7fffffff;", "7FFFFFFF"},
    {"s32", "mad24.hi.s32 d, 0x00800000, 0x00800000, 0x7fffffff;", "BFFFFFFF"},
    {"u32", "dp4a.u32.u32 d, 0xff000000, 0x02000000, 1;", "1FF"},
    {"s32", "dp4a.s32.u32 d, 0xff000000, 0xff000000, 0;", "FFFFFF01"},
    {"s32", "dp4a.s32.s32 d, 0xff02fe01, 0x01020304, 100;", "65"},  // -1 + 4 - 6 + 4 + 100
    {"u32", "dp2a.lo.u32.u32 d, 0xffff0001, 0x04030201, 0;", "1FFFF"},
    {"u32", "dp2a.hi.u32.u32 d, 0xffff0001, 0x04030201, 0;", "3FFFF"},
    {"s32", "dp2a.lo.s32.s32 d, 0xffff0001, 0x000002ff, 7;", "4"},  // -1 - 2 + 7
};
INSTANTIATE_TEST_SUITE_P(Products, Integers, testing::ValuesIn(kProducts));

constexpr FormValue kOthers[] = {
    {"u32", "sad.u32 d, 1, 0xffffffff, 2;", "0"},
    {"s32", "sad.s32 d, -3, 4, 1;", "8"},
    {"u16", "sad.u16 d, 5, 3, 1;", "3"},
    {"s64", "sad.s64 d, -1, 1, 0;", "2"},
    {"u32", "div.u32 d, 7, 2;", "3"},
    {"s32", "div.s32 d, -7, 2;", "FFFFFFFD"},
    {"s32", "rem.s32 d, -7, 2;", "FFFFFFFF"},
    {"s32", "div.s32 d, 0x80000000, -1;", "80000000"},
    {"s32", "rem.s32 d, 0x80000000, -1;", "0"},
    {"s64", "div.s64 d, 0x8000000000000000, -1;", "8000000000000000"},
    {"u32", "div.u32 d, 7, 0;", "FFFFFFFF"},
    {"u64", "div.u64 d, 7, 0;", "FFFFFFFFFFFFFFFF"},
    {"u32", "rem.u32 d, 7, 0;", "FFFFFFFF"},
    {"u16", "div.u16 d, 0xffff, 0x10;", "FFF"},
    {"u16", "rem.u16 d, 0xffff, 0x10;", "F"},
    {"s16", "div.s16 d, -8, 3;", "FFFE"},
    {"s32", "abs.s32 d, 0x80000000;", "80000000"},
    {"s16", "abs.s16 d, -5;", "5"},
    {"s64", "abs.s64 d, -5;", "5"},
    {"s16", "neg.s16 d, 1;", "FFFF"},
    {"s32", "neg.s32 d, 0x80000000;", "80000000"},
    {"s64", "neg.s64 d, 1;", "FFFFFFFFFFFFFFFF"},
    {"s32", "min.s32 d, -1, 1;", "FFFFFFFF"},
    {"u32", "min.u32 d, -1, 1;", "1"},
    {"s16", "max.s16 d, 0x8000, 1;", "1"},
    {"u16", "max.u16 d, 0x8000, 1;", "8000"},
    {"s64", "max.s64 d, -1, 1;", "1"},
    {"u64", "max.u64 d, -1, 1;", "FFFFFFFFFFFFFFFF"},
    {"s32", "min.relu.s32 d, -1, 1;", "0"},
    {"u32", "max.relu.s16x2 d, 0xffff0003, 0xfffe0002;", "3"},
    {"u32", "min.s16x2 d, 0x8000ffff, 0x00017fff;", "8000FFFF"},
    {"u32", "min.u16x2 d, 0x8000ffff, 0x00017fff;", "17FFF"},
    {"u32", "max.u16x2 d, 0x8000ffff, 0x00017fff;", "8000FFFF"},
};
INSTANTIATE_TEST_SUITE_P(Others, Integers, testing::ValuesIn(kOthers));

}  // namespace
}  // namespace cupola::ptx
