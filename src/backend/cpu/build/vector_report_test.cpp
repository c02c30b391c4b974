#include "backend/cpu/build/vector_report.h"

#include <gmock/gmock.h>

#include "backend/cpu/build/analysed_kernel.h"

// Oracle: the code that the report is of.

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Written {
  std::string report, code;
};

/// For rows of 16; `body` has threadIdx.x as %t and threadIdx.y as %y, whose row of numbers begins at %row and has the
/// thread's at %cell.
Written written(const std::string& body) {
  AnalysedKernel kernel(R"(
    define ptx_kernel void @k(ptr %context, ptr %p, i32 %n) {
      )" + kRowOfBlock + body +
                            R"(
      br label %end
    end:
      ret void
    })",
                        BlockClass::Rows16);
  Written result;
  llvm::raw_string_ostream(result.code) << kernel.widened();
  result.report = kernel.report();
  return result;
}

TEST(VectorReport, RowsAreWideAccesses) {
  const Written one = written("store i32 %t, ptr %cell");
  EXPECT_THAT(one.report, HasSubstr("writes 4 bytes: rows of 16\n"));
  EXPECT_THAT(one.code, HasSubstr("store <16 x i32>"));
}

// The machine has no scatter: where an index wraps it goes lane by lane.
TEST(VectorReport, RowsUnlessAnIndexWrapsAreRows) {
  const Written one = written(R"(
      %index = add i32 %t, %n
      %wrapping = sext i32 %index to i64
      %place = getelementptr i32, ptr %p, i64 %wrapping
      store i32 %t, ptr %place)");
  EXPECT_THAT(one.report, HasSubstr("writes 4 bytes: rows of 16, if no index wraps (tested each time)\n"));
  EXPECT_THAT(one.code, HasSubstr("store <16 x i32>"));
}

// The machine has no masked accesses; all lanes together need none.
TEST(VectorReport, RowsUnderAMaskAreWhatTheMachineMakesOfThem) {
  const Written one = written(R"(
      %some = icmp ult i32 %t, %n
      br i1 %some, label %write, label %on
    write:
      store i32 %t, ptr %cell
      br label %on
    on:)");
  EXPECT_THAT(one.report, HasSubstr("writes 4 bytes where lanes may be elsewhere: places 4 bytes apart, one by one\n"));
  EXPECT_THAT(one.code, HasSubstr("store <16 x i32>"));
  EXPECT_THAT(one.code, HasSubstr("llvm.cttz.i32("));
}

TEST(VectorReport, NumbersThatDoNotFillTheirBytesAreNoRow) {
  const Written one = written(R"(
      %bits = getelementptr i1, ptr %p, i64 %x
      store i1 true, ptr %bits)");
  EXPECT_THAT(one.report, HasSubstr("writes 1 bytes: places 1 bytes apart, one by one\n"));
  EXPECT_THAT(one.code, Not(HasSubstr("store <16 x i1>")));
}

TEST(VectorReport, RowsThatShareAPlaceWriteItOnceEach) {
  const Written one = written("store i32 %y, ptr %row");
  EXPECT_THAT(one.report, HasSubstr("writes 4 bytes: one place for each row of 16\n"));
  EXPECT_THAT(one.code, Not(HasSubstr("<32 x")));
}

TEST(VectorReport, StructuresAreWideAccesses) {
  const Written one = written(R"(
      %pair = getelementptr [2 x i32], ptr %row, i64 %x
      %second = getelementptr i32, ptr %pair, i64 1
      store i32 %t, ptr %pair
      store i32 %n, ptr %second)");
  EXPECT_THAT(one.report, HasSubstr("structures of 8 bytes beside each other: wide accesses and shuffles (2 times)\n"));
  EXPECT_THAT(one.code, HasSubstr("shufflevector"));
}

TEST(VectorReport, UpdatesOfOnePlaceAreOneWhereTheyCanBe) {
  const Written together = written("%old = atomicrmw add ptr %p, i32 1 monotonic");
  EXPECT_THAT(together.report, HasSubstr("updates 4 bytes: one place for all lanes, in one update\n"));
  EXPECT_THAT(together.code, Not(HasSubstr("lane:")));
  const Written apart = written("%old = atomicrmw xchg ptr %p, i32 %t monotonic");
  EXPECT_THAT(apart.report, HasSubstr("updates 4 bytes: one lane after the other\n"));
  EXPECT_THAT(apart.code, HasSubstr("lane:"));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
