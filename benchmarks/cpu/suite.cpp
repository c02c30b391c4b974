#include "suite.h"

#include <cstdio>
#include <memory>
#include <thread>

#include "../measure.h"

namespace bench {
namespace {

/// Quantile q of the times, which are sorted.
double quantile(const std::vector<double>& times, double q) {
  return times[static_cast<size_t>(q * static_cast<double>(times.size() - 1) + 0.5)];
}

struct Snapshot {
  explicit Snapshot(const Output& output) : bytes(new char[output.bytes]) {
    std::memcpy(bytes.get(), output.data, output.bytes);
  }
  std::unique_ptr<char[]> bytes;
};

}  // namespace

double Suite::limit_seconds(const Work& work) const {
  return std::max({work.bytes / machine_.bytes, work.flops / machine_.flops,
                   work.integer_operations / machine_.integer_operations});
}

/// Runs every version once and compares its outputs with the first one's, the natural loops. A wrong OpenCL version is
/// dropped; another one fails the program.
bool Suite::check(const std::string& name, const std::vector<Output>& outputs, const std::function<void()>& prepare,
                  std::vector<Version>& versions) {
  std::vector<Snapshot> expected;
  const auto wrong = [&](Version& version) -> std::string {
    for (const Output& output : outputs) std::memset(output.data, 0xff, output.bytes);  // no result is left from before
    if (prepare) prepare();
    version.run();
    if (!error_.empty()) return std::exchange(error_, {});
    if (version.name == "pocl" && !opencl_.error().empty()) return opencl_.error();
    if (expected.empty()) {
      for (const Output& output : outputs) expected.emplace_back(output);
      return {};
    }
    for (size_t i = 0; i < outputs.size(); ++i)
      if (std::string why = outputs[i].difference(expected[i].bytes.get()); !why.empty()) return why;
    return {};
  };
  bool right = true;
  std::erase_if(versions, [&](Version& version) {
    const std::string why = wrong(version);
    if (why.empty()) return false;
    std::fprintf(stderr, "%s: %s: %s\n", name.c_str(), version.name.c_str(), why.c_str());
    right = right && version.name == "pocl";
    return version.name != "ours";
  });
  return right;
}

void Suite::compare(const std::string& name, const std::string& trait, const Work& work,
                    const std::vector<Output>& outputs, const std::function<void()>& prepare,
                    std::vector<Version> versions, const std::vector<std::function<void()>>& limits) {
  if (!check(name, outputs, prepare, versions)) failed_ = true;
  for (const std::function<void()>& move : limits) versions.push_back({"limit", move});
  for (int round = 0; round < rounds_; ++round)
    for (Version& version : versions) {
      if (prepare) prepare();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the workers of the version before go to sleep
      const double begin = clock_();
      version.run();
      version.times.push_back(clock_() - begin);
    }
  opencl_.forget_buffers();

  double ours = 0, limit = limits.empty() ? limit_seconds(work) : HUGE_VAL;
  std::string details = trait.empty() ? "" : ", \"trait\": \"" + trait + "\"";
  details += ", \"versions\": {";
  std::vector<std::pair<std::string, double>> results;
  for (Version& version : versions) {
    std::sort(version.times.begin(), version.times.end());
    const double median = quantile(version.times, 0.5);
    if (version.name == "limit") {
      limit = std::min(limit, median);
      continue;
    }
    char line[160];
    std::snprintf(line, sizeof line, "%s\"%s\": {\"seconds\": %.6g, \"quartiles\": [%.6g, %.6g]}",
                  &version == versions.data() ? "" : ", ", version.name.c_str(), median, quantile(version.times, 0.25),
                  quantile(version.times, 0.75));
    details += line;
    if (version.name == "ours")
      ours = median;
    else if (!version.name.starts_with("omp_") || version.name == "omp_expert")
      results.emplace_back(version.name, median);
    else if (!results.empty() && results[0].first == "omp")
      results[0].second = std::min(results[0].second, median);
    else
      results.insert(results.begin(), {"omp", median});
  }
  report(name, ours, limit, results, details + "}");
}

}  // namespace bench
