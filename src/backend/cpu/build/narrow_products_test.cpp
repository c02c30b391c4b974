#include "backend/cpu/build/narrow_products.h"

#include <gtest/gtest.h>

#include <array>

#include "kir/test_module.h"

namespace cupola::cpu::build::testing {
namespace {

/// Sixteen products of numbers of 16 bits, cut to 16 from `shift`.
void expect_right(const std::string& wide, const std::string& extension, const std::string& shift, unsigned distance) {
  SCOPED_TRACE(wide + " " + extension + " " + shift);
  kir::TestModule module(
      "define void @f(ptr %a, ptr %b, ptr %c) {\n%x = load <16 x i16>, ptr %a, align 2\n"
      "%y = load <16 x i16>, ptr %b, align 2\n%p = " +
      extension + " <16 x i16> %x to <16 x " + wide + ">\n%q = " + extension + " <16 x i16> %y to <16 x " + wide +
      ">\n%m = mul <16 x " + wide + "> %p, %q\n%s = " + shift + " <16 x " + wide + "> %m, splat (" + wide + " " +
      std::to_string(distance) + ")\n%t = trunc <16 x " + wide +
      "> %s to <16 x i16>\nstore <16 x i16> %t, ptr %c, align 2\nret void\n}");
  hide_shifts_of_products(*module->getFunction("f"));
  std::array<uint16_t, 16> a{}, b{}, c{}, expected{};
  for (uint16_t i = 0; i < 16; ++i) {
    a[i] = static_cast<uint16_t>(i * 4099 + 7), b[i] = static_cast<uint16_t>(65535 - i * 3001);
    const bool is_signed = extension == "sext";
    const int64_t x = is_signed ? static_cast<int16_t>(a[i]) : int64_t{a[i]};
    const int64_t y = is_signed ? static_cast<int16_t>(b[i]) : int64_t{b[i]};
    uint64_t product = static_cast<uint64_t>(x * y);
    if (wide == "i32")
      product = shift == "ashr" ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(product)}) : product & 0xffffffff;
    expected[i] = static_cast<uint16_t>(
        shift == "ashr" ? static_cast<uint64_t>(static_cast<int64_t>(product) >> distance) : product >> distance);
  }
  module.function<void(const uint16_t*, const uint16_t*, uint16_t*)>("f")(a.data(), b.data(), c.data());
  EXPECT_EQ(c, expected) << distance;
}

TEST(NarrowProducts, AreCutWhereTheyWereShifted) {
  for (const unsigned distance : {15u, 16u, 17u, 24u, 31u})
    for (const char* extension : {"sext", "zext"})
      for (const char* shift : {"ashr", "lshr"}) {
        expect_right("i32", extension, shift, distance);
        expect_right("i64", extension, shift, distance);
        expect_right("i64", extension, shift, distance + 16);
        expect_right("i64", extension, shift, distance + 32);
      }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
