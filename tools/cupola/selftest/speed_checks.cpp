#include <chrono>

#include "cupola/selftest/check.h"

// Figures, for people to compare; nothing here fails for being slow.

namespace cupola::tool::selftest {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Result<std::string> launches(const Session& session) {
  constexpr int kTimes = 200;
  TRY(session.run("nothing", {{1}, {1}}));
  const auto begin = Clock::now();
  for (int i = 0; i < kTimes; ++i) TRY(session.start("nothing", {{1}, {1}}));
  TRY(session.call("cuCtxSynchronize"));
  const double together = seconds_since(begin);
  const auto again = Clock::now();
  for (int i = 0; i < kTimes; ++i) TRY(session.run("nothing", {{1}, {1}}));
  return formatted("{:.1f} us each in a row, {:.1f} us each when waited for", together / kTimes * 1e6,
                   seconds_since(again) / kTimes * 1e6);
}

Result<std::string> copies(const Session& session) {
  constexpr int kRows = 1 << 16, kTimes = 5;  // of 16 bytes: small enough for a double of a GPU
  TRY(const Memory in, session.zeroes<uint32_t>(kRows * 4));
  TRY(const Memory out, session.zeroes<uint32_t>(kRows * 4));
  TRY(session.run("copy", {{64}, {256}}, in.address(), out.address(), kRows));
  const auto begin = Clock::now();
  for (int i = 0; i < kTimes; ++i) TRY(session.start("copy", {{64}, {256}}, in.address(), out.address(), kRows));
  TRY(session.call("cuCtxSynchronize"));
  return formatted("{:.2f} GB/s read and written, 1 MiB at a time",
                   2.0 * 16 * kRows * kTimes / seconds_since(begin) / 1e9);
}

constexpr Check kChecks[] = {{"speed/launches", launches}, {"speed/copy kernel", copies}};

}  // namespace

std::span<const Check> speed_checks() {
  return kChecks;
}

}  // namespace cupola::tool::selftest
