#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>

#include "hal/device.h"
#include "image/device_facts.h"
#include "memory/heap.h"
#include "runtime/visible_devices.h"

namespace cupola::runtime {

class Context;

/// A device as the API shows it. Lives as long as the process. Any thread.
class Device {
 public:
  /// One of `count`; `place` is its number among machine_devices(), where some are hidden or come in another order.
  Device(int ordinal, int count, size_t place, hal::Device& hal);
  ~Device();

  int ordinal() const { return ordinal_; }
  int count() const { return count_; }
  hal::Device& hal() const { return hal_; }
  const hal::DeviceProperties& properties() const { return hal_.properties(); }
  memory::Heap& heap() { return heap_; }
  Context& primary() { return *primary_; }

  /// The value of the attribute with CUDA's number, from device.def; nothing when there is no such attribute.
  std::optional<int> attribute(int number) const { return attribute_of(properties(), place_, number); }
  static std::optional<int> attribute_of(const hal::DeviceProperties& properties, size_t place, int number);
  /// All of them, as kernels ask for them.
  using Attributes = std::array<int, image::DeviceFacts::kAttributes>;
  const Attributes& attributes() const { return attributes_; }

  /// Stable for the machine and device, not secret: made from the device's name and place.
  Uuid uuid() const { return uuid_of(properties(), place_); }
  static Uuid uuid_of(const hal::DeviceProperties& properties, size_t place);

  /// "0000:00:00.0" with the device's place as the bus.
  std::string bus_id() const { return bus_id_of(place_); }
  static std::string bus_id_of(size_t place);

  /// Bytes of properties().memory_bytes that are in use, without what is given back when anybody asks for it.
  uint64_t memory_in_use();

 private:
  const int ordinal_, count_;
  const size_t place_;
  hal::Device& hal_;
  const Attributes attributes_;
  memory::Heap heap_;
  std::shared_ptr<Context> primary_;
};

}  // namespace cupola::runtime
