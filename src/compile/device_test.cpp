#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "backend/cpu/run/cpu_device.h"
#include "compile/code_fixture.h"

// Both halves together: kir text as clang writes it, compiled through the C entry, run by the cpu device. Oracle: the
// same computation here, on the host.

namespace cupola {
namespace {

const std::string kHead = R"(
  target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
  target triple = "nvptx64-nvidia-cuda"
  declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
)";

class OnTheDevice : public ::testing::Test {
 protected:
  void load(const std::string& text) { load_as(image::CodeKind::Kir, kHead + text); }
  void load_as(image::CodeKind kind, const std::string& text) {
    auto loaded = load_code(*device_, kind, text);
    ASSERT_TRUE(loaded) << loaded.error().message;
    executable_ = *loaded;
  }

  template <typename Parameters>
  void run(const char* kernel, Dim3 grid, Dim3 block, const Parameters& parameters, uint32_t dynamic_shared = 0) {
    ASSERT_TRUE(executable_);
    hal::Launch launch;
    launch.executable = executable_;
    launch.kernel = executable_->find_kernel(kernel).value();
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_shared_bytes = dynamic_shared;
    launch.parameters.resize(sizeof parameters);
    std::memcpy(launch.parameters.data(), &parameters, sizeof parameters);
    const uint64_t number = queue_->submit(std::move(launch));
    const Result<> result = queue_->progress()->wait(number);
    EXPECT_TRUE(result) << result.error().message;
  }

  std::unique_ptr<hal::Device> device_ = cpu::make_cpu_device();
  std::unique_ptr<hal::Queue> queue_ = device_->create_queue(0).value();
  std::shared_ptr<hal::Executable> executable_;
};

TEST_F(OnTheDevice, ABlockReversesItsTileThroughSharedMemory) {
  load(R"(
    @tile = internal addrspace(3) global [64 x i32] undef, align 4
    define ptx_kernel void @reverse(ptr %data) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
      %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
      %m = mul i32 %b, %d
      %i = add i32 %m, %t
      %iw = zext i32 %i to i64
      %p = getelementptr i32, ptr %data, i64 %iw
      %v = load i32, ptr %p
      %tw = zext i32 %t to i64
      %s = getelementptr [64 x i32], ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 0, i64 %tw
      store i32 %v, ptr %s
      call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
      %l = sub i32 %d, 1
      %r = sub i32 %l, %t
      %rw = zext i32 %r to i64
      %q = getelementptr [64 x i32], ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 0, i64 %rw
      %w = load i32, ptr %q
      store i32 %w, ptr %p
      ret void
    })");
  std::vector<int> data(64 * 50), expected(64 * 50);
  std::iota(data.begin(), data.end(), 0);
  for (int i = 0; i < 64 * 50; ++i) expected[i] = i / 64 * 64 + 63 - i % 64;
  run("reverse", {50}, {64}, data.data());
  EXPECT_EQ(data, expected);
}

TEST_F(OnTheDevice, AFaultNamesItsSourceLine) {
  load(R"(
    define ptx_kernel void @k(ptr %p) !dbg !4 {
      %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !6
      %is = icmp eq i32 %i, 3, !dbg !6
      br i1 %is, label %bad, label %good, !dbg !6
    bad:
      store i32 1, ptr %p, !dbg !7
      br label %good, !dbg !6
    good:
      ret void, !dbg !6
    }
    !llvm.dbg.cu = !{!0}
    !llvm.module.flags = !{!2, !3}
    !0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
    !1 = !DIFile(filename: "saxpy.cu", directory: "/src")
    !2 = !{i32 2, !"Debug Info Version", i32 3}
    !3 = !{i32 2, !"Dwarf Version", i32 4}
    !4 = distinct !DISubprogram(name: "k", file: !1, line: 10, type: !5, unit: !0, spFlags: DISPFlagDefinition)
    !5 = !DISubroutineType(types: !8)
    !6 = !DILocation(line: 11, scope: !4)
    !7 = !DILocation(line: 12, scope: !4)
    !8 = !{})");
  ASSERT_TRUE(executable_);
  hal::Launch launch;
  launch.executable = executable_;
  launch.kernel = executable_->find_kernel("k").value();
  launch.block = {32};
  launch.parameters.resize(sizeof(void*));
  const Result<> result = queue_->progress()->wait(queue_->submit(std::move(launch)));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::IllegalAddress);
  EXPECT_NE(result.error().message.find("saxpy.cu:12"), std::string::npos) << result.error().message;
}

TEST_F(OnTheDevice, ASpinLockBetweenThreadsOfAWarpAndBlocks) {
  load(R"(
    @lock = addrspace(1) global i32 0
    define ptx_kernel void @k(ptr %count) {
      br label %loop
    loop:
      %r = cmpxchg ptr addrspace(1) @lock, i32 0, i32 1 acquire monotonic
      %ok = extractvalue { i32, i1 } %r, 1
      br i1 %ok, label %critical, label %loop
    critical:
      %v = load volatile i32, ptr %count
      %w = add i32 %v, 1
      store volatile i32 %w, ptr %count
      store atomic i32 0, ptr addrspace(1) @lock release, align 4
      ret void
    })");
  int count = 0;
  run("k", {8}, {64}, &count);
  EXPECT_EQ(count, 8 * 64);
}

