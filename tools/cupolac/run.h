#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "cupolac/plan.h"

namespace cupola::cupolac {

/// A folder for files between the steps, deleted with all in it when this object goes; or a folder that is kept.
class Scratch {
 public:
  static Result<Scratch> temporary();
  static Result<Scratch> kept(const std::string& folder);
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();
  const std::string& path() const { return path_; }

 private:
  Scratch(std::string path, bool keep) : path_(std::move(path)), keep_(keep) {}
  std::string path_;
  bool keep_;
};

/// Prints "#$ command" for each step to standard error, as nvcc does for -dryrun; a shell can run the lines
/// when the scratch folder is one that is kept.
void print_plan(const Plan& plan);

/// Runs the steps, `threads` chains at a time, and stops starting new ones at the first that fails. Returns its exit
/// status, 128 + signal where a signal ended it, or 0. An interrupt from the terminal ends the running steps, then this
/// call.
int run_plan(const Plan& plan, unsigned threads, bool verbose);

}  // namespace cupola::cupolac
