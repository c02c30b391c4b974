#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include "base/format.h"

namespace cupola {

std::string format_arguments(fmt::string_view format, fmt::format_args arguments) {
  return fmt::vformat(format, arguments);
}

}  // namespace cupola
