#include "backend/cpu/build/shared_memory.h"

#include "backend/cpu/build/test_program.h"

// Oracle: the overlap rule. A kernel writes its own variables, reads them back and finds no other's value in them.

namespace cupola::cpu::build::testing {
namespace {

TEST(SharedMemory, VariablesOfOneKernelDoNotOverlapAndThoseOfOthersDo) {
  TestProgram program(R"(
    @a = internal addrspace(3) global [4 x i32] undef, align 4
    @b = internal addrspace(3) global [8 x i32] undef, align 4
    @both = internal addrspace(3) global double undef, align 8
    define void @touch(double %v) noinline { store double %v, ptr addrspace(3) @both
      ret void }
    define ptx_kernel void @first(ptr %out) {
      store i32 1, ptr addrspace(3) @a
      store i32 2, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @a, i64 12)
      call void @touch(double 9.0)
      %v = load i32, ptr addrspace(3) @a
      %w = load i32, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @a, i64 12)
      %s = add i32 %v, %w
      store i32 %s, ptr %out
      ret void
    }
    define ptx_kernel void @second(ptr %out) {
      store i32 5, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @b, i64 28)
      call void @touch(double 9.0)
      %v = load i32, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @b, i64 28)
      store i32 %v, ptr %out
      ret void
    }
    define ptx_kernel void @none() { ret void })");
  int out = 0;
  program.launch("first", {1}, {1}, &out);
  EXPECT_EQ(out, 3);
  program.launch("second", {1}, {1}, &out);
  EXPECT_EQ(out, 5);
  // a: 0 to 16; b: from 0 too, to 32; both: conflicts with each, so at 32.
  EXPECT_EQ(program.kernel("first").info.static_shared_bytes, 40u);
  EXPECT_EQ(program.kernel("second").info.static_shared_bytes, 40u);
  EXPECT_EQ(program.kernel("none").info.static_shared_bytes, 0u);
}

TEST(SharedMemory, AFunctionCalledThroughAPointerCountsForEveryKernelThatCallsThroughOne) {
  TestProgram program(R"(
    @hidden = internal addrspace(3) global [16 x i32] undef, align 4
    @f = addrspace(1) global ptr @touch
    define void @touch() { store i32 1, ptr addrspace(3) @hidden
      ret void }
    define ptx_kernel void @calls() { %f = load ptr, ptr addrspace(1) @f
      call void %f()
      ret void }
    define ptx_kernel void @plain() { ret void })");
  EXPECT_EQ(program.kernel("calls").info.static_shared_bytes, 64u);
  EXPECT_EQ(program.kernel("plain").info.static_shared_bytes, 0u);
}

TEST(SharedMemory, StaticSizeIsRoundedForAnOveralignedDynamicArray) {
  TestProgram program(R"(
    @fixed = internal addrspace(3) global [3 x i32] undef, align 4
    @dyn = external addrspace(3) global [0 x i32], align 128
    define ptx_kernel void @k(ptr %out) {
      store i32 1, ptr addrspace(3) @fixed
      %offset = ptrtoint ptr addrspace(3) @dyn to i64
      store i64 %offset, ptr %out
      ret void
    })");
  EXPECT_EQ(program.kernel("k").info.static_shared_bytes, 128u);
  uint64_t out = 1;
  program.launch("k", {1}, {1}, &out);
  EXPECT_EQ(out, 128u);
}

TEST(SharedMemory, SharedPointersPassThroughPhisMemoryAndCalls) {
  TestProgram program(R"(
    @x = internal addrspace(3) global [2 x i32] undef, align 4
    @y = internal addrspace(3) global [2 x i32] undef, align 4
    define i32 @read(ptr addrspace(3) %p) noinline { %v = load i32, ptr addrspace(3) %p
      ret i32 %v }
    define ptx_kernel void @k(ptr %out, i1 %which) {
      store i32 10, ptr addrspace(3) @x
      store i32 20, ptr addrspace(3) @y
      br i1 %which, label %one, label %two
    one:
      br label %join
    two:
      br label %join
    join:
      %p = phi ptr addrspace(3) [ @x, %one ], [ @y, %two ]
      %slot = alloca ptr addrspace(3)
      store volatile ptr addrspace(3) %p, ptr %slot
      %q = load volatile ptr addrspace(3), ptr %slot
      %v = call i32 @read(ptr addrspace(3) %q)
      store i32 %v, ptr %out
      ret void
    })");
  int out = 0;
  program.launch("k", {1}, {1}, &out, true);
  EXPECT_EQ(out, 10);
  program.launch("k", {1}, {1}, &out, false);
  EXPECT_EQ(out, 20);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
