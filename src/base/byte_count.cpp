#include "base/byte_count.h"

#include <cstdlib>

namespace cupola {

Result<uint64_t> parse_bytes(const std::string& text) {
  char* unit = nullptr;
  const double number = std::strtod(text.c_str(), &unit);
  if (unit == text.c_str() || !(number >= 0)) return fail(ErrorCode::InvalidValue, "'{}' is no number of bytes", text);
  const std::string rest = unit;
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  double scale = rest.empty() || rest == "B" ? 1 : 0;
  for (int i = 0; i < 4; ++i)
    if (rest == kUnits[i]) scale = static_cast<double>(uint64_t{1} << 10 * (i + 1));
  if (scale == 0) return fail(ErrorCode::InvalidValue, "'{}': the unit must be KiB, MiB, GiB or TiB", text);
  if (!(number * scale < 0x1p64)) return fail(ErrorCode::InvalidValue, "'{}' is more than 2^64 bytes", text);
  return static_cast<uint64_t>(number * scale);
}

}  // namespace cupola
