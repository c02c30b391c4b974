#include "cupola/trace_command.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "cupola/program_run.h"
#include "cupola/trace_report.h"

namespace cupola::tool {
namespace {

namespace fs = std::filesystem;

constexpr int kCannotRun = 127;  // as shells say it

/// Runs the program and waits. An interrupt from the terminal is the program's: the trace is wanted all the more.
Result<int> run_and_wait(const std::vector<std::string>& command, const fs::path& libraries, const fs::path& raw) {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  const pid_t child = fork();
  if (child < 0) return fail(ErrorCode::OperatingSystem, "fork: {}", std::strerror(errno));
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGQUIT, SIG_DFL);
    setenv("CUPOLA_TRACE", raw.c_str(), 1);
    const Error error = run_program(command, libraries);
    std::fprintf(stderr, "cupola: %s\n", error.message.c_str());
    _exit(kCannotRun);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    std::fprintf(stderr, "cupola: the program was ended by signal %d (%s)\n", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    return 128 + WTERMSIG(status);
  }
  return WEXITSTATUS(status);
}

Result<> report(const fs::path& raw, const TraceOptions& options) {
  std::vector<TraceEvent> events;
  if (std::error_code error; fs::file_size(raw, error) != 0) {  // else nobody wrote
    TRY(events, read_trace(raw));
  }
  if (!(std::ofstream(options.output, std::ios::binary) << trace_json(events, options.nested) << std::flush))
    return fail(ErrorCode::OperatingSystem, "cannot write '{}': {}", options.output.string(), std::strerror(errno));
  std::fprintf(stderr, "\n%s\ncupola: %s holds the trace; open it at https://ui.perfetto.dev\n",
               trace_summary(events).c_str(), options.output.c_str());
  return {};
}

}  // namespace

Result<int> trace_command(const TraceOptions& options, const std::vector<std::string>& command,
                          const fs::path& libraries) {
  if (!options.read.empty()) {
    TRY(report(options.read, options));
    return 0;
  }
  // Beside the result, where there is room for it; an absolute path, because the program may change its folder.
  std::string raw = fs::absolute(options.output).string() + ".XXXXXX";
  const int descriptor = mkstemp(raw.data());
  if (descriptor < 0)
    return fail(ErrorCode::OperatingSystem, "cannot write beside '{}': {}", options.output.string(),
                std::strerror(errno));
  close(descriptor);
  const Result<int> status = run_and_wait(command, libraries, raw);
  std::error_code error;
  const bool ran = status && (*status != kCannotRun || fs::file_size(raw, error) != 0);
  const Result<> reported = ran ? report(raw, options) : Result<>{};
  unlink(raw.c_str());
  if (!reported) return std::unexpected(reported.error());
  return status;
}

}  // namespace cupola::tool
