#include "backend/cpu/build/stored_rows.h"

#include <gmock/gmock.h>

#include <array>
#include <numeric>

#include "kir/pass_analyses.h"
#include "kir/test_module.h"

// Oracle: what LLVM's language reference says of loads and stores, which the code does without the pass.

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// `code`, which has %x and %y, four numbers each, stored at %p and 16 bytes behind it, and makes %r of four.
std::string function(const std::string& code) {
  return R"(
  declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, <4 x i1>, <4 x i32>)
  declare void @llvm.masked.store.v4i32.p0(<4 x i32>, ptr, <4 x i1>)
  declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
  declare void @other()
  define void @f(ptr %p, ptr %q, ptr noalias %result, i1 %some) {
    %behind = getelementptr i8, ptr %q, i64 16
    %x = load <4 x i32>, ptr %q, align 4
    %y = load <4 x i32>, ptr %behind, align 4
    %p4 = getelementptr i8, ptr %p, i64 4
    %p12 = getelementptr i8, ptr %p, i64 12
    %p16 = getelementptr i8, ptr %p, i64 16
    store <4 x i32> %x, ptr %p, align 4
    store <4 x i32> %y, ptr %p16, align 4
    )" + code +
         R"(
    store <4 x i32> %r, ptr %result, align 4
    ret void
  })";
}
const std::string kRead = "%r = load <4 x i32>, ptr %p12, align 4\n";

std::string after(const std::string& text) {
  kir::TestModule module(text);
  kir::PassAnalyses analyses;
  TakeStoredRows().run(*module->getFunction("f"), analyses.functions);
  return module.text();
}

/// What the function leaves in %result, by its code as it is or after the pass, with 1 to 8 at %q.
std::array<int, 4> result(const std::string& text, bool takes) {
  kir::TestModule module(text);
  kir::PassAnalyses analyses;
  if (takes) TakeStoredRows().run(*module->getFunction("f"), analyses.functions);
  std::array<int, 16> memory = {}, from;
  std::iota(from.begin(), from.end(), 1);
  std::array<int, 4> made = {};
  module.function<void(int*, const int*, int*, bool)>("f")(memory.data(), from.data(), made.data(), true);
  return made;
}

void expect_taken(const std::string& code, const std::string& gone = "%r = load") {
  const std::string text = function(code);
  EXPECT_THAT(after(text), Not(HasSubstr(gone))) << code;
  EXPECT_EQ(result(text, true), result(text, false)) << code;
}
void expect_left(const std::string& code, const std::string& left = "%r = load") {
  EXPECT_THAT(after(function(code)), HasSubstr(left)) << code;
}

TEST(StoredRows, AreTakenForWhatIsReadOfThem) {
  for (const char* offset : {"4", "8", "12"})
    expect_taken(std::string("%at = getelementptr i8, ptr %p, i64 ") + offset +
                 "\n %r = load <4 x i32>, ptr %at, align 4\n");
  expect_taken(
      "%two = load <2 x i32>, ptr %p12, align 4\n"
      "%r = shufflevector <2 x i32> %two, <2 x i32> poison, <4 x i32> <i32 0, i32 1, i32 1, i32 0>\n",
      "%two = load");
}

TEST(StoredRows, AreTakenByAKnownMask) {
  const std::string read = "%r = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr align 4 %before, <4 x i1> ";
  const std::string before = "%before = getelementptr i8, ptr %p, i64 -4\n";
  expect_taken(before + read + "<i1 false, i1 true, i1 true, i1 true>, <4 x i32> splat (i32 9))\n", "%r = call");
  expect_taken(before + "%v = call" + read.substr(9) +
                   "<i1 false, i1 true, i1 false, i1 true>, <4 x i32> poison)\n"
                   "%r = shufflevector <4 x i32> %v, <4 x i32> poison, <4 x i32> <i32 1, i32 3, i32 3, i32 1>\n",
               "%v = call");
  expect_left(before + read + "<i1 true, i1 true, i1 true, i1 true>, <4 x i32> splat (i32 9))\n", "%r = call");
  expect_left(before + read + "<i1 false, i1 true, i1 poison, i1 true>, <4 x i32> zeroinitializer)\n", "%r = call");
}

TEST(StoredRows, AreThoseStoredLast) {
  expect_taken("store <4 x i32> %y, ptr %p, align 4\n" + kRead);
  expect_left("store <4 x i32> %y, ptr %p4, align 4\n" + kRead);  // what it leaves of the first is no whole row
  expect_left("store i32 77, ptr %p16, align 4\n" + kRead);
}

TEST(StoredRows, AreGoneWhereSomethingElseIsWritten) {
  expect_left("store i32 77, ptr %q, align 4\n" + kRead);  // maybe there
  expect_left("call void @other()\n" + kRead);
  expect_left("fence seq_cst\n" + kRead);
  expect_left("call void @llvm.masked.store.v4i32.p0(<4 x i32> %x, ptr align 4 %p4, <4 x i1> splat (i1 true))\n" +
              kRead);
  expect_taken("store i32 77, ptr %result, align 4\n" + kRead);
  expect_taken("call void @llvm.prefetch.p0(ptr %q, i32 0, i32 3, i32 1)\n" + kRead);
}

TEST(StoredRows, AreNotTakenForOtherNumbers) {
  expect_left("%at = getelementptr i8, ptr %p, i64 6\n %r = load <4 x i32>, ptr %at, align 2\n");
  expect_left("%at = getelementptr i8, ptr %p, i64 20\n %r = load <4 x i32>, ptr %at, align 4\n");
  expect_left("%f = load <4 x float>, ptr %p12, align 4\n %r = bitcast <4 x float> %f to <4 x i32>\n", "%f = load");
  expect_left("%r = load volatile <4 x i32>, ptr %p12, align 4\n");
  expect_left(
      "%p32 = getelementptr i8, ptr %p, i64 32\n store <4 x i32> %x, ptr %p32, align 4\n"
      "%all = load <8 x i32>, ptr %p12, align 4\n"
      "%r = shufflevector <8 x i32> %all, <8 x i32> poison, <4 x i32> <i32 0, i32 2, i32 5, i32 6>\n",
      "%all = load");  // three rows
}

TEST(StoredRows, AreTakenWhereAllWaysHaveThem) {
  expect_taken("br i1 %some, label %a, label %b\n a:\n br label %on\n b:\n br label %on\n on:\n" + kRead);
  expect_left(
      "br i1 %some, label %a, label %b\n a:\n store <4 x i32> %y, ptr %p, align 4\n br label %on\n"
      " b:\n br label %on\n on:\n" +
      kRead);
  expect_left("br label %turn\n turn:\n" + kRead +
              "store <4 x i32> %r, ptr %p, align 4\n br i1 %some, label %out, label %turn\n out:\n");
}

}  // namespace
}  // namespace cupola::cpu::build::testing
