#include "backend/cpu/build/build.h"

#include <gmock/gmock.h>
#include <llvm/IR/DiagnosticInfo.h>

#include <cmath>
#include <numeric>

#include "backend/cpu/build/test_program.h"

// Whole path: kir text to running code. The oracle of every kernel is the same computation in this file, on the host.

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;

TEST(Build, RunsAKernelOverAllItsThreads) {
  TestProgram program(R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ctaid.x()
    declare i32 @cupola.ntid.x()
    define ptx_kernel void @axpy(ptr %y, ptr addrspace(1) %x, float %a, i32 %n) {
      %t = call i32 @cupola.tid.x()
      %b = call i32 @cupola.ctaid.x()
      %d = call i32 @cupola.ntid.x()
      %m = mul i32 %b, %d
      %i = add i32 %m, %t
      %in = icmp slt i32 %i, %n
      br i1 %in, label %do, label %out
    do:
      %w = sext i32 %i to i64
      %px = getelementptr float, ptr addrspace(1) %x, i64 %w
      %py = getelementptr float, ptr %y, i64 %w
      %vx = load float, ptr addrspace(1) %px
      %vy = load float, ptr %py
      %p = fmul float %vx, %a
      %s = fadd float %p, %vy
      store float %s, ptr %py
      br label %out
    out:
      ret void
    })");
  const int n = 100;
  std::vector<float> x(n), y(n), expected(n);
  for (int i = 0; i < n; ++i) x[i] = 0.1f * i, y[i] = 1.0f / (i + 1);
  for (int i = 0; i < n; ++i) {
    volatile float product = x[i] * 3.3f;  // no fused multiply-add
    expected[i] = product + y[i];
  }
  program.launch("axpy", {4}, {32}, y.data(), x.data(), 3.3f, n);
  EXPECT_EQ(y, expected);
  EXPECT_EQ(program.kernel("axpy").rung, image::Rung::ThreadLoop);
  EXPECT_FALSE(program.kernel("axpy").polls);
}

TEST(Build, LeavesTheContextItsDiagnosticHandler) {
  struct Counting : llvm::DiagnosticHandler {
    explicit Counting(int& count) : count_(count) {}
    bool handleDiagnostics(const llvm::DiagnosticInfo&) override { return ++count_, true; }
    int& count_;
  };
  llvm::LLVMContext context;
  int count = 0;
  context.setDiagnosticHandler(std::make_unique<Counting>(count));
  auto built = build(parse(context, "define ptx_kernel void @nothing() { ret void }"), {.target = "cpu:test"});
  ASSERT_TRUE(built) << built.error().message;
  context.diagnose(llvm::DiagnosticInfoGeneric("after the build"));
  EXPECT_EQ(count, 1);
}

TEST(Build, RunsKernelsWithATrapInStep) {
  TestProgram program(R"(
    declare i32 @cupola.tid.x()
    declare void @cupola.trap() noreturn
    define ptx_kernel void @checked(ptr %out, i32 %most) {
      %t = call i32 @cupola.tid.x()
      %bad = icmp ugt i32 %t, %most
      br i1 %bad, label %stop, label %on
    stop:
      call void @cupola.trap()
      unreachable
    on:
      %w = zext i32 %t to i64
      %place = getelementptr i32, ptr %out, i64 %w
      store i32 %t, ptr %place
      ret void
    })");
  std::vector<int> out(32), expected(32);
  std::iota(expected.begin(), expected.end(), 0);
  program.launch("checked", {1}, {32}, out.data(), 31);
  EXPECT_EQ(out, expected);
  EXPECT_NE(program.kernel("checked").wide_entries[image::BlockClass::Rows].place, image::kNoEntry);
}

