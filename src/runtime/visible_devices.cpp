#include "runtime/visible_devices.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/format.h"

namespace cupola::runtime {
namespace {

constexpr std::string_view kPrefix = "GPU-";

/// The only device whose UUID begins so.
std::optional<size_t> by_uuid(std::string_view entry, std::span<const Uuid> devices) {
  if (!entry.starts_with(kPrefix) || entry.size() == kPrefix.size()) return {};
  std::string wanted(entry);
  std::transform(wanted.begin() + kPrefix.size(), wanted.end(), wanted.begin() + kPrefix.size(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::optional<size_t> found;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (!text_of(devices[i]).starts_with(wanted)) continue;
    if (found) return {};
    found = i;
  }
  return found;
}

std::optional<size_t> by_number(std::string_view entry, size_t count) {
  if (entry.starts_with('+')) entry.remove_prefix(1);
  size_t number = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
  if (error != std::errc() || number >= count) return {};
  return number;
}

/// The text up to the next comma, without the spaces around it; `rest` moves past it.
std::string_view next_entry(std::string_view& rest) {
  const size_t comma = rest.find(',');
  std::string_view entry = rest.substr(0, comma);
  rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  while (entry.starts_with(' ')) entry.remove_prefix(1);
  while (entry.ends_with(' ')) entry.remove_suffix(1);
  return entry;
}

}  // namespace

std::string text_of(const Uuid& uuid) {
  std::string text(kPrefix);
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += formatted("{:02x}", uuid[i]);
  }
  return text;
}

Result<std::vector<size_t>> visible_devices(std::string_view wanted, std::span<const Uuid> devices) {
  std::vector<size_t> visible;
  std::string_view rest = wanted;
  const std::string_view first = next_entry(rest);
  const bool are_uuids = first.starts_with(kPrefix);
  for (std::string_view entry = first; !entry.empty(); entry = next_entry(rest)) {
    const std::optional<size_t> device = are_uuids ? by_uuid(entry, devices) : by_number(entry, devices.size());
    if (!device) break;
    if (std::ranges::find(visible, *device) != visible.end())
      return fail(ErrorCode::InvalidDevice, "CUDA_VISIBLE_DEVICES is '{}', which names a device twice", wanted);
    visible.push_back(*device);
  }
  if (visible.empty())
    return fail(ErrorCode::NoDevice, "CUDA_VISIBLE_DEVICES is '{}', which leaves none of the {} devices: unset it",
                wanted, devices.size());
  return visible;
}

}  // namespace cupola::runtime
