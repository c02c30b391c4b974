#include "cupola/driver_library.h"

#include <cctype>

#include "cupola/driver_call.h"

namespace cupola::tool {
namespace {

struct Attribute {
  int number;
  const char* name;
};

constexpr Attribute kAttributes[] = {
#define DEVICE_ATTRIBUTE(number, name, value) {number, #name},
#include "runtime/device.def"
#undef DEVICE_ATTRIBUTE
};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

Result<DriverLibrary::Device> describe(const DynLib& library, int ordinal) {
  int handle = 0;
  char name[256] = {};
  DriverLibrary::Device device;
  TRY(driver_call(library, "cuDeviceGet", &handle, ordinal));
  TRY(driver_call(library, "cuDeviceGetName", &name[0], static_cast<int>(sizeof name), handle));
  TRY(driver_call(library, "cuDeviceTotalMem_v2", &device.memory_bytes, handle));
  device.name = name;
  for (const Attribute& attribute : kAttributes) {
    int value = 0;
    if (driver_call(library, "cuDeviceGetAttribute", &value, attribute.number, handle))
      device.attributes.emplace_back(lower(attribute.name), value);
  }
  return device;
}

}  // namespace

Result<DriverLibrary> DriverLibrary::open(const std::filesystem::path& libraries) {
  TRY(DynLib library, DynLib::open((libraries / "libcuda.so.1").string()));
  TRY(driver_call(library, "cuInit", 0u));
  DriverLibrary result;
  int count = 0;
  TRY(driver_call(library, "cuDriverGetVersion", &result.version_));
  TRY(driver_call(library, "cuDeviceGetCount", &count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    TRY(Device device, describe(library, ordinal));
    result.devices_.push_back(std::move(device));
  }
  return result;
}

int DriverLibrary::Device::attribute(const std::string& attribute_name) const {
  for (const auto& [name_of_one, value] : attributes)
    if (name_of_one == attribute_name) return value;
  return 0;
}

}  // namespace cupola::tool
