#pragma once

#include <string_view>

// options.def as data.

namespace cupola::cupolac {

enum class Id {
#define OPTION(id, long_name, short_name, kind, doc) id,
#include "cupolac/options.def"
  None
};

enum class Kind { Flag, Value, List };
enum class Action { Use, Alias, Ignore, Refuse };

struct Row {
  Action action;
  Id id;  ///< None of what is ignored or refused
  std::string_view long_name, short_name;
  Kind kind;
  std::string_view text;  ///< what it does, why it has no effect, or what to do instead
};

/// The option of a name without hyphens, or nullptr.
const Row* find_row(std::string_view name);

}  // namespace cupola::cupolac
