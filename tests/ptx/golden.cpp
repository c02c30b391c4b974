// The referee of the PTX front end.
//
//   ptx-golden --write golden.tsv      runs all cases on the device at hand and records what it answers
//   ptx-golden --check golden.tsv      runs the recorded cases and compares; prints "N of M forms agree"; --open FILE
//                                      names those that are known to differ, with the reason
//   ptx-golden --values FILE...        runs the operand sets of data files: form, operands, expected bits
//   ptx-golden --parse                 reads all cases with Cupola's parser and verifier; needs no device
//   ptx-golden --spellings golden.tsv  looks whether the table takes the recorded spellings and those of --census, and
//                                      none of --refused
//
// golden.tsv was taken on an NVIDIA H200 through NVIDIA's driver. Only the driver API is used, so the same program runs
// on either. A line: case, outputs of the kept sets (hexadecimal, of the registers' widths, set after set), hash of the
// random sets' outputs (operands.h), 32 bits for each kind of draw; "~" where approximations.cpp judges them instead.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <unordered_map>

#include "approximations.h"
#include "base/format.h"
#include "operands.h"
#include "ptx/syntax/parser.h"
#include "ptx/syntax/verify.h"
#include "survey.h"

namespace {

using namespace cupola;
using namespace cupola::ptxtest;
using ptx::Type;

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  return lines;
}

