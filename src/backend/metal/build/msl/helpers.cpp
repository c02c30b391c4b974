#include "backend/metal/build/msl/helpers.h"

namespace cupola::metal::build {
namespace {

struct Helper {
  std::string_view name, needs, text;
};

constexpr Helper kHelpers[] = {
#define MSL_HELPER(name, needs, text) {#name, needs, text},
#include "backend/metal/build/msl/helpers.def"
#undef MSL_HELPER
};

}  // namespace

std::string_view MslHelpers::use(std::string_view name) {
  for (const Helper& helper : kHelpers)
    if (helper.name == name && used_.insert(helper.name).second && !helper.needs.empty()) use(helper.needs);
  return name;
}

std::string MslHelpers::text() const {
  std::string text;
  for (const Helper& helper : kHelpers)
    if (used_.contains(helper.name)) text += helper.text;
  return text;
}

}  // namespace cupola::metal::build
