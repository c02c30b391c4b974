#pragma once

#include <string>

#include "base/format.h"
#include "base/steady_clock.h"

namespace cupola::cpu::build {

/// How long the stages of something took, one after the other from here on.
class Stages {
 public:
  /// The stage that has been going on is over.
  void end(const char* name) {
    const uint64_t now = steady_nanoseconds();
    text_ += formatted("{}{} {:.1f}", text_.empty() ? "" : ", ", name, static_cast<double>(now - last_) * 1e-6);
    last_ = now;
  }

  /// "parse 1.2, check 0.3": in milliseconds.
  const std::string& text() const { return text_; }

 private:
  uint64_t last_ = steady_nanoseconds();
  std::string text_;
};

}  // namespace cupola::cpu::build
