#include "image/block_class.h"

#include <gtest/gtest.h>

namespace cupola::image {
namespace {

TEST(BlockClass, RowsOfSixteenAndEightFillTheirWarps) {
  struct Case {
    Dim3 block;
    BlockClass expected;
  };
  using enum BlockClass;
  constexpr Case kCases[] = {{{32}, Rows},      {{96, 5}, Rows},      {{32, 1, 3}, Rows}, {{16, 16}, Rows16},
                             {{16, 2}, Rows16}, {{16, 1, 4}, Rows16}, {{16, 1}, Line},    {{16, 5}, Any},
                             {{16, 3, 3}, Any}, {{8, 8}, Rows8},      {{8, 2, 2}, Rows8}, {{8, 2}, Any},
                             {{8, 7}, Any},     {{4, 8}, Any},        {{48, 16}, Any},    {{1}, One},
                             {{24, 4}, Any},    {{33}, Line},         {{1000}, Line},     {{7}, Line},
                             {{64, 16}, Rows},  {{1, 16, 16}, Any}};
  for (const Case& each : kCases)
    EXPECT_EQ(class_of(each.block), each.expected) << each.block.x << " x " << each.block.y << " x " << each.block.z;
}

TEST(BlockClass, RequestsNameAClassOrAShapeInIt) {
  for (const BlocksOfCode& code :
       {BlocksOfCode{BlockClass::Rows}, BlocksOfCode{BlockClass::One},
        BlocksOfCode{BlockClass::Rows16, Dim3{16, 16, 1}}, BlocksOfCode{BlockClass::Line, Dim3{1000}},
        BlocksOfCode{BlockClass::Any, Dim3{7, 2, 3}}, BlocksOfCode{BlockClass::Rows, Dim3{64}, true}})
    EXPECT_EQ(blocks_requested(request_name(code)), code) << request_name(code);
  EXPECT_EQ(request_name({BlockClass::Rows16, Dim3{16, 16, 1}}), "rows16-16x16x1");
  EXPECT_EQ(request_name({BlockClass::Rows, Dim3{64, 2}, true}), "rows-64x2x1-hot");
}

TEST(BlockClass, OtherRequestsNameNothing) {
  for (const char* name : {"",
                           "row",
                           "rows-",
                           "rows-32",
                           "rows-32x1",
                           "rows-32x1x1x1",
                           "rows-32x1x1 ",
                           "rows-0x1x1",
                           "rows--32x1x1",
                           "rows-33x1x1",
                           "rows16-32x1x1",
                           "rows-1024x2x1",
                           "rows-4294967296x1x1",
                           "-32x1x1",
                           "one-2x1x1",
                           "rows-hot",
                           "-hot",
                           "rows-32x1x1-",
                           "rows-32x1x1-hot-hot",
                           "rows-32x1x1-warm"})
    EXPECT_FALSE(blocks_requested(name)) << name;
}

}  // namespace
}  // namespace cupola::image
