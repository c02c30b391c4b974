#include "image/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "image/content_hash.h"

// An entry is: magic, hash of key and contents, contents.

namespace cupola::image {
namespace {

using Clock = std::chrono::system_clock;

constexpr uint64_t kMagic = 0x3168636163706375;  // "cupcach1"
constexpr size_t kHeaderBytes = 24;
constexpr int kReading = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;  // what is there might be a pipe
constexpr auto kTouchAfter = std::chrono::minutes(1);                     // a use this soon after the last is not noted

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() { close_it(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }

  /// Closes; false if what was written did not arrive.
  bool close_it() { return descriptor_ < 0 || ::close(std::exchange(descriptor_, -1)) == 0; }

  bool write_all(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return true;
  }

  bool read_all(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t got = ::read(descriptor_, bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      bytes = bytes.subspan(static_cast<size_t>(got));
    }
    return true;
  }

  /// Of a regular file.
  std::optional<size_t> size() const {
    struct stat info;
    if (fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
    return static_cast<size_t>(info.st_size);
  }

  Clock::time_point changed() const {
    struct stat info;
    return fstat(descriptor_, &info) == 0 ? Clock::from_time_t(info.st_mtime) : Clock::now();
  }

  void touch() { futimens(descriptor_, nullptr); }  // where the folder is read-only, its entries grow old

 private:
  int descriptor_;
};

bool is_key(std::string_view key) {
  auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  };
  return !key.empty() && key.size() <= 200 && std::ranges::all_of(key, allowed);
}

Hash128 entry_hash(std::string_view key, std::span<const std::byte> contents) {
  return content_hash(contents, content_hash(std::as_bytes(std::span(key))).low);
}

void write_header(std::span<std::byte, kHeaderBytes> header, const Hash128& hash) {
  std::memcpy(header.data(), &kMagic, 8);
  std::memcpy(header.data() + 8, &hash.low, 8);
  std::memcpy(header.data() + 16, &hash.high, 8);
}

/// What a file holds, if it is whole and this key's, and no larger than entries are.
std::optional<std::vector<std::byte>> read_entry(File& file, std::string_view key, uint64_t most) {
  const std::optional<size_t> size = file.size();
  std::byte header[kHeaderBytes], expected[kHeaderBytes];
  if (!size || *size < kHeaderBytes || (most && *size > most) || !file.read_all(header)) return std::nullopt;
  std::vector<std::byte> contents(*size - kHeaderBytes);
  if (!file.read_all(contents)) return std::nullopt;
  write_header(expected, entry_hash(key, contents));
  if (std::memcmp(expected, header, kHeaderBytes) != 0) return std::nullopt;
  return contents;
}

/// Makes the folder and its parents; false when it is neither there nor can be made.
bool make_folder(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path path(folder);
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  return mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;
}

}  // namespace

DiskCache::DiskCache(std::string folder, CacheLimits limits) : limits_(limits) {
  if (folder.empty()) return;
  struct stat info;
  if (!make_folder(folder) || stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    log::line(log::Topic::Cache, "{} is no folder and cannot be made ({}); compiled kernels are not kept", folder,
              std::strerror(errno));
    return;
  }
  if (info.st_uid != geteuid()) {
    log::line(log::Topic::Error, "cache folder {} belongs to user {}, not to {}; not used (set CUPOLA_CACHE_DIR)",
              folder, info.st_uid, geteuid());
    return;
  }
  if (info.st_mode & (S_IWGRP | S_IWOTH)) {
    log::line(log::Topic::Error, "cache folder {} may be written by others (mode {:o}); not used (chmod 700 it)",
              folder, info.st_mode & 07777);
    return;
  }
  folder_ = std::move(folder);
}

std::string DiskCache::path_of(std::string_view key) const {
  return formatted("{}/{}{}", folder_, key, kSuffix);
}

bool DiskCache::past_its_time(Clock::time_point used) const {
  return limits_.unused.count() != 0 && Clock::now() - used > limits_.unused;
}

std::optional<std::vector<std::byte>> DiskCache::get(std::string_view key) {
  if (!usable() || !is_key(key)) return std::nullopt;
  const std::string path = path_of(key);
  File file(open(path.c_str(), kReading));
  if (!file.is_open()) return std::nullopt;
  const Clock::time_point used = file.changed();
  std::optional<std::vector<std::byte>> contents;
  if (!past_its_time(used)) {
    contents = read_entry(file, key, limits_.bytes);
    if (contents) {
      if (std::chrono::abs(Clock::now() - used) > kTouchAfter) file.touch();
      return contents;
    }
  }
  log::line(log::Topic::Cache, "{} is {}; removed", path, past_its_time(used) ? "past its time" : "damaged");
  unlink(path.c_str());
  return std::nullopt;
}

std::optional<std::vector<std::byte>> DiskCache::look(std::string_view key) const {
  if (!usable() || !is_key(key)) return std::nullopt;
  File file(open(path_of(key).c_str(), kReading));
  if (!file.is_open() || past_its_time(file.changed())) return std::nullopt;
  return read_entry(file, key, limits_.bytes);
}

std::vector<CacheEntry> DiskCache::verify() {
  std::vector<CacheEntry> damaged;
  for (CacheEntry& entry : entries()) {
    const std::string path = path_of(entry.key);
    File file(open(path.c_str(), kReading));
    if (!file.is_open() || read_entry(file, entry.key, limits_.bytes)) continue;
    unlink(path.c_str());
    damaged.push_back(std::move(entry));
  }
  return damaged;
}

bool DiskCache::write(std::string_view key, std::span<const std::byte> header, std::span<const std::byte> bytes) {
  // A dot keeps the unfinished name apart from every entry's; a killed writer's name is never met again.
  std::string unfinished = formatted("{}/.{}{}{}", folder_, key, kUnique, kSuffix);
  File file(mkostemps(unfinished.data(), static_cast<int>(kSuffix.size()), O_CLOEXEC));
  if (!file.is_open()) return false;
  if (file.write_all(header) && file.write_all(bytes) && file.close_it() &&
      rename(unfinished.c_str(), path_of(key).c_str()) == 0)
    return true;
  const int reason = errno;
  unlink(unfinished.c_str());
  errno = reason;
  return false;
}

void DiskCache::put(std::string_view key, std::span<const std::byte> bytes) {
  if (!usable() || !is_key(key)) return;
  if (limits_.bytes != 0 && kHeaderBytes + bytes.size() > limits_.bytes) {
    log::line(log::Topic::Cache, "an image of {} bytes is not kept: the cache's limit is {}", bytes.size(),
              limits_.bytes);
    return;
  }
  std::byte header[kHeaderBytes];
  write_header(header, entry_hash(key, bytes));
  if (!write(key, header, bytes)) return complain_once(std::strerror(errno));
  account(kHeaderBytes + bytes.size());
}

/// Looks at the folder at the first entry that this process puts there, and again when it may have filled what was
/// free, or a sixteenth of the limit: other processes put entries there too.
void DiskCache::account(uint64_t bytes) {
  {
    Lock lock(mutex_);
    if (counted_ && bytes <= room_) {
      room_ -= bytes;
      return;
    }
  }
  const CacheLoss loss = trim();
  if (loss.entries || loss.unfinished)
    log::line(log::Topic::Cache, "{} entries and {} unfinished ones, {} bytes, made room in {}", loss.entries,
              loss.unfinished, loss.bytes, folder_);
  const uint64_t limit = limits_.bytes ? limits_.bytes : UINT64_MAX;
  Lock lock(mutex_);
  counted_ = true;
  room_ = std::min(limit / 16, limit - std::min(limit, loss.bytes_left));
}

void DiskCache::complain_once(std::string_view what) {
  if (!complained_.exchange(true))
    log::line(log::Topic::Cache, "cannot write to {}: {}; compiled kernels are not kept", folder_, what);
}

}  // namespace cupola::image
