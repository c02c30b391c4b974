#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"

namespace cupola::image {

/// The folder that compiled kernels are kept in: CUPOLA_CACHE_DIR, else the platform's cache folder (`cupola` in
/// $XDG_CACHE_HOME or ~/.cache; ~/Library/Caches on macOS). Empty when caching is switched off or there is no home.
std::string cache_folder(const Settings& settings);

/// A file's path, size and time of change as text, so that a rebuilt compiler has a key of its own; empty when there is
/// no such file.
std::string file_identity(const std::string& path);

/// Images on disk, by key. It only ever saves time: whatever goes wrong is a miss, said in one log line of topic
/// "cache". Entries are written under another name and renamed, so that readers see all or nothing, and verified when
/// read. Any thread, and any number of processes on one folder.
class DiskCache {
 public:
  /// Makes the folder (0700) if it is not there. A folder of another user, or one that others may write to, is refused
  /// with an error line, because who can write there can run code as this user. Empty: no cache.
  explicit DiskCache(std::string folder);

  /// What was put under this key. A damaged entry is removed.
  std::optional<std::vector<std::byte>> get(std::string_view key);

  /// Keys are letters, digits and '-'; others are ignored.
  void put(std::string_view key, std::span<const std::byte> bytes);

  bool usable() const { return !folder_.empty(); }

 private:
  void complain_once(std::string_view what);

  std::string folder_;  ///< empty when refused; constant after construction
  std::atomic<bool> complained_ = false;
};

}  // namespace cupola::image
