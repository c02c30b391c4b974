#include "cupolac/architecture.h"

#include <algorithm>
#include <charconv>

#include "cupolac/lists.h"

namespace cupola::cupolac {
namespace {

Result<Architecture> parse_one(std::string_view name) {
  const size_t underscore = name.find('_');
  const std::string_view prefix = name.substr(0, underscore);
  Architecture result;
  if (underscore != name.npos && (prefix == "sm" || prefix == "compute" || prefix == "lto")) {
    const char* const end = name.data() + name.size();
    const auto [rest, status] = std::from_chars(name.data() + underscore + 1, end, result.number);
    result.suffix = std::string(rest, end);
    const bool suffix = result.suffix.empty() || result.suffix == "a" || result.suffix == "f";
    // Older ones than CUDA 13's are taken for its oldest.
    const bool old = result.number >= 20 && result.number < known_architectures().front();
    if (status == std::errc() && suffix && (old || contains(known_architectures(), result.number))) return result;
  }
  return fail(ErrorCode::InvalidValue, "unsupported gpu architecture '{}'; --list-gpu-code lists the supported ones",
              name);
}

Architecture supported(Architecture architecture) {
  architecture.number = std::max(architecture.number, known_architectures().front());
  if (architecture.suffix == "f") architecture.suffix.clear();  // clang has no family architectures
  return architecture;
}

}  // namespace

const std::vector<int>& known_architectures() {
  static const auto* const numbers = new std::vector<int>{75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
  return *numbers;
}

Result<std::vector<Architecture>> parse_architectures(std::string_view text) {
  std::string names;
  for (char c : text)
    if (c != '[' && c != ']' && c != '"' && c != '\\' && c != '\'') names += c;
  std::vector<Architecture> result;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    std::string_view name = std::string_view(names).substr(begin, end - begin);
    begin = end + 1;
    for (std::string_view key : {"arch=", "code="})
      if (name.starts_with(key)) name.remove_prefix(key.size());
    if (name == "native" || name == "all" || name == "all-major" || name.empty()) {
      result.push_back({kDeviceCapability, ""});
      continue;
    }
    TRY(Architecture one, parse_one(name));
    result.push_back(one);
  }
  return result;
}

Architecture choose(const std::vector<Architecture>& requested) {
  Architecture best;
  bool any = false;
  auto fits = [](const Architecture& a) { return a.number <= kDeviceCapability; };
  for (const Architecture& request : requested) {
    const Architecture candidate = supported(request);
    const bool better = fits(candidate) != fits(best) ? fits(candidate)
                        : fits(candidate)             ? candidate.number >= best.number
                                                      : candidate.number <= best.number;
    if (!any || better) best = candidate;
    any = true;
  }
  return best;
}

}  // namespace cupola::cupolac
