#include "runtime/device.h"

#include "runtime/context.h"

namespace cupola::runtime {
namespace {

Device::Attributes all_attributes(const Device& device) {
  Device::Attributes all;
  for (int number = 0; number < image::DeviceFacts::kAttributes; ++number)
    all[static_cast<size_t>(number)] = device.attribute(number).value_or(image::DeviceFacts::kNoAttribute);
  return all;
}

}  // namespace

Device::Device(int ordinal, int count, size_t place, std::unique_ptr<hal::Device> hal)
    : ordinal_(ordinal),
      count_(count),
      place_(place),
      hal_(std::move(hal)),
      attributes_(all_attributes(*this)),
      heap_(*hal_),
      primary_(std::make_shared<Context>(*this, true)) {}

Device::~Device() = default;

std::optional<int> Device::attribute(int number) const {
  const hal::DeviceProperties& p = properties();
  const size_t place = place_;
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

std::string Device::bus_id() const {
  return formatted("0000:{:02x}:00.0", place_);
}

}  // namespace cupola::runtime
