// The table of cuda/machine_table.h, and cuGetExportTable, which hands it out.

#include "cuda/machine_table.h"

#include <cstring>

#include "base/guarded.h"
#include "base/log.h"
#include "cuda/driver/api.h"
#include "runtime/machine_devices.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

/// The caller hears the number only.
int number_of(const Result<>& result) {
  if (result) return 0;
  log::line(log::Topic::Error, "{}", result.error().message);
  return static_cast<int>(result.error().code);
}

hal::Device& device_at(size_t place) {
  return *(*machine_devices())[place];
}

template <size_t size>
void fill(char (&to)[size], const std::string& text) {
  to[text.copy(to, size - 1)] = '\0';
}

int count(size_t* count) {
  return number_of(guarded([&]() -> Result<> {
    TRY(const auto devices, machine_devices());
    *count = devices.size();
    return {};
  }));
}

MachineFacts facts(size_t place) {
  const hal::DeviceProperties& properties = device_at(place).properties();
  const Uuid uuid = Device::uuid_of(properties, place);
  MachineFacts result{.name = properties.name.c_str(), .memory_bytes = properties.memory_bytes};
  fill(result.bus_id, Device::bus_id_of(place));
  fill(result.uuid_text, text_of(uuid));
  std::memcpy(result.uuid, uuid.data(), sizeof result.uuid);
  return result;
}

bool attribute(size_t place, int number, int* value) {
  const std::optional<int> found = Device::attribute_of(device_at(place).properties(), place, number);
  if (found) *value = *found;
  return found.has_value();
}

bool has_context(Runtime& runtime, Device& device) {
  if (device.primary().active()) return true;
  return runtime.contexts.any_of([&](const Context& context) { return &context.device() == &device; });
}

int use(size_t place, MachineUse* use) {
  *use = {};
  return number_of(guarded([&]() -> Result<> {
    Runtime* const runtime = Runtime::if_initialised();
    if (!runtime || Runtime::forked()) return {};
    for (const auto& device : runtime->devices())
      if (&device->hal() == &device_at(place)) *use = {device->memory_in_use(), has_context(*runtime, *device)};
    return {};
  }));
}

constexpr MachineTable kTable = {sizeof(MachineTable), &count, &facts, &attribute, &use};

}  // namespace

CUresult cuGetExportTable(const void** ppExportTable, const CUuuid* pExportTableId) {
  return api_call_before_init([&]() -> Result<> {
    if (ppExportTable) *ppExportTable = nullptr;
    if (ppExportTable && pExportTableId &&
        std::memcmp(pExportTableId->bytes, kMachineTableId, sizeof kMachineTableId) == 0) {
      *ppExportTable = &kTable;
      return {};
    }
    return fail(
        ErrorCode::NotSupported,
        "the program asks for an undocumented table of NVIDIA's driver, as NVIDIA's own libcudart does: build it with "
        "cupolac, or link it with Cupola's libcudart");
  });
}
