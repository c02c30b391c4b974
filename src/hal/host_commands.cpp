#include "hal/host_commands.h"

#include <algorithm>
#include <cstring>

#include "base/steady_clock.h"
#include "hal/host_semaphore.h"

namespace cupola::hal {
namespace {

std::byte* host(Address address) {
  return reinterpret_cast<std::byte*>(address);
}

template <typename T>
void fill_row(std::byte* row, uint32_t value, uint64_t width) {
  std::fill_n(reinterpret_cast<T*>(row), width, static_cast<T>(value));
}

}  // namespace

Result<> run_command(const Copy& copy, HostDomain&) {
  for (uint64_t z = 0; z < copy.depth; ++z)
    for (uint64_t y = 0; y < copy.height; ++y)
      std::memcpy(host(copy.destination) + z * copy.destination_slice + y * copy.destination_pitch,
                  host(copy.source) + z * copy.source_slice + y * copy.source_pitch, copy.width);
  return {};
}

Result<> run_command(const Fill& fill, HostDomain&) {
  for (uint64_t y = 0; y < fill.height; ++y) {
    std::byte* row = host(fill.destination) + y * fill.pitch;
    switch (fill.value_bytes) {
      case 1:
        fill_row<uint8_t>(row, fill.value, fill.width);
        break;
      case 2:
        fill_row<uint16_t>(row, fill.value, fill.width);
        break;
      case 4:
        fill_row<uint32_t>(row, fill.value, fill.width);
        break;
      default:
        return cupola::fail(ErrorCode::InvalidValue, "a fill with elements of {} bytes; 1, 2 or 4", fill.value_bytes);
    }
  }
  return {};
}

Result<> run_command(const HostCall& call, HostDomain&) {
  call.function();
  return {};
}

Result<> run_command(const Callback& callback, HostDomain& domain) {
  const std::optional<Error> fault = domain.fault();
  callback.function(fault ? &*fault : nullptr);
  return {};
}

Result<> run_command(const Wait& wait, HostDomain& domain) {
  return static_cast<HostSemaphore&>(*wait.semaphore).wait(wait.value, domain);
}

Result<> run_command(const Signal& signal, HostDomain&) {
  signal.semaphore->signal(signal.value);
  return {};
}

Result<> run_command(const Timestamp& timestamp, HostDomain&) {
  timestamp.nanoseconds->store(steady_nanoseconds());
  return {};
}

}  // namespace cupola::hal
