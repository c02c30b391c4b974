#include "runtime/runtime.h"

#include <pthread.h>

#include <cstdlib>

#include "base/settings.h"
#include "runtime/current_context.h"
#include "runtime/machine_devices.h"
#include "runtime/memory.h"

namespace cupola::runtime {
namespace {

void show_output_at_exit() {
  if (Runtime::forked()) return;
  for (const auto& device : Runtime::get().devices()) device->hal().flush_output();
}

/// Which of the devices programs see.
Result<std::vector<size_t>> places_of(std::span<const std::unique_ptr<hal::Device>> devices) {
  std::vector<size_t> all;
  std::vector<Uuid> uuids;
  for (const auto& device : devices) {
    uuids.push_back(Device::uuid_of(device->properties(), all.size()));
    all.push_back(all.size());
  }
  const std::optional<std::string>& wanted = settings().visible_devices;
  return wanted ? visible_devices(*wanted, uuids) : all;
}

}  // namespace

Result<> Runtime::initialise() {
  static const auto* const result = new Result<>([]() -> Result<> {
    TRY(const auto devices, machine_devices());
    TRY(const std::vector<size_t> places, places_of(devices));
    instance_.store(new Runtime(devices, places), std::memory_order_release);  // leaked: see the class
    pthread_atfork(nullptr, nullptr, [] { in_child_.store(true); });
    std::atexit(show_output_at_exit);
    return {};
  }());
  return *result;
}

Runtime::Runtime(std::span<const std::unique_ptr<hal::Device>> devices, std::span<const size_t> places) {
  const auto count = static_cast<int>(places.size());
  for (const size_t place : places)
    devices_.push_back(std::make_unique<Device>(static_cast<int>(devices_.size()), count, place, *devices[place]));
}

Result<Device*> Runtime::device(int ordinal) const {
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= devices_.size())
    return fail(ErrorCode::InvalidDevice, "device {} was asked for; there {} {}", ordinal,
                devices_.size() == 1 ? "is" : "are", devices_.size());
  return devices_[static_cast<size_t>(ordinal)].get();
}

namespace {

template <typename T>
Result<std::shared_ptr<T>> known(const Handles<T>& handles, const void* handle, const char* what,
                                 ErrorCode code = ErrorCode::InvalidHandle) {
  if (auto object = handles.find(handle)) return object;
  return fail(code, "{} is not a live {}", handle, what);
}

}  // namespace

Result<std::shared_ptr<Context>> Runtime::context(const void* handle) const {
  for (const auto& device : devices_) {
    // The primary context is owned by its device and lives as long.
    if (handle == &device->primary()) return std::shared_ptr<Context>(std::shared_ptr<void>(), &device->primary());
  }
  if (auto found = contexts.find(handle)) return found;
  return fail(ErrorCode::InvalidContext, "{} is not a live context", handle);
}

Result<std::shared_ptr<Stream>> Runtime::stream(const void* handle) const {
  constexpr uintptr_t kLegacy = 1, kPerThread = 2;
  const auto value = reinterpret_cast<uintptr_t>(handle);
  if (value > kPerThread) return known(streams, handle, "stream");
  TRY(std::shared_ptr<Context> context, current_context_even_if_faulted());
  const bool per_thread = value == kPerThread || (value != kLegacy && ThreadState::get().per_thread_calls > 0);
  return per_thread ? context->per_thread_stream() : context->legacy_stream();
}

Result<std::shared_ptr<Event>> Runtime::event(const void* handle) const {
  return known(events, handle, "event");
}
Result<std::shared_ptr<Module>> Runtime::module(const void* handle) const {
  return known(modules, handle, "module");
}
Result<std::shared_ptr<Library>> Runtime::library(const void* handle) const {
  return known(libraries, handle, "library");
}
Result<std::shared_ptr<Kernel>> Runtime::kernel(const void* handle) const {
  return known(kernels, handle, "kernel");
}

Result<std::shared_ptr<Graph>> Runtime::graph(const void* handle) const {
  return known(graphs, handle, "graph", ErrorCode::InvalidValue);
}
Result<std::shared_ptr<Node>> Runtime::graph_node(const void* handle) const {
  return known(graph_nodes, handle, "graph node", ErrorCode::InvalidValue);
}
Result<std::shared_ptr<ExecutableGraph>> Runtime::executable_graph(const void* handle) const {
  return known(executable_graphs, handle, "executable graph", ErrorCode::InvalidValue);
}
Result<std::shared_ptr<UserObject>> Runtime::user_object(const void* handle) const {
  return known(user_objects, handle, "user object", ErrorCode::InvalidValue);
}

Result<std::shared_ptr<Function>> Runtime::function(const void* handle) const {
  if (auto function = functions.find(handle)) return function;
  auto kernel = kernels.find(handle);
  if (!kernel) return fail(ErrorCode::InvalidHandle, "{} is not a live function", handle);
  TRY(std::shared_ptr<Context> context, current_context());
  return kernel->function(*context);
}

void Runtime::drop_objects_of(Context& context) {
  const auto of_context = [&context](const auto& object) { return &object.context() == &context; };
  functions.remove_if(of_context);
  modules.remove_if(of_context);
  events.remove_if(of_context);
  streams.remove_if(of_context);
  textures.remove_if(of_context);
  surfaces.remove_if(of_context);
  arrays.remove_if(of_context);
  mipmapped_arrays.remove_if(of_context);
  for (const auto& library : libraries.live()) library->forget(context);
  free_all(context);
}

void Runtime::thread_ended(uint64_t thread) {
  for (const auto& device : devices_) device->primary().drop_per_thread_stream(thread);
  for (const auto& context : contexts.live()) context->drop_per_thread_stream(thread);
}

}  // namespace cupola::runtime
