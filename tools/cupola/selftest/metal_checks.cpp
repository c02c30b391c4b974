#include "cupola/selftest/metal_checks.h"

#include "backend/metal/host/try_library.h"
#include "backend/metal/metallib/check.h"
#include "base/file.h"
#include "cupola/software_metal.h"
#include "cupolac/compiler_library.h"
#include "cupolac/lists.h"
#include "cupolac/run.h"
#include "cupolac/shell.h"
#include "cupolac/xcrun.h"

namespace cupola::tool::selftest {
namespace {

using Container = std::span<const std::byte>;

Result<std::vector<std::string>> kernels_of(Container container) {
  TRY(const metallib::Library library, metallib::read(container));
  std::vector<std::string> names;
  for (const metallib::Function& function : library.functions)
    if (function.kind == metallib::FunctionKind::Kernel) names.push_back(function.name);
  return names;
}

Result<std::string> valid(Container container) {
  TRY(const metallib::Library library, metallib::read(container));
  const std::vector<std::string> problems = metallib::check(library, {true, true});
  if (problems.empty()) return formatted("{} functions", library.functions.size());
  return fail(ErrorCode::InvalidImage, "{} problems: {}", problems.size(), problems.front());
}

/// newLibraryWithData:, a pipeline of each kernel, SIMD groups of 32.
Result<std::string> loaded(Container container) {
  TRY(const std::vector<std::string> names, kernels_of(container));
  TRY(const metal::TriedLibrary tried, metal::try_library(container, names));
  if (!tried.refusal.empty()) return fail(ErrorCode::InvalidImage, "{}", tried.refusal);
  uint64_t least = UINT64_MAX;
  for (const metal::TriedKernel& kernel : tried.kernels) {
    if (!kernel.refusal.empty()) return fail(ErrorCode::InvalidImage, "{}: {}", kernel.name, kernel.refusal);
    if (kernel.simd_width != 32)
      return fail(ErrorCode::NotSupported, "{}: {} threads run in step, not 32", kernel.name, kernel.simd_width);
    least = std::min(least, kernel.max_threads);
  }
  return formatted("{} pipelines, of {} threads and more, SIMD groups of 32", tried.kernels.size(), least);
}

Result<std::string> printed_nothing(const std::string& command) {
  const auto [status, text] = cupolac::run_shell(command + " 2>&1");
  if (status == 0) return "";
  return fail(ErrorCode::InvalidSource, "exit status {}: {}", status, text);
}

/// Apple's compiler makes a container of Cupola's MSL, which Metal loads.
Result<std::string> compiled_by_xcode(const std::string& xcrun, const std::string& folder,
                                      const std::vector<image::CodeUnit>& code, const std::filesystem::path& root) {
  TRY(const std::string source, cupolac::compile(root / "lib", {.target = "msl", .units = code}));
  const std::string metal = folder + "/kernels.metal", library = folder + "/kernels.metallib";
  TRY(write_file(metal, std::as_bytes(std::span(source))));
  TRY(printed_nothing(formatted("{} -sdk macosx metal -fno-fast-math {} -o {}", cupolac::shell_word(xcrun),
                                cupolac::shell_word(metal), cupolac::shell_word(library))));
  TRY(const std::string bytes, read_file(library));
  return loaded(std::as_bytes(std::span(bytes)));
}

}  // namespace

bool is_software_metal(const std::string& device) {
  return device.contains("software Metal");
}

void check_container(Report& report, Container container, const std::filesystem::path& root) {
  report.begin("air", "container/Cupola's own checks");
  report.end(valid(container));
  use_software_metal(root);
  report.begin("air", "container/Metal loads it");
  report.end(loaded(container));
}

void check_with_xcode(Report& report, const std::string& container, const std::vector<image::CodeUnit>& code,
                      const std::filesystem::path& root) {
  constexpr const char *kValidate = "xcode/metal -validate", *kCompile = "xcode/metal compiles the MSL";
  const Result<std::string> xcrun = cupolac::find_xcrun("this", "nothing else does");
  const Result<cupolac::Scratch> scratch = cupolac::Scratch::temporary();
  if (!xcrun || !scratch) {
    const std::string why = xcrun ? scratch.error().message : "there is no xcrun on PATH";
    report.not_run("air", kValidate, why);
    return report.not_run("msl", kCompile, why);
  }
  const std::string file = scratch->path() + "/selftest.metallib";
  report.begin("air", kValidate);
  const Result<> written = write_file(file, std::as_bytes(std::span(container)));
  report.end(written ? printed_nothing(formatted("{} -sdk macosx metal -validate {}", cupolac::shell_word(*xcrun),
                                                 cupolac::shell_word(file)))
                     : fail(written.error()));
  report.begin("msl", kCompile);
  report.end(compiled_by_xcode(*xcrun, scratch->path(), code, root));
}

}  // namespace cupola::tool::selftest