std::vector<std::string> cells_of(std::string_view line, char at) {
  std::vector<std::string> cells;
  while (true) {
    const size_t end = line.find(at);
    cells.emplace_back(line.substr(0, end));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

/// One NaN for all where the comparison asks for it.
uint64_t canonical(const Case& of, const Slot& slot, uint64_t bits) {
  if (of.comparison == Comparison::Bits) return bits;
  const Type element = slot.type == Type::F16x2 ? Type::F16 : slot.type == Type::BF16x2 ? Type::BF16 : slot.type;
  if (element == slot.type) return is_nan(element, bits) ? ~uint64_t{0} >> (64 - slot.bits) : bits;
  for (const unsigned shift : {0U, 16U})
    if (is_nan(element, bits >> shift & 0xffff)) bits |= uint64_t{0xffff} << shift;
  return bits;
}

std::string hex(uint64_t bits, unsigned width) {
  return formatted("{:0{}x}", bits, std::max(1U, width / 4));
}

struct Golden {
  std::string outputs, hash;
};

Golden measured(const Case& of, std::span<const uint64_t> outputs) {
  Golden made;
  std::array<uint64_t, kDraws> hashes{};
  const size_t each = of.outputs.size();
  for (unsigned set = 0; set < of.count(); ++set)
    for (size_t i = 0; i < each; ++i) {
      const uint64_t bits = canonical(of, of.outputs[i], outputs[set * each + i]);
      if (set < of.kept()) {
        made.outputs += hex(bits, of.outputs[i].bits);
      } else {
        uint64_t& hash = hashes[static_cast<size_t>(draw_of(of, set))];
        hash = mixed(hash ^ bits);
      }
    }
  for (const uint64_t hash : hashes) made.hash += hex(hash & 0xffffffff, 32);
  if (of.comparison == Comparison::Bound) made.hash = "~";
  return made;
}

std::vector<uint64_t> inputs_of(const Case& of) {
  std::vector<uint64_t> inputs;
  inputs.reserve(of.count() * of.inputs.size());
  for (unsigned set = 0; set < of.count(); ++set)
    for (unsigned k = 0; k < of.inputs.size(); ++k) inputs.push_back(operand_bits(of, set, k));
  return inputs;
}

std::string shown_inputs(const Case& of, unsigned set) {
  std::string text;
  for (unsigned k = 0; k < of.inputs.size(); ++k)
    text += (k ? "," : "") + hex(operand_bits(of, set, k), of.inputs[k].bits);
  return text;
}

/// The digits of one set in a golden line, its outputs apart.
std::string shown_outputs(const Case& of, const std::string& digits, unsigned set) {
  size_t width = 0;
  for (const Slot& slot : of.outputs) width += std::max(1U, slot.bits / 4);
  if (digits.size() < width * (set + 1)) return "nothing";
  size_t at = width * set;
  std::string text;
  for (const Slot& slot : of.outputs) {
    text += (text.empty() ? "" : ",") + digits.substr(at, std::max(1U, slot.bits / 4));
    at += std::max(1U, slot.bits / 4);
  }
  return text;
}

std::string bound_violation(const Case& of, std::span<const uint64_t> outputs) {
  for (unsigned set = 0; set < of.count(); ++set) {
    std::vector<uint64_t> inputs;
    for (unsigned k = 0; k < of.inputs.size(); ++k) inputs.push_back(operand_bits(of, set, k));
    const std::string wrong = out_of_bound(of, inputs, outputs[set]);
    if (!wrong.empty()) return formatted("set {}: ({}): {}", set, shown_inputs(of, set), wrong);
  }
  return {};
}

/// Empty where the outputs agree with the reference.
std::string difference(const Case& of, const Golden& reference, std::span<const uint64_t> outputs) {
  const Golden ours = measured(of, outputs);
  if (of.comparison == Comparison::Bound) {
    for (unsigned set = 0; set < of.kept(); ++set) {
      const std::string theirs = shown_outputs(of, reference.outputs, set);
      uint64_t bits = 0;
      std::from_chars(theirs.data(), theirs.data() + theirs.size(), bits, 16);
      if (!same_special(of, bits, outputs[set]))
        return formatted("set {}: ({}): expected {}, got {}", set, shown_inputs(of, set), theirs,
                         shown_outputs(of, ours.outputs, set));
    }
    return bound_violation(of, outputs);
  }
  unsigned differing = 0, first = 0;
  for (unsigned set = of.kept(); set-- > 0;)
    if (shown_outputs(of, ours.outputs, set) != shown_outputs(of, reference.outputs, set)) ++differing, first = set;
  std::string text;
  if (differing)
    text = formatted("set {}: ({}): expected {}, got {}; {} of {} kept sets", first, shown_inputs(of, first),
                     shown_outputs(of, reference.outputs, first), shown_outputs(of, ours.outputs, first), differing,
                     of.kept());
  constexpr std::string_view kNames[] = {"raw", "small", "edge", "mixed"};
  std::string draws;
  for (size_t d = 0; d < kDraws; ++d)
    if (ours.hash.substr(d * 8, 8) != reference.hash.substr(d * 8, 8)) draws += formatted(" {}", kNames[d]);
  if (!draws.empty()) text += formatted("{}random sets differ:{}", text.empty() ? "" : "; ", draws);
  return text;
}

struct Options {
  std::string mode, file, census, refused, open, forms = ".*";
  std::vector<std::string> values;
  bool everything = false;
  bool strange = false;            ///< spellings that no row takes
  unsigned shard = 0, shards = 1;  ///< every shards-th case only
};

std::vector<const Case*> chosen(const std::vector<Case>& cases, const Options& options) {
  const std::regex forms(options.forms);
  std::vector<const Case*> made;
  for (size_t i = options.shard; i < cases.size(); i += options.shards)
    if (std::regex_search(cases[i].name, forms)) made.push_back(&cases[i]);
  return made;
}

Task standard_task(std::span<const Case* const> cases) {
  return {.inputs = [cases](size_t i) { return inputs_of(*cases[i]); },
          .sets = [cases](size_t i) { return cases[i]->count(); },
          .verdict = {},
          .report = {}};
}

/// Beside the golden file a list FILE.refused of what the device doesn't take, and the bounds that it breaks on stderr.
int write(const Options& options, const std::vector<const Case*>& cases) {
  Task task = standard_task(cases);
  task.verdict = [&](size_t i, std::span<const uint64_t> outputs) {
    const Case& c = *cases[i];
    if (c.comparison == Comparison::Bound) {
      const std::string wrong = bound_violation(c, outputs);
      if (!wrong.empty())
        std::fprintf(stderr, "the reference breaks the bound: %s: %s\n", c.name.c_str(), wrong.c_str());
    }
    const Golden golden = measured(c, outputs);
    return formatted("{}\t{}", golden.outputs, golden.hash);
  };
  const auto verdicts = survey(cases, task);
  if (verdicts.empty()) return 1;
  std::ofstream out(options.file), refused(options.file + ".refused");
  size_t written = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (verdicts[i].starts_with(kRefused) || verdicts[i].starts_with(kFailed)) {
      refused << cases[i]->name << "\t" << verdicts[i] << "\n";
      continue;
    }
    out << cases[i]->name << "\t" << verdicts[i] << "\n";
    ++written;
  }
  std::printf("%zu of %zu forms written\n", written, cases.size());
  return 0;
}

/// The cases that the golden file names, made anew from the table. One that the table no longer yields is a failure.
std::vector<Case> recorded(const std::vector<std::string>& names, size_t& lost) {
  std::unordered_map<std::string, std::vector<Case>> by_form;
  std::vector<Case> warps, made;
  add_warp_cases(warps);
  for (Case& c : warps) by_form[c.form].push_back(std::move(c));
  for (const std::string& name : names) {
    const std::string form = name.substr(0, name.find(' '));
    if (!by_form.contains(form)) by_form[form] = cases_of(form);
    const auto& known = by_form[form];
    const auto found = std::ranges::find(known, name, &Case::name);
    if (found != known.end()) {
      made.push_back(*found);
      continue;
    }
    ++lost;
    std::printf("%s\tno row of isa.def yields this form\n", name.c_str());
  }
  return made;
}

int check(const Options& options) {
  std::unordered_map<std::string, Golden> reference;
  std::vector<std::string> names;
  const std::regex forms(options.forms);
  for (const std::string& line : lines_of(options.file)) {
    auto cells = cells_of(line, '\t');
    if (cells.size() != 3 || !std::regex_search(cells[0], forms)) continue;
    names.push_back(cells[0]);
    reference[cells[0]] = {cells[1], cells[2]};
  }
  size_t lost = 0;
  const std::vector<Case> all = recorded(names, lost);
  std::vector<const Case*> cases;
  for (size_t i = options.shard; i < all.size(); i += options.shards) cases.push_back(&all[i]);
  Task task = standard_task(cases);
  task.verdict = [&](size_t i, std::span<const uint64_t> outputs) {
    return difference(*cases[i], reference[cases[i]->name], outputs);
  };
  task.report = [&](size_t i, const std::string& verdict) {
    if (!verdict.empty()) std::printf("%s\t%s\n", cases[i]->name.c_str(), verdict.c_str());
    std::fflush(stdout);
  };
  const auto verdicts = survey(cases, task);
  if (verdicts.empty()) return 1;
  std::set<std::string> open;
  for (const std::string& line : lines_of(options.open)) open.insert(cells_of(line, '\t')[0]);
  size_t agree = 0, known = 0, stale = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    const bool is_open = open.contains(cases[i]->name);
    agree += verdicts[i].empty();
    known += !verdicts[i].empty() && is_open;
    if (!verdicts[i].empty() || !is_open) continue;
    ++stale;
    std::printf("%s\tagrees now: take it out of %s\n", cases[i]->name.c_str(), options.open.c_str());
  }
  std::printf("%zu of %zu forms agree, %zu are known to differ\n", agree, cases.size() + lost, known);
  return agree + known == cases.size() && lost == 0 && stale == 0 && !cases.empty() ? 0 : 1;
}

