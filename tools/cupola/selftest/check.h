#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "cupola/selftest/session.h"

namespace cupola::tool::selftest {

/// One thing that a device must do. It passes if nothing fails; what it says then is for people: figures, and the like.
struct Check {
  const char* name;  ///< "memory/copies"
  Result<std::string> (*run)(const Session& session);
};

std::span<const Check> memory_checks();
std::span<const Check> thread_checks();
std::span<const Check> arithmetic_checks();
std::span<const Check> error_checks();
std::span<const Check> speed_checks();

/// A launch that the system must end: it may disturb the display for some seconds, so that it runs only when asked for.
Result<std::string> check_watchdog(const Session& session);

/// Error: InvalidValue, with how many differ and the first that does.
template <typename T>
Result<> expect_same(const std::vector<T>& got, const std::vector<T>& expected, std::string_view what) {
  size_t different = 0, first = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    if (std::memcmp(&got[i], &expected[i], sizeof(T)) != 0 && different++ == 0) first = i;
  if (different == 0) return {};
  return fail(ErrorCode::InvalidValue, "{}: {} of {} differ; at {} there is {}, not {}", what, different,
              expected.size(), first, got[first], expected[first]);
}

/// Fails unless the call failed with this error of CUDA's.
Result<> expect_error(const Result<>& result, ErrorCode expected);

}  // namespace cupola::tool::selftest
