#include "image/loader.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "image/library_calls.h"
#include "image/segment_registry.h"

namespace cupola::image {
namespace {

uint64_t round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// A mapping that goes away unless it is released.
class Mapping {
 public:
  explicit Mapping(uint64_t size)
      : size_(size), base_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Mapping() {
    if (base_ != MAP_FAILED) munmap(base_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  bool failed() const { return base_ == MAP_FAILED; }
  std::byte* base() const { return static_cast<std::byte*>(base_); }
  std::byte* release() { return static_cast<std::byte*>(std::exchange(base_, MAP_FAILED)); }

 private:
  const uint64_t size_;
  void* base_;
};

std::unexpected<Error> system_failure(const char* call, uint64_t bytes) {
  return fail(ErrorCode::OperatingSystem, "image: {} of {} bytes for code failed: {}", call, bytes,
              std::strerror(errno));
}

Result<> fill_slots(std::byte* base, const KernelImage& image) {
  for (const Import& import : image.imports) {
    const void* address = library_call_address(import.function);
    if (!address)
      return fail(ErrorCode::NotSupported, "image: the kernel calls '{}', which this platform's C library lacks",
                  library_call_name(import.function));
    std::memcpy(base + import.slot, &address, sizeof address);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<LoadedSegment>> LoadedSegment::load(const KernelImage& image) {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t size = image.segment.size();
  const uint64_t mapped = round_up(std::max<uint64_t>(size, 1), page);
  Mapping mapping(mapped);
  if (mapping.failed()) return system_failure("mmap", mapped);
  if (size) std::memcpy(mapping.base(), image.segment.data(), size);
  TRY(fill_slots(mapping.base(), image));

  // Where pages are larger than the format's 4096, the page that holds both becomes executable: never writable as well.
  const uint64_t code = std::min(round_up(image.slots_offset, page), mapped);
  if (code && mprotect(mapping.base(), code, PROT_READ | PROT_EXEC) != 0) return system_failure("mprotect", code);
  if (mapped > code && mprotect(mapping.base() + code, mapped - code, PROT_READ) != 0)
    return system_failure("mprotect", mapped - code);
  __builtin___clear_cache(reinterpret_cast<char*>(mapping.base()), reinterpret_cast<char*>(mapping.base() + code));
  return std::unique_ptr<LoadedSegment>(new LoadedSegment(mapping.release(), size, image.slots_offset, image.lines));
}

LoadedSegment::LoadedSegment(std::byte* base, uint64_t size, uint64_t code, LineTable lines)
    : base_(base), size_(size), code_(code), lines_(std::move(lines)) {
  const uint64_t begin = reinterpret_cast<uint64_t>(base);
  register_segment(this, begin, begin + code);
}

std::string LoadedSegment::source_at(uint64_t address) const {
  const uint64_t begin = reinterpret_cast<uint64_t>(base_);
  return address < begin || address - begin >= code_ ? std::string() : lines_.place(address - begin);
}

LoadedSegment::~LoadedSegment() {
  unregister_segment(this);
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  munmap(base_, round_up(std::max<uint64_t>(size_, 1), page));
}

void initialise_data(std::byte* base, const KernelImage& image, const LoadedSegment& segment) {
  if (image.data.empty()) return;
  std::memcpy(base, image.data.data(), image.data.size());
  for (const DataRelocation& relocation : image.relocations) {
    const void* target = nullptr;
    switch (relocation.kind) {
      case DataRelocation::Kind::DataAddress:
        target = base + relocation.addend;
        break;
      case DataRelocation::Kind::CodeAddress:
        target = segment.at(relocation.addend);
        break;
    }
    std::memcpy(base + relocation.offset, &target, sizeof target);
  }
}

}  // namespace cupola::image
