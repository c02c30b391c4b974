#include "image/cache.h"

#include <gtest/gtest.h>
#if defined(__linux__)
#include <sched.h>
#include <sys/mount.h>
#endif
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

  /// As if the entry had been used last so long ago.
  void age(const std::string& key, std::chrono::seconds by) const {
    fs::last_write_time(folder_ + "/" + key + ".cupola", fs::file_time_type::clock::now() - by);
  }

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
  const size_t size = kContents.size() + 24;
  for (size_t at = 0; at < size; ++at) {  // every byte, in one bit and in all
    for (const int change : {1 << at % 8, 0xff}) {
      cache.put("key", kContents);
      {
        std::fstream file(folder_ + "/key.cupola", std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(static_cast<long>(at));
        const int byte = file.get();
        file.seekp(static_cast<long>(at));
        file.put(static_cast<char>(byte ^ change));
      }
      ASSERT_EQ(cache.get("key"), std::nullopt) << at;
      ASSERT_EQ(files(), 0u);
    }
  }
  for (size_t length = 0; length <= size + 1; ++length) {  // cut, and longer
    if (length == size) continue;
    cache.put("key", kContents);
    fs::resize_file(folder_ + "/key.cupola", length);
    ASSERT_EQ(cache.get("key"), std::nullopt) << length;
    ASSERT_EQ(files(), 0u);
  }
}

TEST_F(DiskCacheTest, VerifyRemovesTheDamagedAndOnlyThem) {
  DiskCache cache(folder_);
  for (const char* key : {"a", "b", "c"}) cache.put(key, kContents);
  fs::resize_file(folder_ + "/b.cupola", 100);
  const std::vector<CacheEntry> damaged = cache.verify();
  ASSERT_EQ(damaged.size(), 1u);
  EXPECT_EQ(damaged[0].key, "b");
  EXPECT_EQ(files(), 2u);
  EXPECT_TRUE(cache.verify().empty());
}

TEST_F(DiskCacheTest, PipeOrLinkInAnEntrysPlaceIsAMiss) {
  DiskCache cache(folder_);
  ASSERT_EQ(mkfifo((folder_ + "/pipe.cupola").c_str(), 0600), 0);
  EXPECT_EQ(cache.get("pipe"), std::nullopt);
  cache.put("key", kContents);
  fs::create_symlink("key.cupola", folder_ + "/link.cupola");
  EXPECT_EQ(cache.get("link"), std::nullopt);
  EXPECT_EQ(cache.get("key"), kContents);
}

TEST_F(DiskCacheTest, SizeLimitTakesWhatWasUsedLongestAgo) {
  const uint64_t entry = kContents.size() + 24;
  DiskCache cache(folder_, {8 * entry, {}});
  for (const char* key : {"a", "b", "c", "d", "e", "f", "g", "h"}) cache.put(key, kContents);
  EXPECT_EQ(files(), 8u);
  int hours = 100;
  for (const char* key : {"a", "b", "c", "d", "e", "f", "g", "h"}) age(key, std::chrono::hours(hours--));
  EXPECT_EQ(cache.get("a"), kContents);  // now the latest but one
  cache.put("i", kContents);
  const std::vector<CacheEntry> left = cache.entries();
  std::string keys;
  for (const CacheEntry& each : left) keys += each.key;
  std::ranges::sort(keys.begin() + 5, keys.end());  // file systems count time in steps of milliseconds
  EXPECT_EQ(keys, "defghai");                       // seven eighths of the limit
  EXPECT_EQ(left[0].bytes, entry);
}

TEST_F(DiskCacheTest, SizeLimitHoldsForWhatOtherProcessesPut) {
  const uint64_t entry = kContents.size() + 24;
  DiskCache one(folder_, {32 * entry, {}}), other(folder_, {32 * entry, {}});
  for (int i = 0; i < 100; ++i) {
    one.put("one-" + std::to_string(i), kContents);
    other.put("other-" + std::to_string(i), kContents);
    ASSERT_LE(files(), 32u + 2 * 2) << i;  // each may add a sixteenth before it looks again
  }
  EXPECT_GE(files(), 26u);
}

TEST_F(DiskCacheTest, EntryAboveTheLimitIsNotKept) {
  DiskCache cache(folder_, {kContents.size() + 23, {}});
  cache.put("key", kContents);
  EXPECT_EQ(files(), 0u);
}

