// The errors of approximate forms.
//
//   ptx-approximations golden.tsv approximations.tsv [--published FILE] [--table FILE] [--forms REGEX]
//   ptx-approximations golden.tsv --record approximations.tsv
//
// Runs every form of the golden file that has a bound in place of a hash, on the device at hand, with the golden file's
// operand sets and a dense sweep (sweeps.h). The outputs are judged by MPFR (approximations.h), and against what the
// reference answered: to the edge sets in the golden file, and to some 512 sets of all in approximations.tsv, which
// --record writes. The reference's answers are judged too. Prints "case FORM: ok" or "case FORM: FAILED" and the worst
// errors; --table writes them as "form, range, bound, source, worst error, operands of it, worst difference from the
// reference". With --published they must be the lines of that file.
//
// Only the driver API is used, so the same program measures an NVIDIA GPU.

#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "approximations.h"
#include "base/format.h"
#include "operands.h"
#include "survey.h"
#include "sweeps.h"

namespace {

using namespace cupola;
using namespace cupola::ptxtest;

struct Options {
  std::string golden, recorded, record, table, published, forms = ".*";
};

constexpr unsigned kRecorded = 512;  // sets

/// A form with what the reference answered.
struct Subject {
  struct Answer {
    unsigned set;
    uint64_t output;
  };
  Case made;
  std::vector<uint64_t> sweep;
  std::vector<Answer> reference;

  unsigned sets() const { return made.count() + static_cast<unsigned>(sweep.size() / made.inputs.size()); }
  unsigned recorded(unsigned i) const { return i * (sets() / kRecorded); }
  unsigned digits() const { return made.outputs[0].bits / 4; }
  std::vector<uint64_t> inputs(unsigned set) const {
    std::vector<uint64_t> operands;
    for (unsigned k = 0; k < made.inputs.size(); ++k)
      operands.push_back(set < made.count() ? operand_bits(made, set, k)
                                            : sweep[(set - made.count()) * made.inputs.size() + k]);
    return operands;
  }
};

std::vector<uint64_t> digits_of(const std::string& text, unsigned width) {
  std::vector<uint64_t> numbers;
  for (size_t at = 0; at + width <= text.size(); at += width) {
    uint64_t value = 0;
    std::from_chars(text.data() + at, text.data() + at + width, value, 16);
    numbers.push_back(value);
  }
  return numbers;
}

/// The first two columns of a file's lines; of the golden file's, those with a bound.
std::map<std::string, std::string> answers_in(const std::string& path) {
  std::map<std::string, std::string> answers;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find('\t'), second = line.find('\t', first + 1);
    if (line.empty() || line[0] == '#' || first == std::string::npos) continue;
    if (second == std::string::npos || line.substr(second + 1) == "~")
      answers[line.substr(0, first)] = line.substr(first + 1, second - first - 1);
  }
  return answers;
}

