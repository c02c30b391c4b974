#include "cupola/air_command.h"

#include <cstdio>
#include <sstream>

#include "backend/metal/host/try_library.h"
#include "backend/metal/metallib/check.h"
#include "cupola/air_report.h"
#include "cupola/code_file.h"
#include "cupola/software_metal.h"
#include "cupolac/lists.h"
#include "cupolac/shell.h"
#include "cupolac/xcrun.h"

namespace cupola::tool {
namespace {

/// What Apple's compiler finds, a line each; empty if nothing.
Result<std::vector<std::string>> ask_xcrun(const std::string& file) {
  TRY(const std::string xcrun, cupolac::find_xcrun("--xcrun", "leave it out for Cupola's own checks"));
  if (file == "-") return fail(ErrorCode::InvalidValue, "--xcrun needs a file, not standard input");
  const auto [status, text] =
      cupolac::run_shell(cupolac::shell_word(xcrun) + " -sdk macosx metal -validate " + cupolac::shell_word(file));
  std::vector<std::string> lines;
  if (status == 0) return lines;
  std::istringstream output(text);
  for (std::string line; std::getline(output, line);)
    if (!line.empty()) lines.push_back("xcrun metal: " + metallib::printable(line));
  if (lines.empty()) lines.push_back(formatted("xcrun metal: exit status {}", status));
  return lines;
}

/// What Metal refuses, a line each. Says whose Metal it is, and what it takes.
Result<std::vector<std::string>> ask_metal(const std::string& file, const std::string& contents,
                                           const std::filesystem::path& root) {
  std::vector<std::string> names, lines;
  if (const auto library = metallib::read(std::as_bytes(std::span(contents))))
    for (const metallib::Function& function : library->functions)
      if (function.kind == metallib::FunctionKind::Kernel) names.push_back(function.name);
  use_software_metal(root);
  TRY(const metal::TriedLibrary tried, metal::try_library(std::as_bytes(std::span(contents)), names));
  const std::string whose = formatted("Metal ({})", tried.device);
  if (!tried.refusal.empty()) lines.push_back(formatted("{}: {}", whose, metallib::printable(tried.refusal)));
  size_t taken = 0;
  for (const metal::TriedKernel& kernel : tried.kernels) {
    if (kernel.refusal.empty())
      ++taken;
    else
      lines.push_back(
          formatted("{}: '{}': {}", whose, metallib::printable(kernel.name), metallib::printable(kernel.refusal)));
  }
  std::printf("%s: %s makes pipelines of %zu of %zu kernels\n", file.c_str(), whose.c_str(), taken, names.size());
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

Result<int> air_validate(const AirValidateOptions& options, const std::filesystem::path& root) {
  TRY(const std::string contents, read_all(options.file));
  std::vector<std::string> problems, of_xcrun, of_metal;
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
  if (options.load) {
    TRY(of_metal, ask_metal(options.file, contents, root));
  }
  problems.insert(problems.end(), of_xcrun.begin(), of_xcrun.end());
  problems.insert(problems.end(), of_metal.begin(), of_metal.end());
  for (const std::string& problem : problems) std::printf("%s: %s\n", options.file.c_str(), problem.c_str());
  std::printf("%s: %zu functions, %zu problems\n", options.file.c_str(), functions, problems.size());
  return problems.empty() ? 0 : 1;
}

}  // namespace cupola::tool
