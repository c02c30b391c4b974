#include "hal/reported_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cupola::hal {
namespace {

/// In a process of its own, since settings are read once.
void expect_reported(const char* memory, const char* devices, uint64_t expected, const char* printed) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  setenv("CUPOLA_MEMORY", memory, 1);
  setenv("CUPOLA_DEVICE_COUNT", devices, 1);
  EXPECT_EXIT(std::_Exit(reported_memory(1200) == expected ? 0 : 1), testing::ExitedWithCode(0), printed)
      << memory << " of " << devices;
  unsetenv("CUPOLA_MEMORY");
  unsetenv("CUPOLA_DEVICE_COUNT");
}

TEST(ReportedMemoryDeathTest, IsTheDevicesShareUnlessTheUserSays) {
  expect_reported("", "1", 1200, "^$");
  expect_reported("", "4", 300, "^$");
  expect_reported("8GiB", "4", uint64_t{8} << 30, "^$");
  expect_reported("8 apples", "4", 300, "^cupola: error: CUPOLA_MEMORY: '8 apples'.*; using 300 bytes\n$");
}

TEST(ReportedMemoryDeathTest, CountsTheDevicesThatThereAre) {
  expect_reported("", "100", 1200, "CUPOLA_DEVICE_COUNT is '100', which is ignored");
}

}  // namespace
}  // namespace cupola::hal
