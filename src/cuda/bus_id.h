#pragma once

#include <cstdio>
#include <optional>
#include <string>

namespace cupola {

/// Where a device is on the PCI bus, or says that it is.
struct BusId {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  bool operator==(const BusId&) const = default;
};

/// "[domain]:[bus]:[device].[function]", of which either the function or the domain may be left out.
inline std::optional<BusId> read_bus_id(const std::string& text) {
  BusId id;
  const auto whole = [&](const char* format, auto*... parts) {
    int end = -1;
    return std::sscanf(text.c_str(), format, parts..., &end) == sizeof...(parts) &&
           end == static_cast<int>(text.size());
  };
  if (whole("%x:%x:%x.%x%n", &id.domain, &id.bus, &id.device, &id.function)) return id;
  id = {};
  if (whole("%x:%x:%x%n", &id.domain, &id.bus, &id.device)) return id;
  id = {};
  if (whole("%x:%x.%x%n", &id.bus, &id.device, &id.function)) return id;
  return std::nullopt;
}

}  // namespace cupola