TEST_F(DiskCacheTest, EntryThatNobodyUsedForSoLongGoes) {
  DiskCache cache(folder_, {0, std::chrono::days(10)});
  for (const char* key : {"young", "used", "old", "older"}) cache.put(key, kContents);
  age("used", std::chrono::days(9));
  EXPECT_EQ(cache.get("used"), kContents);
  EXPECT_LT(std::chrono::system_clock::now() - cache.entries().back().used, std::chrono::minutes(1));
  age("used", std::chrono::days(9));
  age("old", std::chrono::days(11));
  age("older", std::chrono::days(1000));
  EXPECT_EQ(cache.look("used"), kContents);
  EXPECT_EQ(cache.look("old"), std::nullopt);
  EXPECT_EQ(files(), 4u);
  EXPECT_EQ(cache.get("old"), std::nullopt);  // without looking at the whole folder
  EXPECT_EQ(files(), 3u);
  const CacheLoss loss = cache.trim();
  EXPECT_EQ(loss.entries, 1u);
  EXPECT_EQ(loss.bytes, kContents.size() + 24);
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(DiskCache(folder_, {0, {}}).get("used"), kContents);
}

TEST_F(DiskCacheTest, ClockThatWentBackMakesNothingOldOrEternal) {
  const uint64_t entry = kContents.size() + 24;
  DiskCache cache(folder_, {8 * entry, std::chrono::days(10)});
  cache.put("found", kContents);
  cache.put("left", kContents);
  age("found", -std::chrono::days(1000));  // put before the clock went back
  age("left", -std::chrono::days(1000));
  EXPECT_EQ(cache.get("found"), kContents);
  cache.trim();
  for (const CacheEntry& each : cache.entries())
    EXPECT_LT(std::chrono::abs(std::chrono::system_clock::now() - each.used), std::chrono::minutes(1)) << each.key;
  EXPECT_EQ(files(), 2u);
}

TEST_F(DiskCacheTest, ClearTouchesNothingThatIsNotTheCaches) {
  DiskCache cache(folder_);
  cache.put("key", kContents);
  for (const char* name : {"notes", ".profile", "photo.jpg", ".cupola", "cupola", "a.b.cupola", ".x.cupola"})
    std::ofstream(folder_ + "/" + name) << "mine";
  std::ofstream(folder_ + "/.key.AbC123.cupola") << "unfinished";
  cache.trim({1, std::chrono::seconds(1)});
  const CacheLoss loss = cache.clear();
  EXPECT_EQ(loss.entries + loss.unfinished, 1u);  // trim took the other
  EXPECT_EQ(files(), 7u);
}

TEST_F(DiskCacheTest, EntryUnderAnotherNameIsAMiss) {
  DiskCache cache(folder_);
  cache.put("one", kContents);
  fs::rename(folder_ + "/one.cupola", folder_ + "/two.cupola");
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

#if defined(__linux__)
/// Runs `body` in a child that may mount (user namespaces); its exit status, or nothing where that is not allowed.
template <typename Body>
std::optional<int> in_own_mounts(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) _exit(77);
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) _exit(77);
    _exit(body());
  }
  int status = -1;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  if (WEXITSTATUS(status) == 77) return std::nullopt;
  return WEXITSTATUS(status);
}

TEST_F(DiskCacheTest, FullFileSystemKeepsWhatIsThere) {
  fs::create_directories(folder_);
  const std::optional<int> status = in_own_mounts([&] {
    if (mount("none", folder_.c_str(), "tmpfs", 0, "size=64k,mode=700") != 0) return 77;
    DiskCache cache(folder_);
    const std::vector<std::byte> large(40'000, std::byte{1});
    cache.put("first", large);
    cache.put("second", large);  // does not fit
    if (cache.get("first") != large || cache.get("second") || files() != 1) return 1;
    cache.clear();
    cache.put("second", large);
    return cache.get("second") == large ? 0 : 2;
  });
  if (!status) GTEST_SKIP() << "file systems cannot be mounted here";
  EXPECT_EQ(*status, 0);
}
#endif

TEST_F(DiskCacheTest, ReadOnlyFolderIsReadAndNeverWritten) {
  DiskCache(folder_).put("key", kContents);
  age("key", std::chrono::hours(1));
  ASSERT_EQ(chmod(folder_.c_str(), 0500), 0);
  const uid_t somebody = geteuid() == 0 ? 65534 : geteuid();  // root may write everywhere
  if (geteuid() == 0) {
    for (const std::string& path : {parent_, parent_ + "/deep", folder_, folder_ + "/key.cupola"})
      ASSERT_EQ(chown(path.c_str(), somebody, static_cast<gid_t>(-1)), 0);
  }
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() != somebody && setresuid(somebody, somebody, somebody) != 0) _exit(9);
    DiskCache cache(folder_);
    cache.put("other", kContents);
    for (const CacheLimits& limits : {CacheLimits{1, {}}, CacheLimits{0, std::chrono::seconds(1)}}) {
      const CacheLoss loss = cache.trim(limits);
      if (loss.entries != 0 || loss.bytes_left != kContents.size() + 24) _exit(2);
    }
    _exit(cache.get("key") == kContents && !cache.get("other") ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(files(), 1u);
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
}

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

TEST_F(DiskCacheTest, WriterKilledInTheMiddleLeavesNoTornEntryAndNothingForEver) {
  const std::vector<std::byte> large(4'000'000, std::byte{7});
  const fs::path marker = parent_ + "/began";
  size_t unfinished = 0;
  for (int round = 0; round < 20 || (unfinished == 0 && round < 100); ++round) {  // slow machines begin late
    const pid_t child = fork();
    if (child == 0) {
      DiskCache cache(folder_);
      std::ofstream(marker).put('.');
      for (;;) cache.put("key", large);
    }
    while (!fs::exists(marker)) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(500 + 379 * round));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    fs::remove(marker);
    DiskCache cache(folder_);
    const auto seen = cache.get("key");
    ASSERT_TRUE(!seen || *seen == large) << round;
    cache.put("key", large);  // the next one is not hindered
    ASSERT_EQ(cache.get("key"), large) << round;
    unfinished = files() - 1;
  }
  EXPECT_GT(unfinished, 0u) << "no writer was killed in the middle: the test shows nothing";
  DiskCache cache(folder_);
  EXPECT_EQ(cache.trim().unfinished, 0u);  // they might still be at it
  for (const auto& entry : fs::directory_iterator(folder_))
    fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::minutes(61));
  EXPECT_EQ(cache.trim().unfinished, unfinished);
  EXPECT_EQ(files(), 1u);
}

