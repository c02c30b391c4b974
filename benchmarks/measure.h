#pragma once

// Timing for the bench programs: medians of repeated runs, printed one JSON object a line for ./bench to collect.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Median seconds of one call of `run` over `repeats` timed calls (at least 10), after one untimed call.
inline double median_seconds(const std::function<void()>& run, int repeats = 11) {
  run();
  std::vector<double> times;
  for (int i = 0; i < std::max(10, repeats); ++i) {
    double begin = now();
    run();
    times.push_back(now() - begin);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

/// Prints a result; a limit or baseline of 0 is left out. `details` is more of the JSON object.
inline void report(const std::string& name, double seconds, double limit_seconds,
                   const std::vector<std::pair<std::string, double>>& baselines, const std::string& details = "") {
  std::printf("{\"name\": \"%s\", \"seconds\": %.9g", name.c_str(), seconds);
  if (limit_seconds > 0) std::printf(", \"limit_seconds\": %.9g", limit_seconds);
  std::printf(", \"baselines\": {");
  const char* comma = "";
  for (const auto& [who, time] : baselines)
    if (time > 0) std::printf("%s\"%s\": %.9g", std::exchange(comma, ", "), who.c_str(), time);
  std::printf("}");
  std::printf("%s}\n", details.c_str());
  std::fflush(stdout);
}

inline void metric(const std::string& name, const std::string& json_value) {
  std::printf("{\"metric\": \"%s\", \"value\": %s}\n", name.c_str(), json_value.c_str());
  std::fflush(stdout);
}

}  // namespace bench