int parse(const std::vector<const Case*>& cases) {
  size_t good = 0;
  for (const Case* c : cases) {
    auto module = ptx::parse(module_text({&c, 1}));
    Result<> verified = module ? ptx::verify(*module) : std::unexpected(module.error());
    if (verified)
      ++good;
    else
      std::printf("%s\t%s\n", c->name.c_str(), verified.error().message.c_str());
  }
  std::printf("%zu of %zu forms are read\n", good, cases.size());
  return good == cases.size() ? 0 : 1;
}

/// Whether a module for the reference's target may hold the spelling, with any number of operands.
bool is_taken(ptx::FormTable& table, const std::string& spelling) {
  constexpr size_t kMostOperands = 7;
  constexpr unsigned kTarget = 90;
  for (size_t operands = 0; operands <= kMostOperands; ++operands)
    if (const auto form = table.understand(spelling, operands)) return (*form)->row->target <= kTarget;
  return false;
}

/// The table against the reference's assembler: what it takes and what it refuses. A refused spelling that the table
/// takes all the same has its reason behind a tab.
int check_spellings(const Options& options) {
  ptx::FormTable table;
  std::vector<std::string> taken = lines_of(options.census), refused = lines_of(options.refused);
  for (const std::string& line : lines_of(options.file)) taken.push_back(line.substr(0, line.find_first_of("\t ")));
  size_t wrong = 0, excepted = 0;
  const auto report = [&](const std::string& spelling, const char* what) {
    ++wrong;
    std::printf("%s\t%s\n", spelling.c_str(), what);
  };
  for (const std::string& spelling : taken)
    if (!is_taken(table, spelling)) report(spelling, "no row takes it");
  for (const std::string& line : refused) {
    const std::string spelling = line.substr(0, line.find('\t'));
    const bool is_exception = spelling != line, takes = is_taken(table, spelling);
    excepted += is_exception;
    if (takes && !is_exception) report(spelling, "a row takes it, NVIDIA's assembler does not");
    if (!takes && is_exception) report(spelling, "no row takes it any more: remove the reason");
  }
  std::printf("%zu spellings are taken, %zu refused, %zu taken with a reason; %zu are wrong\n", taken.size(),
              refused.size() - excepted, excepted, wrong);
  return wrong == 0 && !taken.empty() && !refused.empty() ? 0 : 1;
}

