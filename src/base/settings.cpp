#include "base/settings.h"

#include <cstdlib>
#include <cstring>

namespace cupola {
namespace {

void read_into(std::string& value, const char* text) {
  value = text;
}
void read_into(int64_t& value, const char* text) {
  value = std::strtoll(text, nullptr, 0);
}
void read_into(bool& value, const char* text) {
  value = std::strcmp(text, "0") != 0 && std::strcmp(text, "off") != 0;
}

}  // namespace

Settings read_settings() {
  Settings result;
#define CUPOLA_SETTING(name, variable, type, fallback, doc) \
  if (const char* text = std::getenv(variable); text && *text) read_into(result.name, text);
#include "base/settings.def"
#undef CUPOLA_SETTING
  return result;
}

const Settings& settings() {
  // Leaked on purpose: unload calls arrive after static destructors.
  static const Settings* const instance = new Settings(read_settings());
  return *instance;
}

}  // namespace cupola
