#include "backend/metal/build/raise/metal_names.h"

#include <gtest/gtest.h>

namespace cupola::metal::build {
namespace {

TEST(MetalNames, KeepsWhatMetalTakesAndWritesTheRestAsNumbers) {
  MetalNames names;
  EXPECT_EQ(names.add("kernel_", "_Z3addPfi"), "kernel__Z3addPfi");
  EXPECT_EQ(names.add("kernel_", "add$1.x"), "kernel_add_24_1_2e_x");
  EXPECT_EQ(names.add("kernel_", "\xC3\xA4"), "kernel__c3__a4_");
}

TEST(MetalNames, NoTwoAreAlike) {
  MetalNames names;
  EXPECT_EQ(names.add("kernel_", "a$"), "kernel_a_24_");
  EXPECT_EQ(names.add("kernel_", "a_24_"), "kernel_a_24__2");
  EXPECT_EQ(names.add("kernel_", "a_24__2"), "kernel_a_24__2_2");
  EXPECT_EQ(names.add("function_", "a$"), "function_a_24_");
}

}  // namespace
}  // namespace cupola::metal::build
