#pragma once

#include <memory>

#include "base/mutex.h"
#include "memory/allocation.h"
#include "runtime/context.h"

// Memory that graphs allocate: "CUDA C++ Programming Guide, Graph Memory Nodes". Its address is fixed when the node is
// made and stays the allocation's as long as the node, or what was allocated, is there. It is allocated from a launch
// of its graph until a free node, cuMemFree or cuMemFreeAsync; the end of the graph does not free it.

namespace cupola::runtime {

/// What one allocation node stands for. Any thread.
class GraphAllocation : public std::enable_shared_from_this<GraphAllocation> {
 public:
  /// Not yet allocated. Errors: InvalidValue for 0 bytes, OutOfMemory.
  static Result<std::shared_ptr<GraphAllocation>> make(Context& context, uint64_t bytes);
  ~GraphAllocation();

  /// The one that begins at the address. Error: InvalidValue.
  static Result<std::shared_ptr<GraphAllocation>> find(hal::Address address);

  Context& context() const { return context_; }
  Device& device() const { return device_; }
  hal::Address address() const { return block_.address(); }
  uint64_t bytes() const { return block_.size(); }

  bool allocated() const EXCLUDES(mutex_);
  /// False when it was so already.
  bool set_allocated(bool allocated) EXCLUDES(mutex_);

 private:
  GraphAllocation(Context& context, memory::Allocation block)
      : context_(context), device_(context.device()), block_(std::move(block)) {}

  Context& context_;
  Device& device_;  ///< outlives the context, as this may
  memory::Allocation block_;
  mutable Mutex mutex_;
  std::shared_ptr<GraphAllocation> self_ GUARDED_BY(mutex_);  ///< while allocated: outlives its graph
};

/// Frees it outside of a graph. Error: InvalidValue when it is not allocated.
Result<> free_graph_memory(hal::Address address);

/// An allocation node in the capture of a stream. Errors: those of GraphAllocation::make and Capture::add.
Result<hal::Address> capture_allocation(Stream& stream, uint64_t bytes);

/// Bytes of graph memory of a device.
struct GraphMemoryUsage {
  struct Bytes {
    uint64_t now = 0, most = 0;
  };
  Bytes used;      ///< allocated
  Bytes reserved;  ///< backed, for nodes that are there
};
GraphMemoryUsage graph_memory_usage(const Device& device);
/// The high-water mark begins anew at what is there now.
void reset_most(const Device& device, GraphMemoryUsage::Bytes GraphMemoryUsage::* which);

}  // namespace cupola::runtime
