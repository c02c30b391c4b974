#include "runtime/ipc.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <tuple>

#include "base/mutex.h"
#include "runtime/runtime.h"

namespace cupola::runtime {
namespace {

constexpr std::array<char, 8> kMark = {'c', 'u', 'p', 'o', 'l', 'a', 'M', '1'};

/// Another process's memory as this one sees it. Commands that touch it keep it.
struct Window {
  std::shared_ptr<hal::Memory> memory;
  std::unique_ptr<hal::Buffer> buffer;
};

struct Opened {
  Context* context;
  hal::Address address;
  std::weak_ptr<const void> window;
  unsigned uses = 1;

  /// False when its context was reset since; something else may be at the address by now.
  bool is_there() const {
    const auto range = Runtime::get().addresses.find(address);
    return range && range->owner && range->owner == window.lock();
  }
};

/// What is open, by context, file and place.
struct Table {
  using Key = std::tuple<const Context*, uint64_t, uint64_t, uint64_t>;
  Mutex mutex;
  std::map<Key, Opened> opened GUARDED_BY(mutex);
};

Table& table() {
  static auto* const instance = new Table;  // leaked: used after static destructors
  return *instance;
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

Result<std::shared_ptr<hal::Memory>> memory_of(hal::Device& device, const MemoryTicket& ticket) {
  const std::string path = formatted("/proc/{}/fd/{}", ticket.process, ticket.descriptor);
  const Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat status{};
  if (file.number() < 0 || fstat(file.number(), &status) != 0)
    return fail(ErrorCode::InvalidValue, "the memory of process {} cannot be opened: {}", ticket.process,
                std::strerror(errno));
  if (static_cast<uint64_t>(status.st_dev) != ticket.file_system || status.st_ino != ticket.file)
    return fail(ErrorCode::InvalidValue, "process {} is not the one any more that exported the memory", ticket.process);
  return device.import_memory(file.number());
}

/// Maps the chunks that hold the allocation, and makes it known.
Result<Opened> map_window(Context& context, const MemoryTicket& ticket) {
  hal::Device& device = context.device().hal();
  TRY(std::shared_ptr<hal::Memory> memory, memory_of(device, ticket));
  if (ticket.bytes == 0 || ticket.offset > memory->size() || ticket.bytes > memory->size() - ticket.offset)
    return fail(ErrorCode::InvalidValue, "the handle names {} bytes at offset {} of memory of {} bytes", ticket.bytes,
                ticket.offset, memory->size());
  const uint64_t chunk = device.chunk_bytes();
  const uint64_t begin = ticket.offset / chunk * chunk;
  const uint64_t size = (ticket.offset + ticket.bytes - begin + chunk - 1) / chunk * chunk;
  TRY(std::unique_ptr<hal::Buffer> buffer, device.reserve(size));
  TRY(buffer->map(0, *memory, begin, size));
  TRY(buffer->protect(0, size, hal::Access::ReadWrite));
  const hal::Address address = buffer->address() + (ticket.offset - begin);
  MemoryRange range{address, ticket.bytes, MemoryKind::Opened, &context};
  range.owner = std::make_shared<Window>(std::move(memory), std::move(buffer));
  Opened opened{&context, address, range.owner};
  TRY(Runtime::get().addresses.add(std::move(range)));
  return opened;
}

}  // namespace

Result<MemoryTicket> export_memory(hal::Address address) {
  const auto range = Runtime::get().addresses.find(address);
  if (!range || range->kind != MemoryKind::Device || range->pool)
    return fail(ErrorCode::InvalidValue, "{:#x} is no memory of cuMemAlloc: only such memory has IPC handles", address);
  TRY(memory::Heap::Place place, range->context->device().heap().share(range->address));
  TRY(const int descriptor, place.memory->descriptor());
  struct stat status{};
  if (fstat(descriptor, &status) != 0)
    return fail(ErrorCode::OperatingSystem, "memory cannot be exported: {}", std::strerror(errno));
  return MemoryTicket{kMark,         getpid(),     descriptor, static_cast<uint64_t>(status.st_dev),
                      status.st_ino, place.offset, range->size};
}

Result<hal::Address> open_memory(Context& context, const MemoryTicket& ticket) {
  if (ticket.mark != kMark) return fail(ErrorCode::InvalidValue, "the handle was not made by cuIpcGetMemHandle");
  if (ticket.process == getpid())
    return fail(ErrorCode::InvalidContext, "the memory is this process's own: use its address");
  Table& all = table();
  Lock lock(all.mutex);
  const Table::Key key{&context, ticket.file_system, ticket.file, ticket.offset};
  std::erase_if(all.opened, [](const auto& each) { return !each.second.is_there(); });
  if (auto found = all.opened.find(key); found != all.opened.end()) return ++found->second.uses, found->second.address;
  TRY(Opened opened, map_window(context, ticket));
  const hal::Address address = opened.address;
  all.opened[key] = std::move(opened);
  return address;
}

Result<> close_memory(hal::Address address) {
  Table& all = table();
  Context* context = nullptr;
  {
    Lock lock(all.mutex);
    std::erase_if(all.opened, [](const auto& each) { return !each.second.is_there(); });
    auto found = all.opened.begin();
    while (found != all.opened.end() && found->second.address != address) ++found;
    if (found == all.opened.end())
      return fail(ErrorCode::InvalidValue, "{:#x} was not opened with cuIpcOpenMemHandle", address);
    if (--found->second.uses > 0) return {};
    context = found->second.context;
    all.opened.erase(found);
  }
  context->order()->drain();
  Runtime::get().addresses.take(address, [](const MemoryRange& range) { return range.kind == MemoryKind::Opened; });
  return {};
}

}  // namespace cupola::runtime
