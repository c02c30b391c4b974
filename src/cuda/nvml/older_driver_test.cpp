// A libcuda of an older build, whose table of the machine ends earlier. Oracle: machine_table.h, of what may grow.

#include <gtest/gtest.h>
#include <nvml.h>
#include <unistd.h>

#include <cstdlib>

namespace cupola::nvml {
namespace {

TEST(OlderDriverDeathTest, IsRefusedByWhatItLacks) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a new process, which has not opened another one
  setenv("CUPOLA_LIBRARY_PATH", CUPOLA_OLDER_DRIVER, 1);
  setenv("CUPOLA_LOG", "error", 1);
  EXPECT_EXIT(_exit(nvmlInit()), testing::ExitedWithCode(NVML_ERROR_DRIVER_NOT_LOADED),
              "is older than NVML's library: take both from one build");
  unsetenv("CUPOLA_LIBRARY_PATH");
  unsetenv("CUPOLA_LOG");
}

}  // namespace
}  // namespace cupola::nvml
