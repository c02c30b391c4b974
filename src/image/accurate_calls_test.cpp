#include "image/accurate_calls.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "image/library_calls.h"

namespace cupola::image {
namespace {

// Oracle: the first zero of J0, 2.404825557695772768621631879..., near which J0(x) = -J1(zero) (x - zero); Abramowitz
// and Stegun 9.5.
TEST(AccurateCalls, BesselFunctionsKeepTheirDigitsNearAZero) {
  auto function = reinterpret_cast<double (*)(double)>(const_cast<void*>(accurate_call("j0")));
  ASSERT_NE(function, nullptr);
  const double x = 2.404825557695773;
  const long double expected = -0.519147497289466758L * (static_cast<long double>(x) - 2.404825557695772768621631879L);
  EXPECT_NEAR(function(x) / static_cast<double>(expected), 1.0, 1e-2);  // glibc's own double j0 has no right digit here
}

TEST(AccurateCalls, OtherNamesHaveNone) {
  EXPECT_EQ(accurate_call("sin"), nullptr);
  EXPECT_EQ(accurate_call(""), nullptr);
}

TEST(AccurateCalls, ServeTheTable) {
  int served = 0;
  for (uint32_t i = 0; i < library_call_count(); ++i) {
    const void* accurate = accurate_call(library_call_name(i));
    if (!accurate) continue;
    EXPECT_EQ(library_call_address(i), accurate);
    ++served;
  }
  EXPECT_EQ(served, 16);
}

}  // namespace
}  // namespace cupola::image
