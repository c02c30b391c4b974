#include "image/architecture.h"

#include <gtest/gtest.h>

#include <string>

// Oracle: "CUDA Compiler Driver NVCC, GPU Feature List", for the form; the numbers are those of nvcc 13.0's
// --list-gpu-arch.

namespace cupola::image {
namespace {

TEST(Architecture, IsKindNumberAndSuffix) {
  const auto found = parse_architecture("compute_100f");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, "compute");
  EXPECT_EQ(found->number, 100);
  EXPECT_EQ(found->suffix, "f");
  EXPECT_EQ(parse_architecture("sm_89")->suffix, "");
}

TEST(Architecture, OtherFormsAreNone) {
  for (const char* text :
       {"", "sm", "sm_", "89", "sm89", "sm_8", "sm_080", "sm_1000", "sm_89b", "sm_89aa", "sm_a", "sm_-9"})
    EXPECT_FALSE(parse_architecture(text)) << text;
}

TEST(Architecture, OfRealAndVirtualOnesTheRealOne) {
  EXPECT_EQ(real_architecture("compute_90a"), "sm_90a");
  EXPECT_EQ(real_architecture("sm_89"), "sm_89");
  EXPECT_EQ(real_architecture("lto_89"), "");
  EXPECT_EQ(real_architecture("sm_080"), "");
}

TEST(Architecture, ListsAreOfOneTable) {
  EXPECT_TRUE(std::ranges::is_sorted(kArchitectures));
  std::string list;
  for (const int number : kArchitectures) list += ", " + std::to_string(number);
  EXPECT_EQ(kArchitectureList, list);
  EXPECT_TRUE(is_known_architecture(75));
  EXPECT_FALSE(is_known_architecture(70));
}

}  // namespace
}  // namespace cupola::image