TEST(Build, LaysParametersOutNaturallyAndCopiesStructs) {
  struct S {
    int a;
    double b[3];
    char c;
  };
  TestProgram program(R"(
    %S = type { i32, [3 x double], i8 }
    define ptx_kernel void @k(i8 signext %c, ptr byval(%S) align 8 %s, i1 zeroext %flag, i128 %wide, <4 x float> %v, i16 %h, ptr %out) {
      %b1 = getelementptr %S, ptr %s, i32 0, i32 1, i32 1
      %old = load double, ptr %b1
      store double 7.0, ptr %b1
      %new = load double, ptr %b1
      %sum = fadd double %old, %new
      store double %sum, ptr %out
      %c64 = sext i8 %c to i64
      %o1 = getelementptr i64, ptr %out, i64 1
      store i64 %c64, ptr %o1
      %f64 = zext i1 %flag to i64
      %o2 = getelementptr i64, ptr %out, i64 2
      store i64 %f64, ptr %o2
      %hi = lshr i128 %wide, 64
      %hi64 = trunc i128 %hi to i64
      %o3 = getelementptr i64, ptr %out, i64 3
      store i64 %hi64, ptr %o3
      %v2 = extractelement <4 x float> %v, i32 2
      %o4 = getelementptr i64, ptr %out, i64 4
      store float %v2, ptr %o4
      ret void
    })");
  const KernelInfo& info = program.kernel("k").info;
  ASSERT_EQ(info.parameters.size(), 7u);
  const uint32_t offsets[] = {0, 8, 48, 64, 80, 96, 104};
  const uint32_t sizes[] = {1, 40, 1, 16, 16, 2, 8};
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(info.parameters[i].offset, offsets[i]) << i;
    EXPECT_EQ(info.parameters[i].size, sizes[i]) << i;
  }
  EXPECT_EQ(info.parameter_bytes, 112u);
  struct V {
    float v[4];
  };
  int64_t out[5] = {};
  const unsigned __int128 wide = static_cast<unsigned __int128>(42) << 64;
  program.launch("k", {1}, {2}, int8_t{-5}, S{1, {2, 3, 4}, 'x'}, true, wide, V{{1, 2, 3, 4}}, int16_t{1}, &out[0]);
  EXPECT_EQ(std::bit_cast<double>(out[0]), 3.0 + 7.0);  // the second thread sees 3 again
  EXPECT_EQ(out[1], -5);
  EXPECT_EQ(out[2], 1);
  EXPECT_EQ(out[3], 42);
  float third;
  std::memcpy(&third, &out[4], 4);
  EXPECT_EQ(third, 3.0f);
}

TEST(Build, CallsThroughFunctionPointersInDataAndBetweenKernels) {
  TestProgram program(R"(
    @table = addrspace(1) externally_initialized global [2 x ptr] [ptr @inc, ptr @dbl]
    @stored = addrspace(1) global ptr null
    define i32 @inc(i32 %x) { %r = add i32 %x, 1
      ret i32 %r }
    define i32 @dbl(i32 %x) { %r = mul i32 %x, 2
      ret i32 %r }
    declare i32 @cupola.tid.x()
    define ptx_kernel void @by_table(ptr %out) {
      %t = call i32 @cupola.tid.x()
      %w = zext i32 %t to i64
      %slot = getelementptr ptr, ptr addrspace(1) @table, i64 %w
      %f = load ptr, ptr addrspace(1) %slot
      %r = call i32 %f(i32 20)
      %p = getelementptr i32, ptr %out, i64 %w
      store i32 %r, ptr %p
      ret void
    }
    define ptx_kernel void @store() {
      store ptr @dbl, ptr addrspace(1) @stored
      ret void
    }
    define ptx_kernel void @use(ptr %out) {
      %f = load ptr, ptr addrspace(1) @stored
      %same = icmp eq ptr %f, @dbl
      %r = call i32 %f(i32 100)
      %s = select i1 %same, i32 %r, i32 -1
      store i32 %s, ptr %out
      ret void
    })");
  int out[2] = {};
  program.launch("by_table", {1}, {2}, &out[0]);
  EXPECT_EQ(out[0], 21);
  EXPECT_EQ(out[1], 40);
  program.launch("store", {1}, {1});
  program.launch("use", {1}, {1}, &out[0]);
  EXPECT_EQ(out[0], 200);
}

/// The address of a kernel, in code and in data, is that of one descriptor, which holds the kernel's place.
TEST(Build, GivesKernelsDescriptors) {
  TestProgram program(R"(
    @table = addrspace(1) global [1 x ptr] [ptr @second]
    @llvm.used = appending global [1 x ptr] [ptr @first], section "llvm.metadata"
    define ptx_kernel void @first() { ret void }
    define ptx_kernel void @second() { ret void }
    define ptx_kernel void @k(ptr %out) {
      store ptr @second, ptr %out
      %p = getelementptr ptr, ptr %out, i64 1
      %q = load ptr, ptr addrspace(1) @table
      store ptr %q, ptr %p
      ret void
    })");
  const image::cpu::KernelDescriptor* out[2] = {};
  program.launch("k", {1}, {1}, &out[0]);
  ASSERT_NE(out[0], nullptr);
  EXPECT_EQ(out[0], out[1]);
  EXPECT_EQ(out[0]->mark, image::cpu::KernelDescriptor::kMark);
  EXPECT_EQ(program.image.kernels[out[0]->kernel].info.name, "second");
  EXPECT_EQ(program.image.symbols.size(), 1u);  // the table alone has a name
}

