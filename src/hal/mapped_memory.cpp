#include "hal/mapped_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "base/mutex.h"

namespace cupola::hal {
namespace {

constexpr const char* kFileName = "cupola-memory";

/// A file that is gone when nobody has it open or mapped. Error: OutOfMemory.
Result<int> nameless_file(uint64_t size) {
#if defined(__linux__)
  const int file = memfd_create(kFileName, MFD_CLOEXEC);
#else
  char name[64];
  std::snprintf(name, sizeof name, "/%s-%d-%08x", kFileName, getpid(), arc4random());
  const int file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file >= 0) shm_unlink(name);
#endif
  if (file < 0) return fail(ErrorCode::OutOfMemory, "no file for {} bytes of memory: {}", size, std::strerror(errno));
  if (ftruncate(file, static_cast<off_t>(size)) == 0) return file;
  const int error = errno;
  close(file);
  return fail(ErrorCode::OutOfMemory, "no file of {} bytes: {}", size, std::strerror(error));
}

/// The file that memory shares which is never exported: its free parts by offset, joined with their neighbours.
class CommonFile {
 public:
  static CommonFile& get() {
    static auto* const instance = new CommonFile;  // leaked: memory may be released after static destructors
    return *instance;
  }

  struct Part {
    int file;
    uint64_t offset;
  };

  Result<Part> take(uint64_t size) {
    Lock lock(mutex_);
    if (file_ < 0) {
      TRY(file_, nameless_file(0));
    }
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->second < size) continue;
      const auto [offset, space] = *it;
      free_.erase(it);
      if (space > size) free_[offset + size] = space - size;
      return Part{file_, offset};
    }
    if (ftruncate(file_, static_cast<off_t>(end_ + size)) != 0)
      return fail(ErrorCode::OutOfMemory, "no {} bytes of memory: {}", size, std::strerror(errno));
    const uint64_t offset = end_;
    end_ += size;
    return Part{file_, offset};
  }

  void give_back(uint64_t offset, uint64_t size) {
    Lock lock(mutex_);
    auto place = free_.emplace(offset, size).first;
    if (auto next = std::next(place); next != free_.end() && next->first == offset + size) {
      place->second += next->second;
      free_.erase(next);
    }
    if (place == free_.begin()) return;
    auto previous = std::prev(place);
    if (previous->first + previous->second != offset) return;
    previous->second += place->second;
    free_.erase(place);
  }

 private:
  Mutex mutex_;
  int file_ GUARDED_BY(mutex_) = -1;
  uint64_t end_ GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, uint64_t> free_ GUARDED_BY(mutex_);
};

/// True for a file of nameless_file(), here or in another process.
bool is_ours(int descriptor) {
#if defined(__linux__)
  char path[64], target[128];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(path, target, sizeof target - 1);
  if (length <= 0) return false;
  target[length] = 0;
  return std::strncmp(target, "/memfd:cupola-memory", std::strlen("/memfd:cupola-memory")) == 0;
#else
  return descriptor >= 0;
#endif
}

}  // namespace

int protection(Access access) {
  switch (access) {
    case Access::None:
      return PROT_NONE;
    case Access::Read:
      return PROT_READ;
    case Access::ReadWrite:
      return PROT_READ | PROT_WRITE;
  }
  __builtin_unreachable();
}

Result<std::shared_ptr<MappedMemory>> MappedMemory::create(uint64_t size, bool exportable,
                                                           std::function<void()> released) {
  if (size == 0) return fail(ErrorCode::InvalidValue, "memory of 0 bytes");
  if (exportable) {
    TRY(const int file, nameless_file(size));
    return std::shared_ptr<MappedMemory>(new MappedMemory(file, true, 0, size, std::move(released)));
  }
  TRY(const CommonFile::Part part, CommonFile::get().take(size));
  return std::shared_ptr<MappedMemory>(new MappedMemory(part.file, false, part.offset, size, std::move(released)));
}

Result<std::shared_ptr<MappedMemory>> MappedMemory::import(int descriptor) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0 || !is_ours(descriptor) || status.st_size <= 0)
    return fail(ErrorCode::InvalidValue, "the file descriptor {} stands for no memory of a device", descriptor);
  const int file = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (file < 0)
    return fail(ErrorCode::OperatingSystem, "cannot keep the file descriptor {}: {}", descriptor, std::strerror(errno));
  return std::shared_ptr<MappedMemory>(new MappedMemory(file, true, 0, static_cast<uint64_t>(status.st_size), [] {}));
}

MappedMemory::~MappedMemory() {
  if (own_file_) {
    close(file_);
  } else {
    std::ignore = punch(0, size_);
    CommonFile::get().give_back(begin_, size_);
  }
  if (released_) released_();
}

Result<int> MappedMemory::descriptor() const {
  if (own_file_) return file_;
  return fail(ErrorCode::NotSupported, "this memory was not made to be exported");
}

Result<> MappedMemory::map(std::byte* address, uint64_t offset, uint64_t size, Access access) const {
  if (offset > size_ || size > size_ - offset)
    return fail(ErrorCode::InvalidValue, "{} bytes at offset {} are not within memory of {} bytes", size, offset,
                size_);
#if defined(MAP_NORESERVE)
  const int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
#else
  const int flags = MAP_SHARED | MAP_FIXED;
#endif
  if (mmap(address, size, protection(access), flags, file_, static_cast<off_t>(begin_ + offset)) == MAP_FAILED)
    return fail(ErrorCode::OutOfMemory, "cannot map {} bytes: {}", size, std::strerror(errno));
  return {};
}

Result<> MappedMemory::write(const std::byte* from, uint64_t offset, uint64_t size) const {
  while (size > 0) {
    const ssize_t written = pwrite(file_, from, size, static_cast<off_t>(begin_ + offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(ErrorCode::OutOfMemory, "cannot keep {} bytes: {}", size, std::strerror(errno));
    from += written;
    offset += static_cast<uint64_t>(written);
    size -= static_cast<uint64_t>(written);
  }
  return {};
}

Result<> MappedMemory::punch(uint64_t offset, uint64_t size) const {
#if defined(__linux__)
  if (fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin_ + offset),
                static_cast<off_t>(size)) == 0)
    return {};
  return fail(ErrorCode::OperatingSystem, "cannot give {} bytes back: {}", size, std::strerror(errno));
#else
  const std::vector<std::byte> zeros(std::min<uint64_t>(size, 1 << 20));
  for (uint64_t done = 0; done < size; done += zeros.size())
    TRY(write(zeros.data(), offset + done, std::min<uint64_t>(zeros.size(), size - done)));
  return {};
#endif
}

}  // namespace cupola::hal
