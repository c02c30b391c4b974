#include "kir/expand_constants.h"

#include "backend/cpu/build/test_program.h"

// Oracle: the value that the host finds at the same places.

namespace cupola::cpu::build::testing {
namespace {

TEST(ExpandConstants, AnAddressThatReachesAPhiByTwoEdgesOfOneBlock) {
  TestProgram program(R"(
    @x = internal addrspace(3) global [2 x i32] undef, align 4
    @y = addrspace(1) global [2 x i32] [i32 30, i32 40], align 4
    define ptx_kernel void @k(ptr %out, i32 %which) {
      store i32 10, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @x, i64 4)
      switch i32 %which, label %other [ i32 1, label %join
                                        i32 2, label %join ]
    other:
      br label %join
    join:
      %p = phi ptr [ getelementptr (i8, ptr addrspacecast (ptr addrspace(3) @x to ptr), i64 4), %0 ],
                   [ getelementptr (i8, ptr addrspacecast (ptr addrspace(3) @x to ptr), i64 4), %0 ],
                   [ getelementptr (i8, ptr addrspacecast (ptr addrspace(1) @y to ptr), i64 4), %other ]
      %v = load i32, ptr %p
      store i32 %v, ptr %out
      ret void
    })");
  const int expected[] = {40, 10, 10, 40};
  for (int which = 0; which < 4; ++which) {
    int out = 0;
    program.launch("k", {1}, {1}, &out, which);
    EXPECT_EQ(out, expected[which]);
  }
}

TEST(ExpandConstants, AliasesAndAggregatesOfAddresses) {
  TestProgram program(R"(
    @a = addrspace(1) global i32 7
    @also = alias i32, ptr addrspace(1) @a
    define i32 @get() noinline { %v = load i32, ptr addrspace(1) @also
      ret i32 %v }
    @got = alias i32 (), ptr @get
    define ptx_kernel void @k(ptr %out) {
      %v = call i32 @got()
      store i32 %v, ptr %out
      %slot = alloca { ptr, ptr }
      store volatile { ptr, ptr } { ptr addrspacecast (ptr addrspace(1) @a to ptr), ptr @get }, ptr %slot
      %p = load volatile ptr, ptr %slot
      %w = load i32, ptr %p
      %o1 = getelementptr i32, ptr %out, i64 1
      store i32 %w, ptr %o1
      ret void
    })");
  int out[2] = {};
  program.launch("k", {1}, {1}, &out[0]);
  EXPECT_EQ(out[0], 7);
  EXPECT_EQ(out[1], 7);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