/// The last error is the thread's own, and 0 at first.
TEST(Build, KeepsALastErrorInTheContext) {
  TestProgram program(R"(
    declare ptr @cupola.last_error()
    declare i32 @cupola.tid.x()
    define ptx_kernel void @k(ptr %out) {
      %t = call i32 @cupola.tid.x()
      %w = zext i32 %t to i64
      %a = call ptr @cupola.last_error()
      %first = load i32, ptr %a
      %n = add i32 %t, 7
      store i32 %n, ptr %a
      %b = call ptr @cupola.last_error()
      %second = load i32, ptr %b
      %sum = add i32 %first, %second
      %p = getelementptr i32, ptr %out, i64 %w
      store i32 %sum, ptr %p
      ret void
    })");
  int out[3] = {};
  program.launch("k", {1}, {3}, &out[0]);
  EXPECT_THAT(out, ::testing::ElementsAre(7, 8, 9));
}

TEST(Build, TakesTheAddressOfALibraryFunction) {
  TestProgram program(R"(
    declare double @sin(double)
    @f = addrspace(1) global ptr @sin
    define ptx_kernel void @k(ptr %out) {
      %f = load ptr, ptr addrspace(1) @f
      %a = call double %f(double 0.5)
      %b = call double @sin(double 1.5)
      %s = fsub double %a, %b
      store double %s, ptr %out
      ret void
    })");
  double out = 0;
  program.launch("k", {1}, {1}, &out);
  EXPECT_EQ(out, std::sin(0.5) - std::sin(1.5));
  EXPECT_EQ(program.image.imports.size(), 1u);
  EXPECT_EQ(program.image.slots_offset % 4096, 0u);
}

TEST(Build, Recurses) {
  TestProgram program(R"(
    define i64 @fib(i64 %n) noinline {
      %small = icmp ult i64 %n, 2
      br i1 %small, label %base, label %more
    base:
      ret i64 %n
    more:
      %n1 = sub i64 %n, 1
      %n2 = sub i64 %n, 2
      %a = call i64 @fib(i64 %n1)
      %b = call i64 @fib(i64 %n2)
      %r = add i64 %a, %b
      ret i64 %r
    }
    define ptx_kernel void @k(ptr %out) {
      %r = call i64 @fib(i64 20)
      store i64 %r, ptr %out
      ret void
    })");
  int64_t out = 0;
  program.launch("k", {1}, {1}, &out);
  EXPECT_EQ(out, 6765);
  EXPECT_EQ(program.kernel("k").info.local_bytes, 0u);
}