/// The lines of data files that name one case.
struct ValueSets {
  Case made;
  struct Set {
    std::vector<uint64_t> inputs, outputs;
    std::string origin;
  };
  std::vector<Set> sets;
};

std::vector<uint64_t> numbers(const std::string& text) {
  std::vector<uint64_t> made;
  for (std::string cell : cells_of(text, ',')) {
    std::erase_if(cell, [](char c) { return c == ' ' || c == '_'; });
    if (cell.empty()) continue;
    const char* from = cell.c_str() + (cell.starts_with("0x") ? 2 : 0);
    uint64_t value = 0;
    std::from_chars(from, cell.c_str() + cell.size(), value, 16);
    made.push_back(value);
  }
  return made;
}

bool read_values(const std::vector<std::string>& files, std::map<std::string, ValueSets>& by_case) {
  bool good = true;
  for (const std::string& file : files) {
    size_t number = 0;
    for (const std::string& line : lines_of(file)) {
      const std::string origin = formatted("{}, entry {}", file, ++number);
      const auto cells = cells_of(line, '\t');
      ValueSets* sets = nullptr;
      if (cells.size() >= 3) {
        sets = &by_case[cells[0]];
        if (sets->made.name.empty())
          for (Case& c : cases_of(cells[0].substr(0, cells[0].find(' '))))
            if (c.name == cells[0]) sets->made = std::move(c);
      }
      if (!sets || sets->made.name.empty()) {
        std::printf("%s: no case is called '%s'\n", origin.c_str(), cells[0].c_str());
        by_case.erase(cells[0]);
        good = false;
        continue;
      }
      ValueSets::Set set{numbers(cells[1]), numbers(cells[2]), origin};
      if (set.inputs.size() != sets->made.inputs.size() || set.outputs.size() != sets->made.outputs.size()) {
        std::printf("%s: '%s' has %zu inputs and %zu outputs\n", origin.c_str(), cells[0].c_str(),
                    sets->made.inputs.size(), sets->made.outputs.size());
        good = false;
        continue;
      }
      sets->sets.push_back(std::move(set));
    }
  }
  std::erase_if(by_case, [](const auto& entry) { return entry.second.sets.empty(); });
  return good;
}

