#pragma once

#include <functional>
#include <memory>

#include "hal/memory.h"

namespace cupola::hal {

/// Memory of devices that use the host's: a part of a file that has no name, and no place on a disk.
class MappedMemory final : public Memory {
 public:
  /// Exportable memory is a file of its own. All other shares one, because a process may have few files open.
  /// `released` is called when it is destroyed. Error: OutOfMemory.
  static Result<std::shared_ptr<MappedMemory>> create(uint64_t size, bool exportable, std::function<void()> released);

  /// The memory that a descriptor of another process, or this one, stands for; the descriptor stays the caller's.
  /// Error: InvalidValue when it is no file of create().
  static Result<std::shared_ptr<MappedMemory>> import(int descriptor);

  ~MappedMemory() override;

  uint64_t size() const override { return size_; }
  Result<int> descriptor() const override;

  /// Puts [offset, offset + size) in the place of what is mapped at `address`, at once for all threads.
  Result<> map(std::byte* address, uint64_t offset, uint64_t size, Access access) const;

  Result<> write(const std::byte* from, uint64_t offset, uint64_t size) const;

  /// Gives backing back; what it held reads as zero.
  Result<> punch(uint64_t offset, uint64_t size) const;

 private:
  MappedMemory(int file, bool own_file, uint64_t begin, uint64_t size, std::function<void()> released)
      : file_(file), own_file_(own_file), begin_(begin), size_(size), released_(std::move(released)) {}

  const int file_;
  const bool own_file_;
  const uint64_t begin_, size_;
  const std::function<void()> released_;
};

/// The rights as mmap and mprotect take them.
int protection(Access access);

}  // namespace cupola::hal
