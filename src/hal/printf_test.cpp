#include "hal/printf.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

// Formatting of device printf. Oracle: the host's snprintf with the same format and values.

namespace cupola::hal {
namespace {

/// Arguments as the compiler lays them out: promoted, at natural alignment.
class Packed {
 public:
  template <typename... Values>
  explicit Packed(Values... values) {
    (add(values), ...);
  }
  const void* data() const { return bytes_.data(); }

 private:
  template <typename T>
  void add(T value) {
    bytes_.resize((bytes_.size() + sizeof value - 1) / sizeof value * sizeof value + sizeof value);
    std::memcpy(bytes_.data() + bytes_.size() - sizeof value, &value, sizeof value);
  }
  std::vector<std::byte> bytes_ = [] {
    std::vector<std::byte> bytes;
    bytes.reserve(256);
    return bytes;
  }();
};

template <typename... Values>
void expect_like_host(const char* format, Values... values) {
  char expected[4096];
  int length = 0;
  if constexpr (sizeof...(Values) == 0)
    length = std::snprintf(expected, sizeof expected, "%s", format);
  else
    length = std::snprintf(expected, sizeof expected, format, values...);
  std::string text = "before ";
  const int count = format_print(text, format, Packed(values...).data());
  EXPECT_EQ(text, "before " + std::string(expected, static_cast<size_t>(length))) << format;
  EXPECT_EQ(count, static_cast<int>(sizeof...(Values))) << format;
}

TEST(DevicePrintf, IntegersAreTheHosts) {
  for (const char* format :
       {"%d", "%5d|", "%-5d|", "%05d", "%+d", "% d", "%.4d", "%8.4d|", "%-8.4d|", "%i",   "%hd",  "%hhd",
        "%u", "%x",   "%X",    "%#x",  "%o",  "%#o", "%hu",  "%hhu",   "%c|",     "%3c|", "%-3c|"})
    for (const int value : {0, 1, -1, 65, 300, -70000, 2147483647}) expect_like_host(format, value);
  for (const char* format :
       {"%ld", "%lld", "%lu", "%llu", "%lx", "%llX", "%20ld|", "%-20lld|", "%zu", "%zd", "%jd", "%td"})
    for (const long long value : {0ll, -1ll, 5000000000ll, -5000000000ll}) expect_like_host(format, value);
}

TEST(DevicePrintf, FloatingPointIsTheHosts) {
  for (const char* format : {"%f", "%.3f", "%10.2f|", "%-10.2f|", "%+.1f", "%010.3f", "%e", "%.0e", "%E", "%g", "%G",
                             "%.10g", "%a", "%A", "%F", "%#.0f"})
    for (const double value : {0.0, -0.0, 1.5, -2.005, 3.14159265358979, 1e-10, 1e20, 1e300, -1.0 / 3})
      expect_like_host(format, value);
  expect_like_host("%f %F %e", 1.0 / 0.0, -1.0 / 0.0, 1e308);
}

TEST(DevicePrintf, StringsAndPointersAreTheHosts) {
  const std::string longer(1000, 'y');
  for (const char* format : {"%s", "%10s|", "%-10s|", "%.2s|", "%8.3s|", "%-8.0s|"})
    for (const char* value : {"", "a", "hello world", longer.c_str()}) expect_like_host(format, value);
  expect_like_host("%p", reinterpret_cast<void*>(0x1234));
  expect_like_host("%20p|", static_cast<void*>(nullptr));
}

TEST(DevicePrintf, StarsTakeArguments) {
  expect_like_host("%*d|", 6, 1);
  expect_like_host("%*d|", -6, 1);
  expect_like_host("%.*f|", 2, 2.71828);
  expect_like_host("%*.*f|", 10, 3, 2.71828);
  expect_like_host("%.*f|", -1, 2.71828);
  expect_like_host("%*s|", -9, "left");
}

TEST(DevicePrintf, ArgumentsLieAtTheirNaturalAlignment) {
  expect_like_host("%d %f %c %s %lld %d\n", 1, 2.5, 'x', "y", 6ll, 7);
  expect_like_host("%d%%%d", 1, 2);
  expect_like_host("plain");
}

TEST(DevicePrintf, WhatIsNoSpecifierIsPrintedAsItStands) {
  std::string text;
  EXPECT_EQ(format_print(text, "%q %5y %d %", Packed(4).data()), 1);
  EXPECT_EQ(text, "%q %5y 4 %");
}

TEST(DevicePrintf, ANullStringIsNamed) {
  std::string text;
  format_print(text, "[%s]", Packed(static_cast<const char*>(nullptr)).data());
  EXPECT_EQ(text, "[(null)]");
}

}  // namespace
}  // namespace cupola::hal
