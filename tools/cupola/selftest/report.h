#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupola::tool::selftest {

/// What a self-test found, printed as it goes on.
class Report {
 public:
  explicit Report(bool prints) : prints_(prints) {}

  /// A line about the machine.
  void fact(const std::string& name, const std::string& value);

  /// `form`: what kernels are in this check, "msl" or "air", or nothing. The check's name is printed before it begins,
  /// so that one which ends the process is known.
  void begin(std::string_view form, const std::string& name);
  void end(const Result<std::string>& outcome);
  /// One that cannot be run here, and why.
  void not_run(std::string_view form, const std::string& name, const std::string& why);

  int failed() const { return failed_; }
  /// "selftest: 60 passed, 0 failed, 2 not run on DEVICE"
  std::string summary() const;
  std::string json() const;

 private:
  struct Line {
    std::string form, name, result, words;
  };
  void add(std::string_view result, const std::string& words);

  const bool prints_;
  std::vector<std::pair<std::string, std::string>> facts_;
  std::vector<Line> lines_;
  std::string form_, name_;  ///< of the check that runs
  int passed_ = 0, failed_ = 0, not_run_ = 0;
};

}  // namespace cupola::tool::selftest
