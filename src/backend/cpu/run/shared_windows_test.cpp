#include "backend/cpu/run/shared_windows.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <set>

namespace cupola::cpu {
namespace {

TEST(SharedWindows, EachIsAlignedAndHasAPageBelowIt) {
  SharedWindows windows;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::set<std::byte*> all;
  for (int i = 0; i < 20; ++i) {  // of several slabs
    std::byte* window = windows.acquire();
    ASSERT_NE(window, nullptr);
    EXPECT_TRUE(all.insert(window).second);
    EXPECT_EQ(reinterpret_cast<uint64_t>(window) % image::cpu::kSharedWindow, 0u);
#if defined(__linux__)
    unsigned char is_there = 0;
    ASSERT_EQ(mincore(window - page, page, &is_there), 0);
    EXPECT_EQ(is_there & 1, 1);
#endif
  }
  std::byte* last = *all.begin();
  windows.release(last);
  EXPECT_EQ(windows.acquire(), last);
}

}  // namespace
}  // namespace cupola::cpu