std::vector<Subject> subjects_of(const Options& options, bool& complete) {
  std::vector<Subject> subjects;
  const std::regex forms(options.forms);
  std::map<std::string, std::string> recorded = answers_in(options.recorded);
  for (const auto& [name, outputs] : answers_in(options.golden)) {
    if (!std::regex_search(name, forms)) continue;
    const std::vector<Case> cases = cases_of(name);
    if (cases.size() != 1 || (!options.recorded.empty() && !recorded.contains(name))) {
      std::printf(
          "case %s: FAILED\n  %s\n", name.c_str(),
          cases.size() != 1 ? "no row of isa.def yields this form" : "no answers of the reference are recorded");
      complete = false;
      continue;
    }
    Subject subject{.made = cases[0], .sweep = sweep_of(cases[0]), .reference = {}};
    unsigned set = 0;
    for (const uint64_t output : digits_of(outputs, subject.digits())) subject.reference.push_back({set++, output});
    set = 0;
    for (const uint64_t output : digits_of(recorded[name], subject.digits()))
      subject.reference.push_back({subject.recorded(set++), output});
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

std::string shown(std::span<const uint64_t> operands, unsigned bits) {
  std::string text;
  for (const uint64_t operand : operands) text += formatted("{}{:0{}x}", text.empty() ? "" : ",", operand, bits / 4);
  return text;
}

/// The worst error under each bound, and the first output that is wrong.
class Tally {
 public:
  explicit Tally(const Subject& subject) : subject_(subject) {}

  void judge(std::string_view whose, unsigned set, uint64_t output) {
    const std::vector<uint64_t> operands = subject_.inputs(set);
    for (unsigned element = 0; element < elements_of(subject_.made); ++element)
      take(judged(subject_.made, operands, output, element), whose, operands, worst_);
  }
  void compare(unsigned set, uint64_t reference, uint64_t output) {
    const std::vector<uint64_t> operands = subject_.inputs(set);
    for (unsigned element = 0; element < elements_of(subject_.made); ++element)
      take(compared(subject_.made, operands, reference, output, element), "from the reference, ", operands, apart_);
  }

  std::string wrong() const {
    return wrong_ ? formatted("{} wrong, the first: {}", wrong_, first_wrong_) : std::string();
  }
  /// A line of the table for each bound.
  std::vector<std::string> rows() const {
    std::vector<std::string> made;
    for (const auto& [bound, worst] : worst_) {
      const auto apart = apart_.find(bound);
      made.push_back(formatted("{}\t{}\t{}\t{}\t{}\t{}\t{}", subject_.made.name, bound->range, bound->text(),
                               bound->source, bound->text(worst.first), worst.second,
                               apart == apart_.end() ? "0" : bound->text(apart->second.first)));
    }
    return made;
  }

 private:
  using Worst = std::map<const Bound*, std::pair<double, std::string>>;  // all point into one table, in its order

  void take(const Judgement& judgement, std::string_view whose, std::span<const uint64_t> operands, Worst& worst) {
    const auto at = [&] { return shown(operands, subject_.made.inputs[0].bits); };
    if (!judgement.wrong.empty() && wrong_++ == 0) first_wrong_ = formatted("{}({}): {}", whose, at(), judgement.wrong);
    if (!judgement.error) return;
    const auto [known, fresh] = worst.try_emplace(judgement.bound, -HUGE_VAL, "");
    if (fresh || *judgement.error > known->second.first) known->second = {*judgement.error, at()};
  }

  const Subject& subject_;
  Worst worst_, apart_;
  size_t wrong_ = 0;
  std::string first_wrong_;
};

/// "WRONG|row|row ..." of a form's outputs.
std::string verdict_of(const Subject& subject, std::span<const uint64_t> outputs) {
  Tally ours(subject), theirs(subject);
  for (unsigned set = 0; set < subject.sets(); ++set) ours.judge("", set, outputs[set]);
  for (const Subject::Answer& answer : subject.reference) {
    theirs.judge("the reference, ", answer.set, answer.output);
    ours.compare(answer.set, answer.output, outputs[answer.set]);
  }
  std::string text = theirs.wrong() + ours.wrong();
  for (const std::string& row : ours.rows()) text += "|" + row;
  return text;
}

/// The digits of the recorded sets.
std::string recording_of(const Subject& subject, std::span<const uint64_t> outputs) {
  std::string text;
  for (unsigned i = 0; i < kRecorded; ++i) text += formatted("{:0{}x}", outputs[subject.recorded(i)], subject.digits());
  return text;
}

std::vector<std::string> verdicts_of(const std::vector<Subject>& subjects, const Options& options) {
  std::vector<const Case*> cases;
  for (const Subject& subject : subjects) cases.push_back(&subject.made);
  Task task;
  task.sets = [&](size_t i) { return subjects[i].sets(); };
  task.inputs = [&](size_t i) {
    std::vector<uint64_t> inputs;
    for (unsigned set = 0; set < subjects[i].sets(); ++set)
      for (const uint64_t operand : subjects[i].inputs(set)) inputs.push_back(operand);
    return inputs;
  };
  task.verdict = [&](size_t i, std::span<const uint64_t> outputs) {
    return options.record.empty() ? verdict_of(subjects[i], outputs) : recording_of(subjects[i], outputs);
  };
  return survey(cases, task);
}

/// Prints a form's verdict and gathers the rows of its errors; false where something is wrong.
bool report(const Subject& subject, const std::string& verdict, std::vector<std::string>& rows) {
  size_t at = verdict.find('|');
  const std::string wrong = verdict.substr(0, at);
  std::printf("case %s: %s\n", subject.made.name.c_str(), wrong.empty() ? "ok" : "FAILED");
  if (!wrong.empty()) std::printf("  %s\n", wrong.c_str());
  while (at != std::string::npos) {
    const size_t end = verdict.find('|', at + 1);
    const std::string row = verdict.substr(at + 1, end == std::string::npos ? end : end - at - 1);
    std::printf("  %s\n", row.c_str());
    rows.push_back(row);
    at = end;
  }
  return wrong.empty();
}

/// What of a row is the same on every processor: quotients and roots of f32 come from its own estimates, so that their
/// errors are published as one processor has them.
std::string lasting(const std::string& row) {
  static const std::regex kEstimated("(div|rcp|r?sqrt)\\.(approx|full)(\\.ftz)?\\.f32\t.*");
  if (!std::regex_match(row, kEstimated)) return row;
  size_t end = 0;
  for (int field = 0; field < 4; ++field) end = row.find('\t', end) + 1;
  return row.substr(0, end);
}

/// Every row is a line of the file, and no line is left over.
bool is_published(const std::vector<std::string>& rows, const std::string& path) {
  std::ifstream file(path);
  std::set<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.insert(lasting(line));
  std::vector<std::string> fresh;
  for (const std::string& row : rows)
    if (lines.erase(lasting(row)) == 0) fresh.push_back(row);
  const bool good = fresh.empty() && lines.empty();
  std::printf("case errors-are-as-published: %s\n", good ? "ok" : "FAILED");
  for (const std::string& row : fresh) std::printf("  found: %s\n", row.c_str());
  for (const std::string& line : lines) std::printf("  published: %s\n", line.c_str());
  if (!good)
    std::printf("  write the file anew: ptx-approximations ... --table %s, then ./features --readme\n", path.c_str());
  return good;
}

/// Outputs of an H200 that break a documented bound by a hair: a judge that lets them pass is of no use.
bool notices_known_breaks() {
  struct Break {
    const char* form;
    uint64_t operand, output;
  };
  constexpr Break kBreaks[] = {{"ex2.approx.f32", 0xc2962804, 0x19f28025},
                               {"cos.approx.f32", 0xc0a194ab, 0x3ea94cf0},
                               {"tanh.approx.bf16", 0x3f3f, 0x3f21}};
  bool good = true;
  for (const Break& known : kBreaks)
    good &= !out_of_bound(cases_of(known.form).at(0), {&known.operand, 1}, known.output).empty();
  std::printf("case judge-notices-known-breaks: %s\n", good ? "ok" : "FAILED");
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--table" && has_value)
      options.table = argv[++i];
    else if (word == "--published" && has_value)
      options.published = argv[++i];
    else if (word == "--forms" && has_value)
      options.forms = argv[++i];
    else if (word == "--record" && has_value)
      options.record = argv[++i];
    else
      (options.golden.empty() ? options.golden : options.recorded) = word;
  }
  bool good = true;
  const std::vector<Subject> subjects = subjects_of(options, good);
  const std::vector<std::string> verdicts = verdicts_of(subjects, options);
  if (verdicts.empty()) return 1;
  if (!options.record.empty()) {
    std::ofstream file(options.record);
    for (size_t i = 0; i < verdicts.size(); ++i) file << subjects[i].made.name << "\t" << verdicts[i] << "\n";
    return good ? 0 : 1;
  }
  good &= notices_known_breaks();
  std::vector<std::string> rows;
  for (size_t i = 0; i < verdicts.size(); ++i) good &= report(subjects[i], verdicts[i], rows);
  if (!options.table.empty()) {
    std::ofstream table(options.table);
    for (const std::string& row : rows) table << row << "\n";
  }
  if (!options.published.empty()) good &= is_published(rows, options.published);
  return good ? 0 : 1;
}
