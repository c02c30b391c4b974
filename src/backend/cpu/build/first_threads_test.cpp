#include "backend/cpu/build/first_threads.h"

#include <gmock/gmock.h>

#include "backend/cpu/build/cut_code.h"

// Of which regions it is known that only the first threads act. That the others may be left out is VectorDifferential's
// to show, and WholeBlock's.

namespace cupola::cpu::build::testing {
namespace {

/// %threads: threadIdx.x of each lane; %limits: %n for each.
const std::string kThreads = R"(
      %t.first = insertelement <32 x i32> poison, i32 %t, i64 0
      %t.row = shufflevector <32 x i32> %t.first, <32 x i32> poison, <32 x i32> zeroinitializer
      %threads = add <32 x i32> %t.row, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10,
          i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23,
          i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
      %n.first = insertelement <32 x i32> poison, i32 %n, i64 0
      %limits = shufflevector <32 x i32> %n.first, <32 x i32> poison, <32 x i32> zeroinitializer
)";

/// How many threads act, as text, in a region that stores where `mask`, which sets %mask, has lanes; "": not known.
std::string acting(const std::string& mask, const std::string& before = "", const std::string& otherwise = "") {
  const Cut cut(kMeet + kThreads + mask + before + R"(
      %bits = bitcast <32 x i1> %mask to i32
      %some = icmp ne i32 %bits, 0
      br i1 %some, label %act, label %none
    act:
      store i32 1, ptr %p
      br label %on
    none:
      )" + otherwise +
                R"(
      br label %on
    on:
      )" + kMeet);
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const BlockRegion& region : cut.regions->regions)
    if (region.acting) region.acting->print(out);
  return text;
}

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(FirstThreads, AreThoseBelowABound) {
  EXPECT_THAT(acting("%mask = icmp ult <32 x i32> %threads, %limits\n"), EndsWith("i32 %3"));
  EXPECT_THAT(acting("%mask = icmp ugt <32 x i32> %limits, %threads\n"), EndsWith("i32 %3"));
  EXPECT_EQ(acting("%mask = icmp ult <32 x i32> %threads, splat (i32 7)\n"), "i32 7");
  EXPECT_THAT(acting("%mask = icmp ule <32 x i32> %threads, %limits\n"), HasSubstr("uadd.sat.i32(i32 %3, i32 1)"));
  EXPECT_THAT(acting("%mask = icmp eq <32 x i32> %threads, splat (i32 7)\n"), HasSubstr("uadd.sat.i32(i32 7, i32 1)"));
  EXPECT_THAT(acting("%mask = icmp slt <32 x i32> %threads, %limits\n"), HasSubstr("smax.i32(i32 %3, i32 0)"));
  EXPECT_THAT(acting("%mask = icmp sle <32 x i32> %threads, %limits\n"), HasSubstr("add i32"));
}

TEST(FirstThreads, AreThoseOfAllConditionsTogether) {
  const std::string below = "%below = icmp ult <32 x i32> %threads, splat (i32 7)\n",
                    others = "%others = load volatile <32 x i1>, ptr %q\n";
  EXPECT_EQ(acting(below + "%mask = freeze <32 x i1> %below\n"), "i32 7");
  EXPECT_EQ(acting(below + "%mask = and <32 x i1> %below, splat (i1 true)\n"), "i32 7");
  EXPECT_EQ(acting(below + "%mask = or <32 x i1> zeroinitializer, %below\n"), "i32 7");
  EXPECT_EQ(acting(below + "%made = fcmp oeq <32 x float> zeroinitializer, zeroinitializer\n"
                           "%mask = and <32 x i1> %made, %below\n"),
            "i32 7");
  EXPECT_EQ(acting("%above = icmp uge <32 x i32> %threads, splat (i32 7)\n"
                   "%mask = xor <32 x i1> %above, splat (i1 true)\n"),
            "i32 7");
  EXPECT_EQ(acting(below + "%not = xor <32 x i1> %below, splat (i1 true)\n"
                           "%wide = and <32 x i1> %not, splat (i1 true)\n"
                           "%mask = xor <32 x i1> %wide, splat (i1 true)\n"),
            "i32 7");
}

TEST(FirstThreads, AreNotTheOnlyOnes) {
  const std::string below = "%below = icmp ult <32 x i32> %threads, splat (i32 7)\n",
                    other = "%other = icmp ugt <32 x i32> %threads, splat (i32 9)\n";
  EXPECT_EQ(acting("%mask = icmp ugt <32 x i32> %threads, splat (i32 7)\n"), "");
  EXPECT_EQ(acting("%mask = icmp ne <32 x i32> %threads, splat (i32 7)\n"), "");
  EXPECT_EQ(acting("%mask = icmp ult <32 x i32> splat (i32 7), %threads\n"), "");
  EXPECT_EQ(acting(below + other + "%mask = or <32 x i1> %below, %other\n"), "");
  EXPECT_EQ(acting(below + "%mask = xor <32 x i1> %below, splat (i1 true)\n"), "");
  EXPECT_EQ(acting(below + other +
                   "%both = and <32 x i1> %below, %other\n"
                   "%mask = xor <32 x i1> %both, splat (i1 true)\n"),
            "");
  EXPECT_EQ(acting("%twice = shl <32 x i32> %threads, splat (i32 31)\n"
                   "%mask = icmp ult <32 x i32> %twice, splat (i32 7)\n"),
            "");
  EXPECT_EQ(acting("%back = sub <32 x i32> %t.row, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, "
                   "i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, "
                   "i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>\n"
                   "%mask = icmp ult <32 x i32> %back, splat (i32 7)\n"),
            "");
  EXPECT_EQ(acting("%mask = icmp ult <32 x i32> %threads, %t.row\n"), "") << "a bound of the warp's own";
  EXPECT_EQ(acting("%mask = icmp eq <32 x i32> %threads, %limits\n"), "");
}

TEST(FirstThreads, AreNotWhereOthersDoSomethingToo) {
  const std::string below = "%mask = icmp ult <32 x i32> %threads, splat (i32 7)\n";
  EXPECT_EQ(acting(below, "store i32 1, ptr %q\n"), "");
  EXPECT_EQ(acting(below, "", "store i32 1, ptr %q"), "");
  EXPECT_EQ(acting(below, "%v = load volatile i32, ptr %q\n"), "");
}

}  // namespace
}  // namespace cupola::cpu::build::testing