TEST(Build, DivergesOverADenseSwitch) {
  std::string text = R"(
    declare i32 @cupola.tid.x()
    define ptx_kernel void @k(ptr %out) {
      %t = call i32 @cupola.tid.x()
      %w = zext i32 %t to i64
      %p = getelementptr i32, ptr %out, i64 %w
      switch i32 %t, label %other [)";
  for (int i = 0; i < 12; ++i) text += " i32 " + std::to_string(i) + ", label %c" + std::to_string(i);
  text += "]\n";
  for (int i = 0; i < 12; ++i)
    text +=
        "c" + std::to_string(i) + ":\n store volatile i32 " + std::to_string(i * i * 7 % 31) + ", ptr %p\n ret void\n";
  text += "other:\n store volatile i32 -1, ptr %p\n ret void\n}";
  TestProgram program(text);
  std::vector<int> out(16), expected(16, -1);
  for (int i = 0; i < 12; ++i) expected[i] = i * i * 7 % 31;
  program.launch("k", {1}, {16}, out.data());
  EXPECT_EQ(out, expected);
}

TEST(Build, ReadsConstantTablesLiteralsAndAddressesInData) {
  TestProgram program(R"(
    @squares = addrspace(4) externally_initialized constant [4 x i32] [i32 0, i32 1, i32 4, i32 9]
    @text = private unnamed_addr constant [4 x i8] c"abc\00"
    @middle = addrspace(1) externally_initialized global ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(4) @squares to ptr), i64 8)
    @pair = internal addrspace(1) global { i8, double, <2 x i16> } { i8 3, double 2.5, <2 x i16> <i16 7, i16 8> }
    @llvm.compiler.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(4) @squares to ptr)], section "llvm.metadata"
    define ptx_kernel void @k(ptr %out, i64 %i) {
      %p = getelementptr [4 x i32], ptr addrspacecast (ptr addrspace(4) @squares to ptr), i64 0, i64 %i
      %a = load i32, ptr %p
      %m = load ptr, ptr addrspace(1) @middle
      %b = load i32, ptr %m
      %tp = getelementptr i8, ptr @text, i64 %i
      %c = load i8, ptr %tp
      %c32 = zext i8 %c to i32
      %d = load double, ptr addrspace(1) getelementptr inbounds ({ i8, double, <2 x i16> }, ptr addrspace(1) @pair, i32 0, i32 1)
      %d32 = fptosi double %d to i32
      %v = load i16, ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @pair, i64 18)
      %v32 = zext i16 %v to i32
      store i32 %a, ptr %out
      %o1 = getelementptr i32, ptr %out, i64 1
      store i32 %b, ptr %o1
      %o2 = getelementptr i32, ptr %out, i64 2
      store i32 %c32, ptr %o2
      %o3 = getelementptr i32, ptr %out, i64 3
      store i32 %d32, ptr %o3
      %o4 = getelementptr i32, ptr %out, i64 4
      store i32 %v32, ptr %o4
      ret void
    })");
  int out[5] = {};
  program.launch("k", {1}, {1}, &out[0], int64_t{3});
  EXPECT_THAT(out, ::testing::ElementsAre(9, 4, 0, 2, 8));
  program.symbol<int>("squares")[3] = 16;  // as cudaMemcpyToSymbol does
  program.launch("k", {1}, {1}, &out[0], int64_t{3});
  EXPECT_EQ(out[0], 16);
  ASSERT_EQ(program.image.symbols.size(), 2u);
  EXPECT_EQ(program.image.symbols[0].name, "squares");
  EXPECT_EQ(program.image.symbols[0].size, 16u);
  EXPECT_TRUE(program.image.symbols[0].constant);
  EXPECT_EQ(program.image.symbols[1].name, "middle");
  EXPECT_FALSE(program.image.symbols[1].constant);
}

TEST(Build, Computes128BitIntegers) {
  TestProgram program(R"(
    define ptx_kernel void @k(ptr %out, i128 %a, i128 %b) {
      %q = udiv i128 %a, %b
      %r = srem i128 %a, %b
      %p = mul i128 %q, %r
      %s = lshr i128 %p, 7
      store i128 %q, ptr %out
      %o1 = getelementptr i128, ptr %out, i64 1
      store i128 %r, ptr %o1
      %o2 = getelementptr i128, ptr %out, i64 2
      store i128 %s, ptr %o2
      ret void
    })");
  using u128 = unsigned __int128;
  const u128 a = (u128{0x1234567890abcdef} << 60) + 12345, b = (u128{77} << 64) + 3;
  alignas(16) u128 out[3] = {};
  program.launch("k", {1}, {1}, &out[0], a, b);
  EXPECT_TRUE(out[0] == a / b);
  EXPECT_TRUE(out[1] == a % b);
  EXPECT_TRUE(out[2] == (a / b) * (a % b) >> 7);
}

