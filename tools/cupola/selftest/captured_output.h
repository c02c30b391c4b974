#pragma once

#include <cstdio>
#include <string>

namespace cupola::tool::selftest {

/// Takes what the process writes to a file descriptor, in place of where it goes, as long as it lives.
class CapturedOutput {
 public:
  explicit CapturedOutput(int descriptor);
  ~CapturedOutput();
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  /// What was written so far.
  std::string text() const;

 private:
  const int descriptor_;
  int kept_ = -1;  ///< where it goes otherwise
  std::FILE* file_;
};

}  // namespace cupola::tool::selftest