TEST_F(DiskCacheTest, ProcessesAtTheSameTimeSeeWholeEntriesOnly) {
  constexpr int kProcesses = 16, kKeys = 8, kRounds = 200;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      DiskCache cache(folder_, {40'000, {}});  // less than the keys take, so that entries are evicted meanwhile
      for (int round = 0; round < kRounds; ++round) {
        const int key = (round + process) % kKeys;
        const size_t size = 4000 + 500 * static_cast<size_t>(key);
        const auto seen = cache.get("k" + std::to_string(key));
        if (seen && (seen->size() != size || std::ranges::count(*seen, (*seen)[0]) != std::ssize(*seen))) _exit(1);
        cache.put("k" + std::to_string(key), std::vector<std::byte>(size, static_cast<std::byte>(process)));
        if (round % 50 == 49 && !cache.verify().empty()) _exit(2);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  DiskCache cache(folder_, {40'000, {}});
  EXPECT_EQ(cache.trim({40'000, {}}).unfinished, 0u);
  EXPECT_GT(files(), 0u);
  EXPECT_TRUE(cache.verify().empty());
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_FALSE(entry.path().filename().string().starts_with('.')) << "left: " << entry.path();
}

TEST(CacheLimits, ComeFromTheSettings) {
  Settings settings;
  EXPECT_EQ(cache_limits(settings).bytes, uint64_t{1} << 30);
  EXPECT_EQ(cache_limits(settings).unused, std::chrono::days(90));
  settings.cache_mib = 3;
  settings.cache_days = 0;
  EXPECT_EQ(cache_limits(settings).bytes, 3u << 20);
  EXPECT_EQ(cache_limits(settings).unused.count(), 0);
  settings.cache_mib = settings.cache_days = INT64_MAX;
  EXPECT_GT(cache_limits(settings).bytes, uint64_t{1} << 60);
  EXPECT_GT(cache_limits(settings).unused, std::chrono::days(90));
}

TEST(CacheFolder, FollowsSettingsThenThePlatform) {
  Settings settings;
  settings.cache_dir = "/chosen";
  EXPECT_EQ(cache_folder(settings), "/chosen");
  settings.cache = false;
  EXPECT_EQ(cache_folder(settings), "");
  settings = {};
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(cache_folder(settings, Platform::Linux), "/xdg/cupola");
  EXPECT_EQ(cache_folder(settings, Platform::MacOs), "/home/someone/Library/Caches/cupola");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(cache_folder(settings, Platform::Linux), "/home/someone/.cache/cupola");
  EXPECT_EQ(cache_folder(settings), cache_folder(settings, kThisPlatform));
  setenv("HOME", "", 1);
  EXPECT_EQ(cache_folder(settings, Platform::Linux), "");
  EXPECT_EQ(cache_folder(settings, Platform::MacOs), "");
}

TEST(FileIdentity, IsEmptyForNoFileAndStableForOne) {
  EXPECT_EQ(file_identity("/nonexistent"), "");
  EXPECT_EQ(file_identity("/proc/self/exe"), file_identity("/proc/self/exe"));
  EXPECT_NE(file_identity("/"), "");
}

}  // namespace
}  // namespace cupola::image
