#include "cupola/explain_command.h"

#include <cstdio>

#include "cupola/code_file.h"
#include "cupolac/compiler_library.h"
#include "cupolac/plan.h"
#include "cupolac/run.h"

namespace cupola::tool {
namespace {

/// The program's kernels with their source lines, as a fat binary.
Result<> compile_to(const std::string& fatbin, const std::string& source, const std::vector<std::string>& flags,
                    const std::filesystem::path& root) {
  std::vector<std::string> command{(root / "bin" / "cupolac").string(), "-lineinfo", "-fatbin", source, "-o", fatbin};
  command.insert(command.end(), flags.begin(), flags.end());
  const int status = cupolac::run_plan({.chains = {{{"compile", std::move(command)}}}}, 1, false);
  if (status == 0) return {};
  return fail(ErrorCode::InvalidSource, "cupolac could not compile {}; its flags go behind the file's name", source);
}

}  // namespace

Result<> explain_command(const std::string& file, const std::vector<std::string>& flags,
                         const std::filesystem::path& root) {
  TRY(const cupolac::Scratch scratch, cupolac::Scratch::temporary());
  std::string code = file;
  if (file.ends_with(".cu")) {
    code = scratch.path() + "/kernels.fatbin";
    TRY(compile_to(code, file, flags, root));
  }
  TRY(CodeFile read, read_code_file(code, image::CodeKind::Kir));
  for (image::CodeUnit& unit : read.units) {
    TRY(const std::string text, cupolac::compile(root / "lib", {.target = "explain", .units = {std::move(unit)}}));
    std::fputs(text.c_str(), stdout);
  }
  return {};
}

}  // namespace cupola::tool
