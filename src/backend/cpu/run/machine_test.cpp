#include "backend/cpu/run/machine.h"

#include <gtest/gtest.h>

namespace cupola::cpu {
namespace {

#if defined(__x86_64__)
TEST(Machine, CompilesForALevelThatItHas) {
  EXPECT_EQ(processor_to_compile_for("x86-64"), "x86-64");
  EXPECT_EQ(processor_to_compile_for("x86-64-v2") == "x86-64-v2", __builtin_cpu_supports("x86-64-v2") != 0);
}
#endif

TEST(Machine, CompilesForItselfWhereNothingOrNonsenseIsWanted) {
  const std::string own = processor_to_compile_for("");
  EXPECT_EQ(own.size(), 16u);
  EXPECT_EQ(own.find_first_not_of("0123456789abcdef"), std::string::npos);
  for (const char* wanted : {"x86-64-v9", "znver4", "X86-64"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(processor_to_compile_for(wanted), own) << wanted;
    EXPECT_NE(testing::internal::GetCapturedStderr().find("CUPOLA_PROCESSOR"), std::string::npos);
  }
}

}  // namespace
}  // namespace cupola::cpu
