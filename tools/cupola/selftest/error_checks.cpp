#include <unistd.h>

#include "cupola/selftest/captured_output.h"
#include "cupola/selftest/check.h"

// What kernels print, and how they fail. A kernel that fails breaks its context, so that each has one of its own.

namespace cupola::tool::selftest {
namespace {

Result<std::string> prints(const Session& session) {
  std::string text;
  {
    const CapturedOutput output(STDOUT_FILENO);
    TRY(session.run("say", {{1}, {2}}, 5));
    text = output.text();
  }
  constexpr std::string_view kRest = " of the self-test: 2.500 123456789abc x\n";
  for (const std::string_view thread : {"thread 0", "thread 1"})
    if (!text.contains(std::string(thread) + std::string(kRest)))
      return fail(ErrorCode::InvalidValue, "printed was '{}'", text);
  return "";
}

Result<std::string> assertions(const Session& session) {
  TRY(const Session own, session.apart());
  std::string text;
  {
    const CapturedOutput output(STDERR_FILENO);
    TRY(const Memory value, own.zeroes<uint32_t>(1));
    TRY(expect_error(own.run("claim", {{2}, {32}}, value.address()), ErrorCode::Assert));
    text = output.text();
  }
  if (!text.contains("Assertion `*value == 1` failed.") || !text.contains("block: ["))
    return fail(ErrorCode::InvalidValue, "printed was '{}'", text);
  return "";
}

/// The context is broken afterwards, and others go on.
Result<std::string> traps(const Session& session) {
  const CapturedOutput words(STDERR_FILENO);
  {
    TRY(const Session own, session.apart());
    TRY(expect_error(own.run("stop", {{1}, {32}}), ErrorCode::LaunchFailed));
    TRY(expect_error(own.call("cuCtxSynchronize"), ErrorCode::LaunchFailed));
  }
  TRY(session.run("nothing", {{1}, {1}}));
  return "";
}

Result<std::string> wild_addresses(const Session& session) {
  const CapturedOutput words(STDERR_FILENO);
  TRY(const Session own, session.apart());
  TRY(expect_error(own.run("store_at", {{1}, {1}}, uint64_t{0x10}), ErrorCode::IllegalAddress));
  return "";
}

Result<std::string> limits(const Session& session) {
  const CapturedOutput words(STDERR_FILENO);
  TRY(expect_error(session.run("nothing", {{1}, {2048}}), ErrorCode::InvalidValue));
  TRY(expect_error(session.run("nothing", {{1}, {1}, 1u << 20}), ErrorCode::InvalidValue));
  TRY(expect_error(session.run("no such kernel", {{1}, {1}}), ErrorCode::NotFound));
  return "";
}

constexpr Check kChecks[] = {
    {"errors/printf", prints}, {"errors/assert", assertions},
    {"errors/trap", traps},    {"errors/wild address", wild_addresses},
    {"errors/limits", limits},
};

}  // namespace

std::span<const Check> error_checks() {
  return kChecks;
}

Result<> expect_error(const Result<>& result, ErrorCode expected) {
  if (!result && result.error().code == expected) return {};
  return fail(ErrorCode::InvalidValue, "error {} was expected; {}", static_cast<int>(expected),
              result ? "there was none" : result.error().message);
}

Result<std::string> check_watchdog(const Session& session) {
  const CapturedOutput words(STDERR_FILENO);
  TRY(const Session own, session.apart());
  TRY(const Memory word, own.zeroes<uint32_t>(1));
  TRY(expect_error(own.run("endless", {{1}, {1}}, word.address()), ErrorCode::LaunchTimeout));
  return "";
}

}  // namespace cupola::tool::selftest
