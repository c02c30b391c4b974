#include "image/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/log.h"
#include "image/content_hash.h"

// An entry is: magic, hash of key and contents, contents.

namespace cupola::image {
namespace {

constexpr uint64_t kMagic = 0x3168636163706375;  // "cupcach1"
constexpr size_t kHeaderBytes = 24;

class File {
 public:
  File(const std::string& path, int flags, mode_t mode = 0)
      : descriptor_(open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }

  bool write_all(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return true;
  }

  /// The whole of a regular file.
  std::optional<std::vector<std::byte>> read_all() {
    struct stat info;
    if (fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
    std::vector<std::byte> bytes(static_cast<size_t>(info.st_size));
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t got = ::read(descriptor_, bytes.data() + at, bytes.size() - at);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return std::nullopt;
      at += static_cast<size_t>(got);
    }
    return bytes;
  }

 private:
  const int descriptor_;
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

/// Makes the folder and its parents; false when it is neither there nor can be made.
bool make_folder(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path path(folder);
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  return mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;
}

}  // namespace

std::string cache_folder(const Settings& settings) {
  if (!settings.cache) return {};
  if (!settings.cache_dir.empty()) return settings.cache_dir;
  const char* home = std::getenv("HOME");
#if defined(__APPLE__)
  return home && *home ? std::string(home) + "/Library/Caches/cupola" : std::string();
#else
  if (const char* base = std::getenv("XDG_CACHE_HOME"); base && *base == '/') return std::string(base) + "/cupola";
  return home && *home ? std::string(home) + "/.cache/cupola" : std::string();
#endif
}

std::string file_identity(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return {};
#if defined(__APPLE__)
  const timespec& changed = info.st_mtimespec;
#else
  const timespec& changed = info.st_mtim;
#endif
  return formatted("{}:{}:{}.{:09}", path, info.st_size, changed.tv_sec, changed.tv_nsec);
}

DiskCache::DiskCache(std::string folder) {
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

std::optional<std::vector<std::byte>> DiskCache::get(std::string_view key) {
  if (!usable() || !is_key(key)) return std::nullopt;
  const std::string path = formatted("{}/{}", folder_, key);
  File file(path, O_RDONLY | O_NOFOLLOW);
  if (!file.is_open()) return std::nullopt;
  std::optional<std::vector<std::byte>> bytes = file.read_all();
  if (bytes && bytes->size() >= kHeaderBytes) {
    std::byte expected[kHeaderBytes];
    write_header(expected, entry_hash(key, std::span(*bytes).subspan(kHeaderBytes)));
    if (std::memcmp(expected, bytes->data(), kHeaderBytes) == 0) {
      bytes->erase(bytes->begin(), bytes->begin() + kHeaderBytes);
      return bytes;
    }
  }
  log::line(log::Topic::Cache, "{} is damaged; removed", path);
  unlink(path.c_str());
  return std::nullopt;
}

void DiskCache::put(std::string_view key, std::span<const std::byte> bytes) {
  if (!usable() || !is_key(key)) return;
  // A dot keeps the unfinished name apart from every key.
  static std::atomic<uint64_t> serial = 0;
  const std::string unfinished = formatted("{}/.{}-{}-{}", folder_, key, getpid(), serial++);
  std::byte header[kHeaderBytes];
  write_header(header, entry_hash(key, bytes));
  bool written = false;
  {
    File file(unfinished, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (!file.is_open()) return complain_once(std::strerror(errno));
    written = file.write_all(header) && file.write_all(bytes);
  }
  if (written && rename(unfinished.c_str(), formatted("{}/{}", folder_, key).c_str()) == 0) return;
  complain_once(std::strerror(errno));
  unlink(unfinished.c_str());
}

void DiskCache::complain_once(std::string_view what) {
  if (!complained_.exchange(true))
    log::line(log::Topic::Cache, "cannot write to {}: {}; compiled kernels are not kept", folder_, what);
}

}  // namespace cupola::image
