#include "cupola/selftest/selftest_command.h"

#include <sys/utsname.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/file.h"
#include "cupola/code_file.h"
#include "cupola/selftest/check.h"
#include "cupola/selftest/metal_checks.h"
#include "cupola/selftest/nvvm_check.h"
#include "cupola/selftest/report.h"
#include "cupolac/compiler_library.h"
#include "cupolac/shell.h"

namespace cupola::tool {
namespace {

namespace fs = std::filesystem;
using namespace selftest;

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

[[maybe_unused]] std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string system_name() {
  utsname name{};
  uname(&name);
#if defined(__APPLE__)
  return formatted("macOS {} ({}), {}", first_line(cupolac::run_shell("sw_vers -productVersion").text),
                   first_line(cupolac::run_shell("sw_vers -buildVersion").text),
                   first_line(cupolac::run_shell("sysctl -n machdep.cpu.brand_string").text));
#else
  return formatted("{} {}, {}", name.sysname, name.release, name.machine);
#endif
}

/// Every group on one form of the kernels.
void run_checks(Report& report, std::string_view form, const Session& session, const SelftestOptions& options,
                const std::optional<std::string>& no_watchdog) {
  for (const auto& group : {memory_checks(), thread_checks(), arithmetic_checks(), error_checks(), speed_checks()})
    for (const Check& check : group) {
      report.begin(form, check.name);
      report.end(check.run(session));
    }
  constexpr const char* kWatchdog = "errors/time-out";
  if (no_watchdog) return report.not_run(form, kWatchdog, *no_watchdog);
  if (!options.watchdog)
    return report.not_run(form, kWatchdog, "--watchdog runs it: the system ends it after some seconds");
  report.begin(form, kWatchdog);
  report.end(check_watchdog(session));
}

/// Why there is no time-out; the software Metal's line says so, for a test of its own shows how one is told.
std::optional<std::string> no_watchdog(const std::string& device) {
  if (!device.starts_with("Cupola Metal")) return "this device has no time limit";
  if (is_software_metal(device)) return "the software Metal has no time limit";
  return std::nullopt;
}

void add_facts(Report& report, const Session& session, const std::string& device) {
  report.fact("device", device);
  if (is_software_metal(device))
    report.fact("note", "this is no GPU: it shows that these checks work, and nothing about a Mac");
  report.fact("system", system_name());
  constexpr std::pair<int, const char*> kAttributes[] = {
      {1, "threads of a block"}, {8, "shared memory"}, {10, "warp"}, {16, "multiprocessors"}};
  std::string text;
  for (const auto& [number, name] : kAttributes)
    if (const Result<int> value = session.attribute(number))
      text += formatted("{}{} {}", text.empty() ? "" : ", ", name, *value);
  size_t free = 0, total = 0;
  if (session.call("cuMemGetInfo_v2", &free, &total)) text += formatted(", {} MiB of memory", total >> 20);
  report.fact("facts", text);
}

/// The kernels in one form; the session's failure is a failed check.
void run_form(Report& report, std::string_view form, const fs::path& libraries, const Bytes& module,
              const SelftestOptions& options, bool with_facts) {
  const Result<Session> session = Session::open(libraries, module);
  if (!session) {
    report.begin(form, "module/load");
    report.end(fail(session.error()));
    return;
  }
  const std::string device = session->device_name().value_or("?");
  if (with_facts) add_facts(report, *session, device);
  report.begin(form, "module/load");
  report.end("");
  run_checks(report, form, *session, options, no_watchdog(device));
}

}  // namespace

Result<int> selftest_command(const SelftestOptions& options, const fs::path& root) {
  if (!options.device.empty()) setenv("CUPOLA_DEVICE", options.device.c_str(), 1);
  setenv("CUPOLA_METAL", "msl", 1);  // the first form; the other is loaded as it is
  const char* const chosen = std::getenv("CUPOLA_DEVICE");
  const bool metal = chosen && std::string_view(chosen) == "metal";
  const fs::path file = root / "lib" / "cupola" / "selftest.fatbin";
  TRY(const std::string kernels, read_file(file.string()));

  Report report(options.json != "-");
  report.fact("cupola", CUPOLA_VERSION);
  run_form(report, metal ? "msl" : "", root / "lib", bytes_of(kernels), options, true);
  if (metal) {
    TRY(CodeFile code, read_code_file(file.string(), image::CodeKind::Kir));
    report.begin("air", "container/make");
    const Result<std::string> container = cupolac::compile(root / "lib", {.target = "metallib", .units = code.units});
    report.end(container ? Result<std::string>(formatted("{} bytes", container->size())) : fail(container.error()));
    if (container) {
      check_container(report, bytes_of(*container), root);
      run_form(report, "air", root / "lib", bytes_of(*container), options, false);
      check_with_xcode(report, *container, code.units, root);
    }
  }
  report.begin("", "libraries/nvvm");
  report.end(check_nvvm(root / "lib"));

  if (options.json == "-")
    std::fputs(report.json().c_str(), stdout);
  else
    std::printf("%s\n", report.summary().c_str());
  if (!options.json.empty() && options.json != "-") {
    const std::string text = report.json();
    TRY(write_file(options.json, std::as_bytes(std::span(text))));
  }
  return report.failed() == 0 ? 0 : 1;
}

}  // namespace cupola::tool
