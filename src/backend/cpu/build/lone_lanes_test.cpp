#include "backend/cpu/build/lone_lanes.h"

#include "backend/cpu/build/analysed_kernel.h"

// Which accesses become those of one place for all lanes that make them. What they read is in tests/kernels/in_step.cu.

namespace cupola::cpu::build::testing {
namespace {

/// Where %c holds (of %x, threadIdx.x, and %column, the thread's number in its row), %p is read at `index`, which may
/// be of %i, the thread's number, and of %place, which begins with it and goes on by %n in each turn.
struct Reading {
  std::string condition, ways, index;
};
constexpr const char *kWhereTrue = "label %then, label %latch", *kWhereFalse = "label %latch, label %then";

/// All lanes that read do so at one place.
bool is_one_place(const Reading& reading) {
  AnalysedKernel kernel(R"(
    define ptx_kernel void @k(ptr %p, ptr %q, i32 %n, i32 %width) {
    start:
      %x = call i32 @cupola.tid.x()
      %size = call i32 @cupola.ntid.x()
      %column = add i32 %size, %x
      %row = mul i32 %width, %n
      %i = add i32 %row, %column
      br label %loop
    loop:
      %z = phi i32 [ 0, %start ], [ %next, %latch ]
      %place = phi i32 [ %i, %start ], [ %further, %latch ]
      )" + reading.condition +
                        R"(
      br i1 %c, )" + reading.ways +
                        R"(
    then:
      %index = add i32 )" +
                        reading.index + R"(
      %wide = sext i32 %index to i64
      %from = getelementptr float, ptr %p, i64 %wide
      %value = load float, ptr %from
      store float %value, ptr %q
      br label %latch
    latch:
      %next = add i32 %z, 1
      %further = add i32 %place, %n
      %goes.on = icmp slt i32 %next, %n
      br i1 %goes.on, label %loop, label %over
    over:
      ret void
    })");
  kernel.know_lone_lanes();
  const auto* load = llvm::cast<llvm::LoadInst>(kernel.value("value"));
  return kernel.shapes().at(load->getPointerOperand(), load->getParent()).is_flat();
}

constexpr const char* kFirst = "%c = icmp eq i32 %x, 0";

TEST(LoneLanes, ReadAtOnePlaceWhereOneIndexIsLeft) {
  EXPECT_TRUE(is_one_place({"%c = icmp ult i32 %x, 1", kWhereTrue, "%i, -1"}));
  EXPECT_TRUE(is_one_place({"%c = icmp ugt i32 %x, 0", kWhereFalse, "%i, -1"}));
  EXPECT_FALSE(is_one_place({"%c = icmp ult i32 %x, 2", kWhereTrue, "%i, -1"}));
  EXPECT_FALSE(is_one_place({"%c = icmp ugt i32 %x, 14", kWhereTrue, "%i, 1"}));
  const std::string of_sixteen = "%y = call range(i32 0, 16) i32 @cupola.tid.x()\n";
  EXPECT_TRUE(is_one_place({of_sixteen + "%c = icmp ugt i32 %y, 14", kWhereTrue, "%y, 1"}));
  EXPECT_FALSE(is_one_place({of_sixteen + "%c = icmp ugt i32 %y, 13", kWhereTrue, "%y, 1"}));
}

TEST(LoneLanes, ReadAtOnePlaceWhereThreadsOfOneIndexGo) {
  EXPECT_TRUE(is_one_place({kFirst, kWhereTrue, "%i, -1"}));
  EXPECT_TRUE(is_one_place({kFirst, kWhereTrue, "%place, -1"})) << "of a loop";
  EXPECT_TRUE(is_one_place({"%c = icmp ne i32 %x, 31", kWhereFalse, "%i, 1"}));
  EXPECT_TRUE(is_one_place({R"(
      %is.first = icmp eq i32 %x, 0
      %inside = icmp sgt i32 %column, 0
      %c = and i1 %is.first, %inside)",
                            kWhereTrue, "%i, -1"}));
  EXPECT_TRUE(is_one_place({R"(
      %is.first = icmp eq i32 %x, 0
      %inside = icmp sgt i32 %column, 0
      %c = select i1 %inside, i1 %is.first, i1 false)",
                            kWhereTrue, "%i, -1"}));
}

TEST(LoneLanes, AreNotWhereOthersMayGo) {
  EXPECT_FALSE(is_one_place({kFirst, kWhereFalse, "%i, -1"}));
  EXPECT_FALSE(is_one_place({"%c = icmp ne i32 %x, 0", kWhereTrue, "%i, -1"}));
  EXPECT_FALSE(is_one_place({"%c = icmp ult i32 %x, 2", kWhereTrue, "%i, -1"}));
  EXPECT_FALSE(is_one_place({"%c = icmp eq i32 %x, %n", kWhereTrue, "%i, -1"})) << "an unknown one";
  EXPECT_FALSE(is_one_place({R"(
      %is.first = icmp eq i32 %x, 0
      %inside = icmp sgt i32 %column, 0
      %c = or i1 %is.first, %inside)",
                             kWhereTrue, "%i, -1"}));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
