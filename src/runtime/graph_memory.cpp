#include "runtime/graph_memory.h"

#include <algorithm>
#include <map>

#include "runtime/capture.h"
#include "runtime/memory_pool.h"
#include "runtime/runtime.h"

namespace cupola::runtime {
namespace {

/// Every allocation node's memory, and how much of it there is. Never destroyed.
struct Known {
  Mutex mutex;
  std::map<hal::Address, std::weak_ptr<GraphAllocation>> allocations GUARDED_BY(mutex);
  std::map<const Device*, GraphMemoryUsage> usage GUARDED_BY(mutex);

  static Known& get() {
    static auto* const known = new Known;
    return *known;
  }
};

void count(const Device& device, GraphMemoryUsage::Bytes GraphMemoryUsage::* which, int64_t bytes) {
  Known& known = Known::get();
  Lock lock(known.mutex);
  GraphMemoryUsage::Bytes& counted = known.usage[&device].*which;
  counted.now += static_cast<uint64_t>(bytes);
  counted.most = std::max(counted.most, counted.now);
}

}  // namespace

Result<std::shared_ptr<GraphAllocation>> GraphAllocation::make(Context& context, uint64_t bytes) {
  if (bytes == 0) return fail(ErrorCode::InvalidValue, "an allocation of 0 bytes was asked for");
  Device& device = context.device();
  TRY(memory::Allocation block, allocate_making_room(device, [&] { return device.heap().allocate(bytes); }));
  auto made = std::shared_ptr<GraphAllocation>(new GraphAllocation(context, std::move(block)));
  count(device, &GraphMemoryUsage::reserved, static_cast<int64_t>(bytes));
  TRY(Runtime::get().addresses.add({made->address(), bytes, MemoryKind::Graph, &context}));
  Known& known = Known::get();
  Lock lock(known.mutex);
  known.allocations[made->address()] = made;
  return made;
}

GraphAllocation::~GraphAllocation() {
  {
    Known& known = Known::get();
    Lock lock(known.mutex);
    known.allocations.erase(address());
  }
  count(device_, &GraphMemoryUsage::reserved, -static_cast<int64_t>(bytes()));
  Runtime::get().addresses.take(address(), [](const MemoryRange& range) { return range.kind == MemoryKind::Graph; });
}

Result<std::shared_ptr<GraphAllocation>> GraphAllocation::find(hal::Address address) {
  Known& known = Known::get();
  Lock lock(known.mutex);
  const auto found = known.allocations.find(address);
  std::shared_ptr<GraphAllocation> allocation = found == known.allocations.end() ? nullptr : found->second.lock();
  if (!allocation) return fail(ErrorCode::InvalidValue, "{:#x} is no address of an allocation node", address);
  return allocation;
}

bool GraphAllocation::allocated() const {
  Lock lock(mutex_);
  return self_ != nullptr;
}

bool GraphAllocation::set_allocated(bool allocated) {
  std::shared_ptr<GraphAllocation> let_go;
  {
    Lock lock(mutex_);
    if (allocated == (self_ != nullptr)) return false;
    let_go = std::exchange(self_, allocated ? shared_from_this() : nullptr);
  }
  const auto size = static_cast<int64_t>(bytes());
  count(device_, &GraphMemoryUsage::used, allocated ? size : -size);
  return true;
}

Result<> free_graph_memory(hal::Address address) {
  TRY(std::shared_ptr<GraphAllocation> allocation, GraphAllocation::find(address));
  if (allocation->set_allocated(false)) return {};
  return fail(ErrorCode::InvalidValue, "the graph memory at {:#x} is not allocated", address);
}

Result<hal::Address> capture_allocation(Stream& stream, uint64_t bytes) {
  const std::shared_ptr<Capture> capture = stream.capture();
  if (!capture) return fail(ErrorCode::IllegalState, "the stream is not being captured");
  TRY(std::shared_ptr<GraphAllocation> allocation, GraphAllocation::make(stream.context(), bytes));
  TRY(capture->add(stream, AllocWork{allocation}));
  return allocation->address();
}

GraphMemoryUsage graph_memory_usage(const Device& device) {
  Known& known = Known::get();
  Lock lock(known.mutex);
  return known.usage[&device];
}

void reset_most(const Device& device, GraphMemoryUsage::Bytes GraphMemoryUsage::* which) {
  Known& known = Known::get();
  Lock lock(known.mutex);
  GraphMemoryUsage::Bytes& counted = known.usage[&device].*which;
  counted.most = counted.now;
}

}  // namespace cupola::runtime
