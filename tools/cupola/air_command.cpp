#include "cupola/air_command.h"

#include <cstdio>
#include <sstream>

#include "backend/metal/metallib/check.h"
#include "cupola/air_report.h"
#include "cupola/code_file.h"
#include "cupola/xcrun.h"
#include "cupolac/shell.h"

namespace cupola::tool {
namespace {

/// What Apple's compiler finds, a line each; empty if nothing.
Result<std::vector<std::string>> ask_xcrun(const std::string& file) {
  TRY(const std::string xcrun, find_xcrun("--xcrun", "leave it out for Cupola's own checks"));
  if (file == "-") return fail(ErrorCode::InvalidValue, "--xcrun needs a file, not standard input");
  const auto [status, text] =
      cupolac::run_shell(shell_word(xcrun) + " -sdk macosx metal -validate " + shell_word(file));
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
