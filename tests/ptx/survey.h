#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cases.h"

namespace cupola::ptxtest {

/// What to do with each case: the operand sets it runs on, and what its outputs are to say of it in one line.
struct Task {
  std::function<std::vector<uint64_t>(size_t index)> inputs;  ///< 64 bits an operand, set after set
  std::function<unsigned(size_t index)> sets;
  std::function<std::string(size_t index, std::span<const uint64_t> outputs)> verdict;
  std::function<void(size_t index, const std::string& verdict)> report = {};  ///< called as soon as a line is known
};

/// A line for each case, in order: the task's verdict, or kRefused, kFailed and why.
///
/// The cases run in a child process, many to a module. A case that ends the process or takes too long is
/// reported and the survey goes on behind it; nothing of the driver lives in this process.
std::vector<std::string> survey(std::span<const Case* const> cases, const Task& task);

constexpr std::string_view kRefused = "refused: ";  ///< the module doesn't load
constexpr std::string_view kFailed = "failed: ";    ///< the launch fails

}  // namespace cupola::ptxtest
