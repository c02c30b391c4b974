#include "runtime/device.h"

#include <algorithm>

#include "runtime/context.h"
#include "runtime/pending_frees.h"

namespace cupola::runtime {
namespace {

Device::Attributes all_attributes(const Device& device) {
  Device::Attributes all;
  for (int number = 0; number < image::DeviceFacts::kAttributes; ++number)
    all[static_cast<size_t>(number)] = device.attribute(number).value_or(image::DeviceFacts::kNoAttribute);
  return all;
}

}  // namespace

Device::Device(int ordinal, int count, size_t place, hal::Device& hal)
    : ordinal_(ordinal),
      count_(count),
      place_(place),
      hal_(hal),
      attributes_(all_attributes(*this)),
      heap_(hal_),
      primary_(std::make_shared<Context>(*this, true)) {}

Device::~Device() = default;

std::optional<int> Device::attribute_of(const hal::DeviceProperties& p, size_t place, int number) {
  switch (number) {
#define DEVICE_ATTRIBUTE(number, name, value) \
  case number:                                \
    return static_cast<int>(value);
#include "runtime/device.def"
  }
  return std::nullopt;
}

Uuid Device::uuid_of(const hal::DeviceProperties& properties, size_t place) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : properties.name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  Uuid result = {'C', 'u', 'p', 'o', 'l', 'a', 0, 0};
  result[7] = static_cast<unsigned char>(place);
  for (size_t i = 0; i < 8; ++i) result[8 + i] = static_cast<unsigned char>(hash >> (8 * i));
  return result;
}

std::string Device::bus_id_of(size_t place) {
  return formatted("0000:{:02x}:00.0", place);
}

uint64_t Device::memory_in_use() {
  PendingFrees::get().reclaim();
  const memory::Heap::Usage usage = heap_.usage();
  const uint64_t slack = usage.backed - usage.used;
  const uint64_t in_use = hal_.memory_in_use();
  return in_use - std::min(in_use, slack);
}

}  // namespace cupola::runtime