TEST(Build, DoesAtomicsInEveryAddressSpace) {
  TestProgram program(R"(
    @count = addrspace(1) global i32 0
    @block = internal addrspace(3) global i32 undef
    @total = internal addrspace(3) global double undef
    declare i32 @cupola.tid.x()
    define ptx_kernel void @k(ptr %max, ptr %sum, ptr %out) {
      %t = call i32 @cupola.tid.x()
      %first = icmp eq i32 %t, 0
      br i1 %first, label %init, label %go
    init:
      store i32 0, ptr addrspace(3) @block
      store double 0.0, ptr addrspace(3) @total
      br label %go
    go:
      %a = atomicrmw add ptr addrspace(1) @count, i32 1 syncscope("device") monotonic
      %b = atomicrmw add ptr addrspace(3) @block, i32 2 syncscope("block") monotonic
      %f = uitofp i32 %t to double
      %c = atomicrmw fadd ptr addrspace(3) @total, double %f monotonic
      %d = atomicrmw max ptr %max, i32 %t seq_cst
      %s = uitofp i32 %t to float
      %e = atomicrmw fadd ptr %sum, float %s monotonic
      %g = cmpxchg ptr addrspacecast (ptr addrspace(3) @block to ptr), i32 64, i32 1000 seq_cst seq_cst
      %v = load i32, ptr addrspace(3) @block
      store i32 %v, ptr %out
      %w = load double, ptr addrspace(3) @total
      %o1 = getelementptr double, ptr %out, i64 1
      store double %w, ptr %o1
      ret void
    })");
  int max = 5;
  float sum = 1;
  alignas(8) char out[16] = {};
  program.launch("k", {2}, {32}, &max, &sum, &out[0]);
  EXPECT_EQ(*program.symbol<int>("count"), 64);
  EXPECT_EQ(max, 31);
  EXPECT_EQ(sum, 1 + 2 * 31 * 32 / 2);
  int block;
  double total;
  std::memcpy(&block, out, 4);
  std::memcpy(&total, out + 8, 8);
  EXPECT_EQ(block, 1000);
  EXPECT_EQ(total, 31 * 32 / 2);
  EXPECT_EQ(program.kernel("k").rung, image::Rung::ThreadLoop);
}

TEST(Build, PlacesDynamicSharedMemoryAfterStatic) {
  TestProgram program(R"(
    @fixed = internal addrspace(3) global [5 x i32] undef, align 4
    @dyn = external addrspace(3) global [0 x double], align 8
    declare i32 @cupola.dynamic_shared_bytes()
    declare i1 @cupola.is_shared(ptr)
    declare i1 @cupola.is_local(ptr)
    define ptx_kernel void @k(ptr %out) {
      %local = alloca [5 x i32]
      store i32 11, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @fixed, i64 16)
      %g = getelementptr double, ptr addrspacecast (ptr addrspace(3) @dyn to ptr), i64 3
      store double 2.0, ptr %g
      call void @llvm.memcpy.p0.p3.i64(ptr %local, ptr addrspace(3) @fixed, i64 20, i1 false)
      %lp = getelementptr i32, ptr %local, i64 4
      %v = load i32, ptr %lp
      store i32 %v, ptr %out
      %back = addrspacecast ptr %g to ptr addrspace(3)
      %offset = ptrtoint ptr addrspace(3) %back to i64
      %o64 = getelementptr i64, ptr %out, i64 1
      store i64 %offset, ptr %o64
      %n = call i32 @cupola.dynamic_shared_bytes()
      %o2 = getelementptr i64, ptr %out, i64 2
      store i32 %n, ptr %o2
      %s1 = call i1 @cupola.is_shared(ptr %g)
      %s2 = call i1 @cupola.is_shared(ptr %local)
      %l1 = call i1 @cupola.is_local(ptr %local)
      %l2 = call i1 @cupola.is_local(ptr %out)
      %v0 = insertelement <4 x i1> poison, i1 %s1, i32 0
      %v1 = insertelement <4 x i1> %v0, i1 %s2, i32 1
      %v2 = insertelement <4 x i1> %v1, i1 %l1, i32 2
      %v3 = insertelement <4 x i1> %v2, i1 %l2, i32 3
      %bits = zext <4 x i1> %v3 to <4 x i8>
      %o3 = getelementptr i64, ptr %out, i64 3
      store <4 x i8> %bits, ptr %o3
      ret void
    }
    declare void @llvm.memcpy.p0.p3.i64(ptr, ptr addrspace(3), i64, i1))");
  EXPECT_EQ(program.kernel("k").info.static_shared_bytes, 20u);
  EXPECT_GE(program.kernel("k").info.local_bytes, 20u);
  program.dynamic_shared_bytes = 64;
  uint64_t out[4] = {};
  program.launch("k", {1}, {1}, &out[0]);
  EXPECT_EQ(static_cast<int>(out[0]), 11);
  EXPECT_EQ(out[1], 32u + 3 * 8);
  EXPECT_EQ(out[2], 64u);
  EXPECT_EQ(out[3], 0x00010001u);  // shared: yes, no; local: yes, no
  double stored;
  std::memcpy(&stored, program.shared + 56, 8);
  EXPECT_EQ(stored, 2.0);
}