/// "12,ffffffff" of a set's outputs; `canonical` as for golden data.
std::string shown_values(const Case& of, std::span<const uint64_t> outputs) {
  std::string text;
  for (size_t i = 0; i < of.outputs.size(); ++i)
    text += (i ? "," : "") + hex(canonical(of, of.outputs[i], outputs[i]), of.outputs[i].bits);
  return text;
}

int check_values(const Options& options) {
  std::map<std::string, ValueSets> by_case;
  bool good = read_values(options.values, by_case);
  std::vector<const Case*> cases;
  std::vector<const ValueSets*> all;
  for (const auto& [name, sets] : by_case) cases.push_back(&sets.made), all.push_back(&sets);
  Task task;
  task.sets = [&](size_t i) { return static_cast<unsigned>(all[i]->sets.size()); };
  task.inputs = [&](size_t i) {
    std::vector<uint64_t> inputs;
    for (const auto& set : all[i]->sets) inputs.insert(inputs.end(), set.inputs.begin(), set.inputs.end());
    return inputs;
  };
  task.verdict = [&](size_t i, std::span<const uint64_t> outputs) {
    const Case& c = *cases[i];
    std::string wrong;
    for (size_t s = 0; s < all[i]->sets.size(); ++s) {
      const auto& set = all[i]->sets[s];
      const std::string expected = shown_values(c, set.outputs);
      const std::string got = shown_values(c, outputs.subspan(s * c.outputs.size(), c.outputs.size()));
      if (expected != got) wrong += formatted("{}: expected {}, got {}; ", set.origin, expected, got);
    }
    return wrong;
  };
  const auto verdicts = survey(cases, task);
  size_t agree = 0;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].empty())
      ++agree;
    else
      std::printf("%s\t%s\n", cases[i]->name.c_str(), verdicts[i].c_str());
  }
  std::printf("%zu of %zu forms agree\n", agree, cases.size());
  return good && agree == cases.size() ? 0 : 1;
}

bool understand(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto next = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (word == "--write" || word == "--check" || word == "--spellings") {
      options.mode = word, options.file = next();
    } else if (word == "--parse" || word == "--list") {
      options.mode = word;
    } else if (word == "--values") {
      options.mode = word;
    } else if (word == "--open") {
      options.open = next();
    } else if (word == "--forms") {
      options.forms = next();
    } else if (word == "--census") {
      options.census = next();
    } else if (word == "--refused") {
      options.refused = next();
    } else if (word == "--strange") {
      options.strange = true;
    } else if (word == "--shard") {
      const auto parts = cells_of(next(), '/');
      options.shard = static_cast<unsigned>(std::stoul(parts[0]));
      options.shards = static_cast<unsigned>(std::stoul(parts.at(1)));
    } else if (word == "--everything") {
      options.everything = true;
    } else if (!word.starts_with("--") && options.mode == "--values") {
      options.values.emplace_back(word);
    } else {
      return false;
    }
  }
  return !options.mode.empty();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!understand(argc, argv, options)) {
    std::fprintf(
        stderr,
        "ptx-golden --write FILE | --check FILE | --values FILE... | --spellings FILE | --parse | --list\n"
        "  [--census FILE] [--refused FILE] [--open FILE] [--forms REGEX] [--shard I/N] [--everything | --strange]\n");
    return 2;
  }
  if (options.mode == "--values") return check_values(options);
  if (options.mode == "--check") return check(options);
  if (options.mode == "--spellings") return check_spellings(options);
  std::vector<std::string> refused;
  for (const std::string& line : lines_of(options.refused)) refused.push_back(line.substr(0, line.find('\t')));
  const std::vector<Case> all =
      options.strange ? strange_cases() : all_cases(lines_of(options.census), refused, options.everything);
  const std::vector<const Case*> cases = chosen(all, options);
  if (options.mode == "--write") return write(options, cases);
  if (options.mode == "--parse") return parse(cases);
  for (const Case* c : cases) std::printf("%s\n", c->name.c_str());
  return 0;
}
