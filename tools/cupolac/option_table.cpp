#include "cupolac/option_table.h"

#include "base/format.h"
#include "cupolac/options.h"

namespace cupola::cupolac {
namespace {

constexpr Row kRows[] = {
#define OPTION(id, long_name, short_name, kind, doc) {Action::Use, Id::id, long_name, short_name, Kind::kind, doc},
#define ALIAS(id, long_name, short_name, kind) {Action::Alias, Id::id, long_name, short_name, Kind::kind, ""},
#define IGNORED(long_name, short_name, kind, why) {Action::Ignore, Id::None, long_name, short_name, Kind::kind, why},
#define REFUSED(long_name, short_name, kind, instead) \
  {Action::Refuse, Id::None, long_name, short_name, Kind::kind, instead},
#include "cupolac/options.def"
};

}  // namespace

const Row* find_row(std::string_view name) {
  for (const Row& row : kRows)
    if (row.long_name == name || row.short_name == name) return &row;
  return nullptr;
}

std::string help_text() {
  std::string text =
      "usage: cupolac [option...] file...\n"
      "Compiles CUDA programs for Cupola; takes nvcc's options. An option may be written with one hyphen or two.\n\n";
  for (const Row& row : kRows) {
    if (row.action == Action::Alias) continue;
    std::string names = formatted("-{}", row.short_name);
    if (row.long_name != row.short_name) names = formatted("--{}, {}", row.long_name, names);
    if (row.kind == Kind::Value) names += " VALUE";
    if (row.kind == Kind::List) names += " VALUE,...";
    const char* prefix = row.action == Action::Ignore ? "no effect: " : row.action == Action::Refuse ? "refused: " : "";
    text += formatted("  {:<46} {}{}\n", names, prefix, row.text);
  }
  return text;
}

}  // namespace cupola::cupolac