TEST(Build, CallsServices) {
  TestProgram program(R"(
    @format = private constant [6 x i8] c"%d %d\00"
    declare i32 @cupola.vprintf(ptr, ptr)
    declare void @cupola.barrier(i32, i32)
    declare i64 @cupola.shuffle(i32, i32, i32, i32, i32)
    declare i32 @cupola.active_mask()
    define ptx_kernel void @k(ptr %out) {
      %a = alloca [2 x i32]
      store i32 5, ptr %a
      %a1 = getelementptr i32, ptr %a, i64 1
      store i32 6, ptr %a1
      %n = call i32 @cupola.vprintf(ptr @format, ptr %a)
      store i32 %n, ptr %out
      call void @cupola.barrier(i32 0, i32 0)
      %s = call i64 @cupola.shuffle(i32 -1, i32 3, i32 1, i32 0, i32 31)
      %m1 = call i32 @cupola.active_mask()
      %m2 = call i32 @cupola.active_mask()
      fence seq_cst
      ret void
    })");
  int out = 0;
  program.launch("k", {1}, {3}, &out);
  EXPECT_EQ(record.format, "%d %d");
  EXPECT_THAT(record.arguments, ::testing::ElementsAre(5, 6));
  EXPECT_EQ(out, 2);
  EXPECT_EQ(record.calls["barrier"], 3);
  EXPECT_EQ(record.calls["shuffle"], 3);
  EXPECT_EQ(record.sites.size(), 2u);  // two places in the program
  EXPECT_EQ(program.kernel("k").rung, image::Rung::ThreadFibres);
  EXPECT_FALSE(program.kernel("k").polls);
}

TEST(Build, FindsTheRungThroughCallsAndPointers) {
  TestProgram program(R"(
    declare void @cupola.barrier(i32, i32)
    @f = addrspace(1) global ptr @waits
    define void @waits() { call void @cupola.barrier(i32 0, i32 0)
      ret void }
    define void @between() { call void @waits()
      ret void }
    define ptx_kernel void @direct() { call void @between()
      ret void }
    define ptx_kernel void @indirect() { %f = load ptr, ptr addrspace(1) @f
      call void %f()
      ret void }
    define ptx_kernel void @neither() { ret void })");
  EXPECT_EQ(program.kernel("direct").rung, image::Rung::ThreadFibres);
  EXPECT_EQ(program.kernel("indirect").rung, image::Rung::ThreadFibres);
  EXPECT_EQ(program.kernel("neither").rung, image::Rung::ThreadLoop);
  program.launch("indirect", {1}, {1});
  EXPECT_EQ(record.calls["barrier"], 1);
}

TEST(Build, ReadsLaunchBounds) {
  TestProgram program(R"(
    define ptx_kernel void @bounded() "nvvm.maxntid"="16,8" { ret void }
    define ptx_kernel void @exact() "nvvm.reqntid"="64,2,1" { ret void }
    define ptx_kernel void @free() { ret void })");
  EXPECT_EQ(program.kernel("bounded").info.max_threads_per_block, 128u);
  EXPECT_EQ(program.kernel("exact").info.required_block, (Dim3{64, 2, 1}));
  EXPECT_EQ(program.kernel("free").info.max_threads_per_block, 1024u);
}

TEST(Build, RefusesWhatItCannotRunAndNamesIt) {
  const auto message = [](const char* text) {
    auto built = build_text(text);
    return built ? std::string("built") : built.error().message;
  };
  EXPECT_THAT(message("@away = external addrspace(1) global i32\n"
                      "define ptx_kernel void @k() { store i32 1, ptr addrspace(1) @away\n ret void }"),
              HasSubstr("'away' is declared but defined nowhere"));
  EXPECT_THAT(message("declare void @missing()\ndefine ptx_kernel void @k() { call void @missing()\n ret void }"),
              HasSubstr("calls 'missing'"));
  EXPECT_THAT(message("define void @many(i32, ...) { ret void }"), HasSubstr("'many' takes variable arguments"));
  EXPECT_THAT(message("@big = internal addrspace(3) global [300000 x i8] undef\n"
                      "define ptx_kernel void @k() { store i8 1, ptr addrspace(3) @big\n ret void }"),
              HasSubstr("static shared memory"));
  EXPECT_THAT(message("define ptx_kernel void @k() { call void asm sideeffect \"bar.sync 0;\", \"\"()\n ret void }"),
              HasSubstr("bar.sync 0;"));
  EXPECT_EQ(message("@unused = external addrspace(1) global i32\ndefine ptx_kernel void @k() { ret void }"), "built");
}

}  // namespace
}  // namespace cupola::cpu::build::testing
