#include "runtime/memory.h"

#include <cstdlib>

#include "base/log.h"
#include "runtime/capture.h"
#include "runtime/graph_memory.h"
#include "runtime/memory_hints.h"
#include "runtime/memory_pool.h"
#include "runtime/runtime.h"

namespace cupola::runtime {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kPitchAlignment = 512;

bool is_device(const MemoryRange& range) {
  return range.pool || range.kind == MemoryKind::Device || range.kind == MemoryKind::Managed;
}

/// Waits until no command of the range's context can touch it; a fault is returned and keeps nothing from being freed.
Result<> finish_uses(const MemoryRange& range) {
  Result<> done = range.context->synchronize();
  range.context->order()->drain();
  return done;
}

bool is_graph_memory(hal::Address address) {
  const auto range = Runtime::get().addresses.find(address);
  return range && range->kind == MemoryKind::Graph;
}

Result<MemoryRange> take_device_range(hal::Address address) {
  auto range = Runtime::get().addresses.take(address, is_device);
  if (!range) return fail(ErrorCode::InvalidValue, "no device allocation begins at {:#x}", address);
  return *range;
}

void free_in_heap(Context& context, hal::Address address) {
  if (auto freed = context.device().heap().free(address); !freed)
    log::line(log::Topic::Memory, "{}", freed.error().message);
}

/// Page-locked memory is the host's where kernels reach that, else the device's, which the host reaches.
Result<hal::Address> allocate_pinned(Context& context, uint64_t bytes) {
  Device& device = context.device();
  if (!device.properties().pageable_memory) {
    TRY(memory::Allocation block, allocate_making_room(device, [&] { return device.heap().allocate(bytes); }));
    return block.release().address;
  }
  void* const pointer = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (!pointer) return fail(ErrorCode::OutOfMemory, "{} bytes of host memory were asked for", bytes);
  return reinterpret_cast<hal::Address>(pointer);
}

void free_pinned(Context& context, hal::Address address) {
  if (!context.device().properties().pageable_memory) return free_in_heap(context, address);
  std::free(reinterpret_cast<void*>(address));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

void give_back(const MemoryRange& range) {
  if (range.kind == MemoryKind::Managed) MemoryHints::get().forget(range.address, range.size);
  if (range.pool) return range.pool->take_back(range.address, range.size);
  switch (range.kind) {
    case MemoryKind::Managed:
    case MemoryKind::Device:
      free_in_heap(*range.context, range.address);
      break;
    case MemoryKind::Pinned:
      free_pinned(*range.context, range.address);
      break;
    case MemoryKind::Registered:
    case MemoryKind::Mapped:
    case MemoryKind::Opened:
    case MemoryKind::ModuleData:
    case MemoryKind::Graph:
      break;
  }
}

Result<hal::Address> allocate(Context& context, uint64_t bytes, MemoryKind kind, unsigned flags) {
  TRY(check_unsafe_call("allocating memory"));
  if (bytes == 0) return fail(ErrorCode::InvalidValue, "0 bytes were asked for");
  Device& device = context.device();
  TRY(memory::Allocation block, allocate_making_room(device, [&] { return device.heap().allocate(bytes); }));
  TRY(Runtime::get().addresses.add({block.address(), bytes, kind, &context, flags}));
  log::line(log::Topic::Memory, "allocated {} bytes at {:#x}", bytes, block.address());
  return block.release().address;
}

Result<> free_memory(hal::Address address) {
  TRY(check_unsafe_call("freeing memory"));
  if (is_graph_memory(address)) {
    TRY(std::shared_ptr<GraphAllocation> allocation, GraphAllocation::find(address));
    Result<> done = finish_uses({.context = &allocation->context()});
    TRY(free_graph_memory(address));
    return done;
  }
  TRY(MemoryRange range, take_device_range(address));
  Result<> done = finish_uses(range);
  give_back(range);
  return done;
}

Result<> free_async(Stream& stream, hal::Address address) {
  if (const std::shared_ptr<Capture> capture = stream.capture()) {
    TRY(std::shared_ptr<GraphAllocation> allocation, GraphAllocation::find(address));
    TRY(capture->add(stream, FreeWork{std::move(allocation)}));
    return {};
  }
  if (is_graph_memory(address)) {
    TRY(std::shared_ptr<GraphAllocation> allocation, GraphAllocation::find(address));
    TRY(free_graph_memory(address));
    const Ticket ticket = stream.mark();
    if (!ticket.reached()) ticket.semaphore->when(ticket.value, [allocation] {});
    return {};
  }
  TRY(MemoryRange range, take_device_range(address));
  PendingFrees::get().add(stream.mark(), std::move(range));
  return {};
}

Result<void*> allocate_host(Context& context, uint64_t bytes, unsigned flags) {
  TRY(check_unsafe_call("allocating page-locked memory"));
  if (bytes == 0) return fail(ErrorCode::InvalidValue, "0 bytes were asked for");
  if (bytes > UINT64_MAX - kPage) return fail(ErrorCode::OutOfMemory, "{} bytes of host memory were asked for", bytes);
  TRY(const hal::Address address, allocate_pinned(context, bytes));
  if (auto added = Runtime::get().addresses.add({address, bytes, MemoryKind::Pinned, &context, flags}); !added) {
    free_pinned(context, address);
    return fail(added.error());
  }
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

Result<> free_host(void* pointer) {
  TRY(check_unsafe_call("freeing page-locked memory"));
  const auto range =
      Runtime::get().addresses.take(reinterpret_cast<hal::Address>(pointer),
                                    [](const MemoryRange& found) { return found.kind == MemoryKind::Pinned; });
  if (!range) return fail(ErrorCode::InvalidValue, "no page-locked allocation begins at {}", pointer);
  Result<> done = finish_uses(*range);
  give_back(*range);
  return done;
}

Result<> register_host(Context& context, void* pointer, uint64_t bytes, unsigned flags) {
  TRY(check_unsafe_call("registering memory"));
  if (!pointer || bytes == 0)
    return fail(ErrorCode::InvalidValue, "{} bytes at {} cannot be registered", bytes, pointer);
  if (!context.device().properties().pageable_memory)
    return fail(ErrorCode::NotSupported,
                "this device's kernels reach no memory that the device did not give: allocate "
                "it page-locked instead of registering it");
  const auto address = reinterpret_cast<hal::Address>(pointer);
  if (bytes > UINT64_MAX - address)
    return fail(ErrorCode::InvalidValue, "{} bytes at {} run past the end of the address space", bytes, pointer);
  return Runtime::get().addresses.add({address, bytes, MemoryKind::Registered, &context, flags});
}

Result<> unregister_host(void* pointer) {
  TRY(check_unsafe_call("unregistering memory"));
  const auto range =
      Runtime::get().addresses.take(reinterpret_cast<hal::Address>(pointer),
                                    [](const MemoryRange& found) { return found.kind == MemoryKind::Registered; });
  if (!range) return fail(ErrorCode::HostMemoryNotRegistered, "no registered memory begins at {}", pointer);
  return finish_uses(*range);
}

void free_all(Context& context) {
  PendingFrees::get().reclaim();
  for (const MemoryRange& range : Runtime::get().addresses.take_all(&context)) give_back(range);
}

uint64_t pitch_for(uint64_t width) {
  return (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
}

}  // namespace cupola::runtime
