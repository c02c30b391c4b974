#include "cupola/compiled_code.h"

#include "cupolac/plan.h"
#include "cupolac/run.h"

namespace cupola::tool {
namespace {

/// The program's kernels with their source lines, as a fat binary.
Result<> compile_to(const std::string& fatbin, const std::string& source, const std::vector<std::string>& flags,
                    const std::filesystem::path& root) {
  const std::filesystem::path cupolac = root / "bin" / "cupolac";
  if (!std::filesystem::exists(cupolac))  // the Python package brings none
    return fail(ErrorCode::NotSupported,
                "{} is CUDA C++ and there is no cupolac at {}; give PTX, or install Cupola whole", source,
                cupolac.string());
  std::vector<std::string> command{cupolac.string(), "-lineinfo", "-fatbin", source, "-o", fatbin};
  command.insert(command.end(), flags.begin(), flags.end());
  const int status = cupolac::run_plan({.chains = {{{"compile", std::move(command)}}}}, 1, false);
  if (status == 0) return {};
  return fail(ErrorCode::InvalidSource, "cupolac could not compile {}; its flags go behind the file's name", source);
}

}  // namespace

Result<CodeFile> compiled_code(const std::string& file, const std::vector<std::string>& flags,
                               const std::filesystem::path& root) {
  if (!file.ends_with(".cu")) {
    if (!flags.empty())
      return fail(ErrorCode::InvalidValue, "'{}' is no option; cupolac's go behind a .cu file, and {} is none",
                  flags.front(), file);
    return read_code_file(file, image::CodeKind::Kir);
  }
  TRY(const cupolac::Scratch scratch, cupolac::Scratch::temporary());
  const std::string fatbin = scratch.path() + "/kernels.fatbin";
  TRY(compile_to(fatbin, file, flags, root));
  return read_code_file(fatbin, image::CodeKind::Kir);
}

}  // namespace cupola::tool
