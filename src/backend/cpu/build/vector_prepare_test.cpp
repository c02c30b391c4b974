#include "backend/cpu/build/vector_prepare.h"

#include <gmock/gmock.h>

#include "backend/cpu/build/analysed_kernel.h"

// Oracle: which threads of a block come to a barrier, by CUDA's rule that those that have returned need not.

namespace cupola::cpu::build::testing {
namespace {

/// Threads return at two places before a barrier, and not for the same reason; they share what `returning` does there.
std::string returns_twice(const std::string& begin, const std::string& between, const std::string& returning) {
  return R"(
    declare void @llvm.lifetime.start.p0(ptr)
    declare void @llvm.lifetime.end.p0(ptr)
    define ptx_kernel void @k(i32 %n, ptr %p) {
      %l = call i32 @cupola.laneid()
      %mine = getelementptr i32, ptr %p, i32 %l
      )" +
         begin + R"(
      %first = icmp uge i32 %l, %n
      br i1 %first, label %gone, label %next
    next:
      )" +
         between + R"(
    more:
      %value = load i32, ptr %mine
      %second = icmp eq i32 %value, 0
      br i1 %second, label %gone, label %stays
    stays:
      call void @cupola.barrier(i32 0, i32 0)
      store i32 1, ptr %mine
      br label %gone
    gone:
      )" +
         returning + R"(
      ret void
    })";
}

TEST(VectorPrepare, EarlyReturnsAreKnownBesideATrap) {
  AnalysedKernel kernel(returns_twice("", R"(
      %bad = icmp ugt i32 %n, 1000
      br i1 %bad, label %dies, label %more
    dies:
      call void @cupola.trap()
      unreachable)",
                                      ""));
  kernel.prepare();
  EXPECT_EQ(kernel.separate().size(), 2u);
  EXPECT_FALSE(kernel.is_masked("stays"));
  EXPECT_EQ(kernel.obstacle(), "");
}

TEST(VectorPrepare, EarlyReturnsAreKnownWhereLocalArraysEnd) {
  AnalysedKernel kernel(returns_twice(R"(
      %array = alloca [64 x i32]
      call void @llvm.lifetime.start.p0(ptr %array)
      %place = getelementptr i32, ptr %array, i32 %n
      store volatile i32 %l, ptr %place)",
                                      "br label %more", "call void @llvm.lifetime.end.p0(ptr %array)"));
  kernel.prepare();
  EXPECT_EQ(kernel.separate().size(), 2u);
  EXPECT_FALSE(kernel.is_masked("stays"));
  EXPECT_EQ(kernel.obstacle(), "");
}

TEST(VectorPrepare, EarlyReturnsAreKnownWhereAPhiMergesThem) {
  AnalysedKernel kernel(by_lane(R"(
      %mine = getelementptr i32, ptr %p, i32 %l
      %bad = icmp ugt i32 %n, 1000
      br i1 %bad, label %dies, label %lives
    dies:
      call void @cupola.trap()
      unreachable
    lives:
      %first = icmp uge i32 %l, %n
      br i1 %first, label %merged, label %next
    next:
      %value = load i32, ptr %mine
      %second = icmp eq i32 %value, 0
      br label %merged
    merged:
      %returns = phi i1 [ true, %lives ], [ %second, %next ]
      br i1 %returns, label %gone, label %stays
    stays:
      call void @cupola.barrier(i32 0, i32 0)
      store i32 1, ptr %mine
      br label %gone
    gone:
      ret void
    )"));
  kernel.prepare();
  EXPECT_EQ(kernel.separate().size(), 2u);
  EXPECT_FALSE(kernel.is_masked("stays"));
  EXPECT_EQ(kernel.obstacle(), "");
}

// 128 numbers in two loops: more than LLVM would unroll by itself.
TEST(VectorPrepare, LocalArraysOfInlinedFunctionsBecomeRegisters) {
  AnalysedKernel kernel(R"(
    define internal i32 @sums(ptr %p) noinline {
    entry:
      %array = alloca [128 x i32]
      br label %rows
    rows:
      %y = phi i32 [ 0, %entry ], [ %y.next, %row_end ]
      br label %row
    row:
      %x = phi i32 [ 0, %rows ], [ %x.next, %row ]
      %row_place = mul i32 %y, 16
      %index = add i32 %row_place, %x
      %from = getelementptr inbounds i32, ptr %p, i32 %index
      %value = load volatile i32, ptr %from
      %place = getelementptr inbounds i32, ptr %array, i32 %index
      store i32 %value, ptr %place
      %x.next = add nuw nsw i32 %x, 1
      %x.more = icmp ult i32 %x.next, 16
      br i1 %x.more, label %row, label %row_end
    row_end:
      %y.next = add nuw nsw i32 %y, 1
      %y.more = icmp ult i32 %y.next, 8
      br i1 %y.more, label %rows, label %end
    end:
      %found = getelementptr inbounds i32, ptr %array, i32 6
      %result = load i32, ptr %found
      ret i32 %result
    }
    define ptx_kernel void @k(ptr %p) {
      %sum = call i32 @sums(ptr %p)
      store i32 %sum, ptr %p
      ret void
    })");
  kernel.prepare();
  EXPECT_FALSE(kernel.has_local_arrays());
}

/// Threads all write `%q`, some of them this way and some the other.
std::string two_ways(const std::string& one, const std::string& other) {
  return R"(
    define ptx_kernel void @k(ptr %p, ptr %q, i32 %n) {
      %t = call i32 @cupola.tid.x()
      %border = icmp eq i32 %t, %n
      %i = add i32 %t, %n
      br i1 %border, label %one, label %other
    one:
      )" +
         one + R"(
      br label %end
    other:
      )" +
         other + R"(
      br label %end
    end:
      ret void
    })";
}

