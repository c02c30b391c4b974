#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/platform.h"
#include "base/settings.h"

namespace cupola::image {

/// The folder that compiled kernels are kept in: CUPOLA_CACHE_DIR, else the platform's cache folder (`cupola` in
/// $XDG_CACHE_HOME or ~/.cache; ~/Library/Caches on macOS). Empty when caching is switched off or there is no home.
std::string cache_folder(const Settings& settings, Platform platform = kThisPlatform);

/// What a cache folder may hold. Zero: no limit.
struct CacheLimits {
  uint64_t bytes = 0;              ///< of all entries; those used longest ago go first
  std::chrono::seconds unused{0};  ///< an entry that nobody used for so long goes
};

/// CUPOLA_CACHE_MIB and CUPOLA_CACHE_DAYS.
CacheLimits cache_limits(const Settings& settings);

/// A file's path, size and time of change as text, so that a rebuilt compiler has a key of its own; empty when there is
/// no such file.
std::string file_identity(const std::string& path);

/// An entry of a cache folder, as its file's name and times say.
struct CacheEntry {
  std::string key;
  uint64_t bytes = 0;                          ///< of the file
  std::chrono::system_clock::time_point used;  ///< last put or found, to a minute
};

/// What went out of a cache folder.
struct CacheLoss {
  uint64_t entries = 0, unfinished = 0;  ///< unfinished: left by writers that were killed
  uint64_t bytes = 0;
  uint64_t bytes_left = 0;  ///< of the entries that stay
};

/// Images on disk, by key: a file each, `KEY.cupola`. It only ever saves time: whatever goes wrong is a miss, said in
/// one log line of topic "cache". Entries are written under another name and renamed, so that readers see all or
/// nothing, and verified when read; what a killed writer left goes after an hour. The time of a file's last change is
/// that of its last use, and one that lies in the future (the clock went back) counts as now. No locks between
/// processes: at worst an entry that two wanted to keep is compiled again. Files with other names are never touched.
/// Any thread, and any number of processes on one folder.
class DiskCache {
 public:
  /// Makes the folder (0700) if it is not there. A folder of another user, or one that others may write to, is refused
  /// with an error line, because who can write there can run code as this user. Empty: no cache.
  explicit DiskCache(std::string folder, CacheLimits limits = {});

  /// What was put under this key. A damaged entry, and one past its time, is removed.
  std::optional<std::vector<std::byte>> get(std::string_view key);

  /// An entry's file is named KEY and this; while it is written, `.KEY`, what kUnique makes (a dot and other characters
  /// for each X), and this.
  static constexpr std::string_view kSuffix = ".cupola", kUnique = ".XXXXXX";

  /// Keys are letters, digits and '-'; others are ignored, as contents above the limit are.
  void put(std::string_view key, std::span<const std::byte> bytes);

  bool usable() const { return !folder_.empty(); }
  const std::string& folder() const { return folder_; }

  /// What get() would give, without a trace of it.
  std::optional<std::vector<std::byte>> look(std::string_view key) const;

  /// Used longest ago first.
  std::vector<CacheEntry> entries() const;

  /// Removes what is past its time or unfinished for an hour, and then, when the limit on size is passed, what was used
  /// longest ago, down to seven eighths of it, so that the next entries fit. put() does so when it is due.
  CacheLoss trim() { return trim(limits_); }
  CacheLoss trim(const CacheLimits& limits);

  /// Removes everything, unfinished entries too.
  CacheLoss clear();

  /// Reads every entry, and removes and returns the damaged ones.
  std::vector<CacheEntry> verify();

 private:
  bool past_its_time(std::chrono::system_clock::time_point used) const;
  std::string path_of(std::string_view key) const;
  bool write(std::string_view key, std::span<const std::byte> header, std::span<const std::byte> bytes);
  void account(uint64_t bytes);
  void complain_once(std::string_view what);

  std::string folder_;  ///< empty when refused; constant after construction
  const CacheLimits limits_;
  std::atomic<bool> complained_ = false;
  Mutex mutex_;
  bool counted_ GUARDED_BY(mutex_) = false;
  uint64_t room_ GUARDED_BY(mutex_) = 0;  ///< what may be put before the folder is looked at again
};

}  // namespace cupola::image
