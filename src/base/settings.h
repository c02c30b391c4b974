#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cupola {

/// Everything a user can set, read once from the environment. The table settings.def gives each row's variable, type,
/// default and one line of documentation, which `cupola info` prints.
struct Settings {
#define CUPOLA_SETTING(name, variable, type, fallback, words, doc) type name = fallback;
#include "base/settings.def"
#undef CUPOLA_SETTING
};

/// The process's settings; read at the first call and constant afterwards. Any thread. A value that its setting
/// cannot take, by its type or its words, is reported once as an error and counts as not set.
const Settings& settings();

/// Reads the environment anew: for tests. A line for each value that cannot be read goes to `problems`.
Settings read_settings(std::vector<std::string>& problems);

}  // namespace cupola