TEST_F(OnTheDevice, SymbolsAreWritableAndFunctionPointersCall) {
  load(R"(
    @factor = addrspace(4) externally_initialized constant double 1.0
    @table = addrspace(1) externally_initialized global [2 x ptr] [ptr @plus, ptr @times]
    define double @plus(double %a, double %b) { %r = fadd double %a, %b
      ret double %r }
    define double @times(double %a, double %b) { %r = fmul double %a, %b
      ret double %r }
    define ptx_kernel void @k(ptr %out) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %tw = zext i32 %t to i64
      %slot = getelementptr ptr, ptr addrspace(1) @table, i64 %tw
      %f = load ptr, ptr addrspace(1) %slot
      %x = load double, ptr addrspace(4) @factor
      %v = call double %f(double %x, double 3.0)
      %p = getelementptr double, ptr %out, i64 %tw
      store double %v, ptr %p
      ret void
    })");
  ASSERT_TRUE(executable_);
  const hal::SymbolInfo* factor = executable_->find_symbol("factor");
  ASSERT_TRUE(factor);
  EXPECT_EQ(factor->size, 8u);
  EXPECT_TRUE(factor->constant);
  *reinterpret_cast<double*>(factor->address) = 7.0;  // not folded, though a constant
  std::array<double, 2> out{};
  run("k", {1}, {2}, out.data());
  EXPECT_EQ(out, (std::array<double, 2>{7.0 + 3.0, 7.0 * 3.0}));
}

/// As mapped through the C library that the device library calls by its name.
TEST_F(OnTheDevice, AKernelNamedAsACFunctionIsNotCalledInItsPlace) {
  const std::string kernel = R"(
    declare double @__nv_log1p(double)
    define ptx_kernel void @log1p(ptr %p) {
      %x = load double, ptr %p
      %y = call double @__nv_log1p(double %x)
      %z = call double @erf(double %y)
      store double %z, ptr %p
      ret void
    }
    define double @erf(double %x) {
      %y = fadd double %x, 1.0
      ret double %y
    }
    @free = addrspace(1) externally_initialized global i32 7
    @_ZdlPv = internal addrspace(1) global i32 8)";
  load(kernel);
  double value = 0.75;
  run("log1p", {1}, {1}, &value);
  EXPECT_DOUBLE_EQ(value, std::log1p(0.75) + 1);
  ASSERT_TRUE(executable_->find_symbol("free"));
  EXPECT_EQ(executable_->find_symbol("free")->size, 4u);

  const auto ptx = compiled({"ptx:sm_90", "", {{image::CodeKind::Kir, bytes_of(kHead + kernel)}}, {}});
  ASSERT_TRUE(ptx) << ptx.error().message;
  load_as(image::CodeKind::Ptx, {reinterpret_cast<const char*>((*ptx)->data()), (*ptx)->size()});
  value = 0.75;
  run("log1p", {1}, {1}, &value);
  EXPECT_NEAR(value, std::log1p(0.75) + 1, 1e-15);
}

/// Arithmetic sees zeros, and the program the bits, though the processor flushes for the whole kernel.
TEST_F(OnTheDevice, WhereDenormalsAreFlushedTheirBitsAreStillThere) {
  load(R"(
    define ptx_kernel void @k(ptr %values, ptr %out) #0 {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %tw = zext i32 %t to i64
      %p = getelementptr float, ptr %values, i64 %tw
      %v = load float, ptr %p
      %bits = bitcast float %v to i32
      %size = and i32 %bits, 2147483647
      %none = icmp eq i32 %size, 0
      %zero = fcmp oeq float %v, 0.0
      %a = zext i1 %none to i32
      %b = select i1 %zero, i32 2, i32 0
      %said = or i32 %a, %b
      %q = getelementptr i32, ptr %out, i64 %tw
      store i32 %said, ptr %q
      %half = fmul float %v, 0.5
      store float %half, ptr %p
      ret void
    }
    attributes #0 = { "denormal-fp-math-f32"="preserve-sign,preserve-sign" })");
  std::array<float, 32> values{};
  values.fill(0x1p-127f);
  values[1] = 0, values[2] = 1, values[3] = -0x1p-149f;
  values[4] = 0x1p-126f;
  std::array<uint32_t, 32> said{};
  struct {
    float* values;
    uint32_t* said;
  } const parameters{values.data(), said.data()};
  run("k", {1}, {32}, parameters);
  EXPECT_EQ(said[0], 2u);
  EXPECT_EQ(said[1], 3u);
  EXPECT_EQ(said[2], 0u);
  EXPECT_EQ(said[3], 2u);
  EXPECT_EQ(values[2], 0.5f);
  EXPECT_EQ(values[4], 0.0f);  // the half of the least normal number
  EXPECT_TRUE(std::signbit(values[3]));
}

TEST_F(OnTheDevice, TheNumberOfMultiprocessorsIsTheDevices) {
  load(R"(
    declare i32 @llvm.nvvm.read.ptx.sreg.smid()
    declare i32 @llvm.nvvm.read.ptx.sreg.nsmid()
    define ptx_kernel void @k(ptr %out) {
      %s = call i32 @llvm.nvvm.read.ptx.sreg.smid()
      %n = call i32 @llvm.nvvm.read.ptx.sreg.nsmid()
      store i32 %s, ptr %out
      %p = getelementptr i32, ptr %out, i64 1
      store i32 %n, ptr %p
      ret void
    })");
  std::array<uint32_t, 2> out{~0u, 0};
  run("k", {1}, {1}, out.data());
  EXPECT_EQ(out[1], device_->properties().multiprocessors);
  EXPECT_LT(out[0], out[1]);
}

}  // namespace
}  // namespace cupola
