#include "cupolac/architecture.h"

#include <algorithm>

#include "image/architecture.h"

namespace cupola::cupolac {
namespace {

Result<Architecture> parse_one(std::string_view name) {
  const auto found = image::parse_architecture(name);
  if (found && (found->kind == "sm" || found->kind == "compute" || found->kind == "lto")) {
    // Older ones than CUDA 13's are taken for its oldest.
    const bool old = found->number >= 20 && found->number < image::kArchitectures[0];
    if (old || image::is_known_architecture(found->number))
      return Architecture{found->number, std::string(found->suffix)};
  }
  return fail(ErrorCode::InvalidValue, "unsupported gpu architecture '{}'; --list-gpu-code lists the supported ones",
              name);
}

Architecture supported(Architecture architecture) {
  architecture.number = std::max(architecture.number, image::kArchitectures[0]);
  if (architecture.suffix == "f") architecture.suffix.clear();  // clang has no family architectures
  return architecture;
}

}  // namespace

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