/// That are left of such a kernel.
size_t stores_of_two_ways(const std::string& one, const std::string& other) {
  AnalysedKernel kernel(two_ways(one, other));
  kernel.prepare();
  return kernel.stores();
}

TEST(VectorPrepare, WhatBothWaysOfABranchStoreAtOnePlaceIsOneStore) {
  const std::string place = "%place = getelementptr i32, ptr %q, i32 %t\n",
                    same = "%same = getelementptr i32, ptr %q, i32 %t\n";
  EXPECT_EQ(stores_of_two_ways(place + "store i32 0, ptr %place", same + R"(
      %value = load i32, ptr %p
      %more = mul i32 %value, 5
      store i32 %more, ptr %same)"),
            1u);
  EXPECT_EQ(stores_of_two_ways(place + "store i32 0, ptr %place", "store i32 1, ptr %p"), 2u) << "elsewhere";
  // The other way computes its address behind what it reads.
  const auto computed_late = [](const std::string& index) {
    return R"(
      %value = load i32, ptr %p
      )" + index +
           R"(
      %far = sext i32 %index to i64
      %late = getelementptr i32, ptr %q, i64 %far
      store i32 %value, ptr %late)";
  };
  const std::string early = R"(
      %product = mul nsw i32 %i, %n
      %wide = sext i32 %product to i64
      %early = getelementptr inbounds i32, ptr %q, i64 %wide
      store i32 0, ptr %early)";
  EXPECT_EQ(stores_of_two_ways(early, computed_late("%index = mul i32 %i, %n")), 1u);
  EXPECT_EQ(stores_of_two_ways(early, computed_late("%index = mul i32 %i, %t")), 2u);
  EXPECT_EQ(stores_of_two_ways(early, computed_late("%index = mul i32 %value, %value")), 2u);
  const std::string divided = "%product = udiv i32 %i, %n";
  std::string early_divided = early;
  early_divided.replace(early.find("%product"), std::string("%product = mul nsw i32 %i, %n").size(), divided);
  EXPECT_EQ(stores_of_two_ways(early_divided, computed_late("%index = udiv i32 %i, %n")), 2u) << "by 0 elsewhere";
  const std::string meets = "\ncall void @cupola.warp_sync(i32 -1)\n";
  EXPECT_EQ(stores_of_two_ways(early + meets, computed_late("%index = mul i32 %i, %n") + meets), 2u);
  AnalysedKernel kernel(two_ways(early, computed_late("%index = mul i32 %i, %n")));
  kernel.prepare();
  EXPECT_FALSE(kernel.value("product")->hasNoSignedWrap()) << "it may wrap where threads go the other way";
  EXPECT_EQ(stores_of_two_ways(place + "store volatile i32 0, ptr %place", same + "store i32 1, ptr %same"), 2u);
}

/// How a kernel writes whose ways, in lines 4 and 6 behind a branch in line 3, each end with `end`.
std::string report_of_two_ways(const std::string& end) {
  AnalysedKernel kernel(R"(
    define ptx_kernel void @k(ptr %p, ptr %q, i32 %n) !dbg !2 {
      %t = call i32 @cupola.tid.x()
      %border = icmp eq i32 %t, %n
      br i1 %border, label %one, label %other, !dbg !5
    one:
      %early = getelementptr i32, ptr %q, i32 %t
      store i32 0, ptr %early, !dbg !6
      )" + end + R"(
      br label %end
    other:
      %value = load i32, ptr %p, !dbg !7
      %late = getelementptr i32, ptr %q, i32 %t
      store i32 %value, ptr %late, !dbg !7
      )" + end + R"(
      br label %end
    end:
      ret void
    }
    !llvm.dbg.cu = !{!0}
    !llvm.module.flags = !{!8}
    !0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: LineTablesOnly)
    !1 = !DIFile(filename: "k.cu", directory: "/")
    !2 = distinct !DISubprogram(name: "k", file: !1, type: !3, spFlags: DISPFlagDefinition, unit: !0)
    !3 = !DISubroutineType(types: !4)
    !4 = !{}
    !5 = !DILocation(line: 3, scope: !2)
    !6 = !DILocation(line: 4, scope: !2)
    !7 = !DILocation(line: 6, scope: !2)
    !8 = !{i32 2, !"Debug Info Version", i32 3}
  )");
  kernel.prepare();
  kernel.widened();
  return kernel.report();
}

TEST(VectorPrepare, AStoreOfBothWaysHasTheBranchsLine) {
  using ::testing::HasSubstr;
  EXPECT_THAT(report_of_two_ways(""), HasSubstr("k.cu:3 writes 4 bytes"));
  const std::string apart = report_of_two_ways("call void @cupola.warp_sync(i32 -1), !dbg !5");
  EXPECT_THAT(apart, HasSubstr("k.cu:4 writes 4 bytes"));
  EXPECT_THAT(apart, HasSubstr("k.cu:6 writes 4 bytes"));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
