#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "base/handles.h"
#include "runtime/address_map.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/event.h"
#include "runtime/executable_graph.h"
#include "runtime/function.h"
#include "runtime/graph.h"
#include "runtime/image_objects.h"
#include "runtime/library.h"
#include "runtime/module.h"
#include "runtime/program_cache.h"

namespace cupola::runtime {

/// Everything of the process: its devices and the objects that the program holds by handle. One, made by the first
/// initialise() and never destroyed: programs call the API until they end. Any thread.
class Runtime {
 public:
  /// Errors: NoDevice, or what the back-end says. Later calls do nothing.
  static Result<> initialise();
  static bool initialised() { return if_initialised() != nullptr; }
  /// Only after initialise().
  static Runtime& get() { return *if_initialised(); }
  static Runtime* if_initialised() { return instance_.load(std::memory_order_acquire); }

  /// Initialised, and not in a child of fork().
  static bool is_usable() { return initialised() && !forked(); }

  /// True in a child of fork(): threads of the device did not come along, so the API is not usable there.
  static bool forked() { return in_child_.load(std::memory_order_relaxed); }

  std::span<const std::unique_ptr<Device>> devices() const { return devices_; }
  /// Error: InvalidDevice.
  Result<Device*> device(int ordinal) const;

  /// Finds a live object. Errors: InvalidContext, InvalidHandle.
  Result<std::shared_ptr<Context>> context(const void* handle) const;
  Result<std::shared_ptr<Stream>> stream(const void* handle) const;
  Result<std::shared_ptr<Event>> event(const void* handle) const;
  Result<std::shared_ptr<Module>> module(const void* handle) const;
  Result<std::shared_ptr<Library>> library(const void* handle) const;
  Result<std::shared_ptr<Kernel>> kernel(const void* handle) const;
  /// Error for these four: InvalidValue.
  Result<std::shared_ptr<Graph>> graph(const void* handle) const;
  Result<std::shared_ptr<Node>> graph_node(const void* handle) const;
  Result<std::shared_ptr<ExecutableGraph>> executable_graph(const void* handle) const;
  Result<std::shared_ptr<UserObject>> user_object(const void* handle) const;
  /// Also takes a Kernel's handle, and gives its function in the current context.
  Result<std::shared_ptr<Function>> function(const void* handle) const;

  /// Destroys the objects and frees the memory of a context.
  void drop_objects_of(Context& context);
  void thread_ended(uint64_t thread);

  Handles<Context> contexts;
  Handles<Stream> streams;
  Handles<Event> events;
  Handles<Module> modules;
  Handles<Function> functions;
  Handles<Library> libraries;
  Handles<Kernel> kernels;
  Handles<Array> arrays;
  Handles<MipmappedArray> mipmapped_arrays;
  Handles<ImageObject> textures, surfaces;
  Handles<Graph> graphs;
  Handles<Node> graph_nodes;
  Handles<ExecutableGraph> executable_graphs;
  Handles<UserObject> user_objects;
  AddressMap addresses;
  ProgramCache programs;

 private:
  /// Of the devices at the places.
  Runtime(std::span<const std::unique_ptr<hal::Device>> devices, std::span<const size_t> places);

  static inline constinit std::atomic<Runtime*> instance_ = nullptr;
  static inline constinit std::atomic<bool> in_child_ = false;

  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace cupola::runtime
