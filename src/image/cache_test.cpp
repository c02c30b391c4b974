#include "image/cache.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace cupola::image {
namespace {

namespace fs = std::filesystem;

const std::vector<std::byte> kContents(1000, std::byte{0x5a});

class DiskCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "cupola-cache-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    parent_ = pattern;
    folder_ = pattern + "/deep/cupola";
  }
  void TearDown() override { fs::remove_all(parent_); }

  size_t files() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_)) ++count;
    return count;
  }

  std::string parent_, folder_;
};

TEST_F(DiskCacheTest, GivesBackWhatWasPut) {
  DiskCache(folder_).put("abc123", kContents);
  DiskCache again(folder_);
  EXPECT_EQ(again.get("abc123"), kContents);
  EXPECT_EQ(again.get("abc124"), std::nullopt);
}

TEST_F(DiskCacheTest, FolderIsPrivateAndHoldsOneFileAnEntry) {
  DiskCache cache(folder_);
  cache.put("a", kContents);
  cache.put("a", {});
  struct stat info;
  ASSERT_EQ(stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(cache.get("a"), std::vector<std::byte>());
}

TEST_F(DiskCacheTest, DamagedEntryIsAMissAndGoesAway) {
  DiskCache cache(folder_);
  for (long at : {0L, 8L, 500L, 1023L}) {
    cache.put("key", kContents);
    {
      std::fstream file(folder_ + "/key", std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(at);
      file.put('!');
    }
    EXPECT_EQ(cache.get("key"), std::nullopt) << at;
    EXPECT_EQ(files(), 0u);
  }
  for (size_t size : {0u, 23u, 24u, 1023u}) {
    cache.put("key", kContents);
    fs::resize_file(folder_ + "/key", size);
    EXPECT_EQ(cache.get("key"), std::nullopt) << size;
    EXPECT_EQ(files(), 0u);
  }
}

TEST_F(DiskCacheTest, EntryUnderAnotherNameIsAMiss) {
  DiskCache cache(folder_);
  cache.put("one", kContents);
  fs::rename(folder_ + "/one", folder_ + "/two");
  EXPECT_EQ(cache.get("two"), std::nullopt);
}

TEST_F(DiskCacheTest, FolderThatOthersMayWriteIsRefused) {
  fs::create_directories(folder_);
  for (mode_t mode : {0770, 0707, 01777}) {
    ASSERT_EQ(chmod(folder_.c_str(), mode), 0);
    DiskCache cache(folder_);
    EXPECT_FALSE(cache.usable());
    cache.put("key", kContents);
    EXPECT_EQ(files(), 0u);
  }
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
  EXPECT_TRUE(DiskCache(folder_).usable());
}

TEST_F(DiskCacheTest, FolderOfAnotherUserIsRefused) {
  fs::create_directories(folder_);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder_.c_str(), 65534, 65534), 0);
    EXPECT_FALSE(DiskCache(folder_).usable());
  } else {
    EXPECT_FALSE(DiskCache("/usr").usable());  // root's
  }
}

TEST_F(DiskCacheTest, WorksWithoutAFolder) {
  for (const std::string& folder : {std::string(), std::string("/proc/none/cupola"), std::string("/dev/null")}) {
    DiskCache cache(folder);
    cache.put("key", kContents);
    EXPECT_EQ(cache.get("key"), std::nullopt);
  }
}

#if defined(__linux__)
TEST_F(DiskCacheTest, FullDiskLeavesNoHalfEntry) {
  // The limit on file size stands for the full disk: write() fails half way.
  DiskCache cache(folder_);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{512, 512};
    setrlimit(RLIMIT_FSIZE, &limit);
    cache.put("key", kContents);
    _exit(cache.get("key") ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(files(), 0u);
}
#endif

TEST_F(DiskCacheTest, KeyCannotLeaveTheFolder) {
  DiskCache cache(folder_);
  cache.put("../escaped", kContents);
  cache.put("", kContents);
  EXPECT_FALSE(fs::exists(parent_ + "/deep/escaped"));
  EXPECT_EQ(files(), 0u);
}

TEST_F(DiskCacheTest, WritersAtTheSameTimeLeaveAWholeEntry) {
  DiskCache cache(folder_);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      const std::vector<std::byte> mine(5000, static_cast<std::byte>(i));
      for (int round = 0; round < 50; ++round) {
        cache.put("shared", mine);
        auto seen = cache.get("shared");
        if (!seen || seen->size() != 5000 || (*seen)[0] != (*seen)[4999]) ADD_FAILURE() << "torn entry";
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(files(), 1u);
}

TEST(CacheFolder, FollowsSettingsThenThePlatform) {
  Settings settings;
  settings.cache_dir = "/chosen";
  EXPECT_EQ(cache_folder(settings), "/chosen");
  settings.cache = false;
  EXPECT_EQ(cache_folder(settings), "");
#if defined(__linux__)
  settings = {};
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(cache_folder(settings), "/xdg/cupola");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(cache_folder(settings), "/home/someone/.cache/cupola");
#endif
}

TEST(FileIdentity, IsEmptyForNoFileAndStableForOne) {
  EXPECT_EQ(file_identity("/nonexistent"), "");
  EXPECT_EQ(file_identity("/proc/self/exe"), file_identity("/proc/self/exe"));
  EXPECT_NE(file_identity("/"), "");
}

}  // namespace
}  // namespace cupola::image
