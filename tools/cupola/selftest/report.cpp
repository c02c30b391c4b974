#include "cupola/selftest/report.h"

#include <cstdio>

#include "cupola/json.h"

namespace cupola::tool::selftest {
namespace {

/// Words as one line.
std::string one_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

}  // namespace

void Report::fact(const std::string& name, const std::string& value) {
  facts_.emplace_back(name, value);
  if (prints_) std::printf("%-12s %s\n", name.c_str(), value.c_str());
}

void Report::begin(std::string_view form, const std::string& name) {
  form_ = form;
  name_ = name;
  if (!prints_) return;
  std::printf("%-4s %-46s ", form_.c_str(), name_.c_str());
  std::fflush(stdout);
}

void Report::end(const Result<std::string>& outcome) {
  ++(outcome ? passed_ : failed_);
  add(outcome ? "passed" : "FAILED", one_line(outcome ? *outcome : outcome.error().message));
}

void Report::not_run(std::string_view form, const std::string& name, const std::string& why) {
  begin(form, name);
  ++not_run_;
  add("not run", why);
}

void Report::add(std::string_view result, const std::string& words) {
  lines_.push_back({form_, name_, std::string(result), words});
  if (!prints_) return;
  std::printf("%s%s%s\n", lines_.back().result.c_str(), words.empty() ? "" : ": ", words.c_str());
  std::fflush(stdout);
}

std::string Report::summary() const {
  std::string device = "no device";
  for (const auto& [name, value] : facts_)
    if (name == "device") device = value;
  return formatted("selftest: {} passed, {} failed, {} not run on {}", passed_, failed_, not_run_, device);
}

std::string Report::json() const {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const auto& [name, value] : facts_) facts.emplace_back(name, json_string(value));
  std::vector<std::string> checks;
  for (const Line& line : lines_)
    checks.push_back(json_object({{"form", json_string(line.form)},
                                  {"name", json_string(line.name)},
                                  {"result", json_string(line.result == "FAILED" ? "failed" : line.result)},
                                  {"words", json_string(line.words)}}));
  return json_object({{"facts", json_object(facts)},
                      {"checks", json_array(checks)},
                      {"passed", std::to_string(passed_)},
                      {"failed", std::to_string(failed_)},
                      {"not_run", std::to_string(not_run_)}}) +
         "\n";
}

}  // namespace cupola::tool::selftest
