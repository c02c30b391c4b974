#include "cupola/air_command.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "backend/metal/metallib/check.h"
#include "cupola/air_report.h"
#include "cupola/code_file.h"
#include "cupolac/shell.h"

namespace cupola::tool {
namespace {

namespace fs = std::filesystem;

/// The program's place on PATH; empty if it is not there.
std::string found_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + program;
    if (fs::is_regular_file(file) && access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

/// A word that a shell takes as it is.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

/// What Apple's compiler finds, a line each; empty if nothing.
Result<std::vector<std::string>> ask_xcrun(const std::string& file) {
  const std::string xcrun = found_on_path("xcrun");
  if (xcrun.empty())
    return fail(ErrorCode::NotSupported,
                "--xcrun needs a Mac with Xcode: there is no xcrun on PATH; leave it out for Cupola's own checks");
  if (file == "-") return fail(ErrorCode::InvalidValue, "--xcrun needs a file, not standard input");
  const auto [status, text] = cupolac::run_shell(quoted(xcrun) + " -sdk macosx metal -validate " + quoted(file));
  std::vector<std::string> lines;
  if (status == 0) return lines;
  std::istringstream output(text);
  for (std::string line; std::getline(output, line);)
    if (!line.empty()) lines.push_back("xcrun metal: " + metallib::printable(line));
  if (lines.empty()) lines.push_back(formatted("xcrun metal: exit status {}", status));
  return lines;
}

}  // namespace

Result<> air_inspect(const AirInspectOptions& options) {
  TRY(const std::string contents, read_all(options.file));
  const auto library = metallib::read(std::as_bytes(std::span(contents)));
  if (!library) return fail(library.error().code, "'{}': {}", options.file, library.error().message);
  const std::string report = options.json ? air_json(*library, contents.size()) : air_text(*library, contents.size());
  std::fputs(report.c_str(), stdout);
  return {};
}

Result<int> air_validate(const AirValidateOptions& options) {
  TRY(const std::string contents, read_all(options.file));
  std::vector<std::string> problems, of_xcrun;
  size_t functions = 0;
  if (const auto library = metallib::read(std::as_bytes(std::span(contents)))) {
    problems = metallib::check(*library, {options.require_function_list, options.require_metadata});
    functions = library->functions.size();
  } else {
    problems = {library.error().message};
  }
  if (options.xcrun) {
    TRY(of_xcrun, ask_xcrun(options.file));
  }
  problems.insert(problems.end(), of_xcrun.begin(), of_xcrun.end());
  for (const std::string& problem : problems) std::printf("%s: %s\n", options.file.c_str(), problem.c_str());
  std::printf("%s: %zu functions, %zu problems\n", options.file.c_str(), functions, problems.size());
  return problems.empty() ? 0 : 1;
}

}  // namespace cupola::tool
