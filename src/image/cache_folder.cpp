// Where the disk cache lies, what it may hold, and looking after it.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/format.h"
#include "image/cache.h"

namespace cupola::image {
namespace {

using Clock = std::chrono::system_clock;
namespace fs = std::filesystem;

constexpr auto kUnfinishedFor = std::chrono::hours(1);  // longer than any write takes

const timespec& time_of_change(const struct stat& info) {
#if defined(__APPLE__)
  return info.st_mtimespec;
#else
  return info.st_mtim;
#endif
}

/// A file of the folder that is ours by its name: `KEY.cupola`, or `.KEY.XXXXXX.cupola` while it is written.
struct File {
  std::string path, key;
  bool finished = false;
  uint64_t bytes = 0;
  Clock::time_point changed;
};

std::vector<File> files_of(const std::string& folder) {
  std::vector<File> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool finished = !name.starts_with('.');
    std::string key = name.substr(finished ? 0 : 1);
    if (!key.ends_with(DiskCache::kSuffix)) continue;
    key.resize(key.size() - DiskCache::kSuffix.size());
    constexpr size_t kUnique = DiskCache::kUnique.size();
    if (!finished) key.resize(key.size() > kUnique && key[key.size() - kUnique] == '.' ? key.size() - kUnique : 0);
    struct stat info;
    if (key.empty() || key.contains('.') || lstat(entry->path().c_str(), &info) != 0 || !S_ISREG(info.st_mode))
      continue;
    const timespec& changed = time_of_change(info);
    const auto since = std::chrono::seconds(changed.tv_sec) + std::chrono::nanoseconds(changed.tv_nsec);
    files.push_back({entry->path().string(), std::move(key), finished, static_cast<uint64_t>(info.st_size),
                     Clock::time_point(std::chrono::duration_cast<Clock::duration>(since))});
  }
  std::ranges::sort(files, {}, &File::changed);
  return files;
}

/// True if the file is gone.
bool remove(const File& file, CacheLoss& loss) {
  if (unlink(file.path.c_str()) != 0) return errno == ENOENT;  // somebody else was quicker
  ++(file.finished ? loss.entries : loss.unfinished);
  loss.bytes += file.bytes;
  return true;
}

}  // namespace

std::string cache_folder(const Settings& settings, Platform platform) {
  if (!settings.cache) return {};
  if (!settings.cache_dir.empty()) return settings.cache_dir;
  const auto value = [](const char* variable) -> std::string_view {
    const char* const found = std::getenv(variable);
    return found ? found : "";
  };
  const std::string_view base = value("XDG_CACHE_HOME"), home = value("HOME");
  const auto below = [](std::string_view folder, std::string_view name) {
    return folder.empty() ? std::string() : std::string(folder).append(name);
  };
  switch (platform) {
    case Platform::MacOs:
      return below(home, "/Library/Caches/cupola");
    case Platform::Linux:
      return base.starts_with('/') ? below(base, "/cupola") : below(home, "/.cache/cupola");
  }
  __builtin_unreachable();
}

CacheLimits cache_limits(const Settings& settings) {
  constexpr int64_t kMostMebibytes = INT64_MAX >> 20, kMostDays = 365'000;
  return {static_cast<uint64_t>(std::min(settings.cache_mib, kMostMebibytes)) << 20,
          std::chrono::days(std::min(settings.cache_days, kMostDays))};
}

std::string file_identity(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return {};
  const timespec& changed = time_of_change(info);
  return formatted("{}:{}:{}.{:09}", path, info.st_size, changed.tv_sec, changed.tv_nsec);
}

std::vector<CacheEntry> DiskCache::entries() const {
  std::vector<CacheEntry> entries;
  if (!usable()) return entries;
  for (File& file : files_of(folder_))
    if (file.finished) entries.push_back({std::move(file.key), file.bytes, file.changed});
  return entries;
}

CacheLoss DiskCache::trim(const CacheLimits& limits) {
  CacheLoss loss;
  if (!usable()) return loss;
  const auto now = Clock::now();
  uint64_t& total = loss.bytes_left;
  std::vector<File> kept;
  for (File& file : files_of(folder_)) {
    // Of an unfinished entry a time in the future says as little as one long ago.
    const auto age = file.finished ? now - file.changed : std::chrono::abs(now - file.changed);
    const auto most = file.finished ? limits.unused : std::chrono::seconds(kUnfinishedFor);
    const bool old = age > most && most.count() != 0;
    if (!(old && remove(file, loss)) && file.finished) {
      if (file.changed > now) utimensat(AT_FDCWD, file.path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
      total += file.bytes;
      kept.push_back(std::move(file));
    }
  }
  if (limits.bytes == 0 || total <= limits.bytes) return loss;
  for (const File& file : kept) {
    if (total <= limits.bytes - limits.bytes / 8) break;
    if (remove(file, loss)) total -= file.bytes;
  }
  return loss;
}

CacheLoss DiskCache::clear() {
  CacheLoss loss;
  if (!usable()) return loss;
  for (const File& file : files_of(folder_)) remove(file, loss);
  return loss;
}

}  // namespace cupola::image
