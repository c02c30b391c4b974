#include "cupola/air_emit.h"

#include <cstdio>

#include "base/file.h"
#include "cupola/compiled_code.h"
#include "cupolac/compiler_library.h"
#include "cupolac/lists.h"
#include "cupolac/run.h"
#include "cupolac/shell.h"
#include "cupolac/xcrun.h"

namespace cupola::tool {
namespace {

namespace fs = std::filesystem;

std::string output_of(const AirEmitOptions& options) {
  if (!options.output.empty()) return options.output;
  return (options.input == "-" ? "kernels" : fs::path(options.input).stem().string()) + ".metallib";
}

Result<std::string> compiled(const AirEmitOptions& options, const std::string& target, const fs::path& root) {
  TRY(CodeFile read, compiled_code(options.input, options.flags, root));
  return cupolac::compile(root / "lib", {.target = target, .units = std::move(read.units)});
}

/// Apple's compiler makes the file, of MSL.
Result<> emit_by_xcrun(const AirEmitOptions& options, const std::string& output, const fs::path& root) {
  TRY(const std::string xcrun, cupolac::find_xcrun("--mode xcrun", "--mode experimental needs none"));
  TRY(const cupolac::Scratch scratch, cupolac::Scratch::temporary());
  std::string source = options.input;
  if (!source.ends_with(".metal")) {
    source = scratch.path() + "/kernels.metal";
    TRY(const std::string text, compiled(options, "msl", root));
    TRY(write_file(source, std::as_bytes(std::span(text))));
  }
  const auto [status, text] =
      cupolac::run_shell(cupolac::shell_word(xcrun) + " -sdk macosx metal -fno-fast-math " +
                         cupolac::shell_word(source) + " -o " + cupolac::shell_word(output) + " 2>&1");
  if (status == 0) return {};
  return fail(ErrorCode::InvalidSource, "xcrun metal: exit status {}: {}", status, text);
}

}  // namespace

Result<> air_emit(const AirEmitOptions& options, const fs::path& root) {
  const std::string output = output_of(options);
  if (!options.overwrite && fs::exists(output))
    return fail(ErrorCode::InvalidValue, "'{}' is there already: give --overwrite, or another name with --output",
                output);
  if (options.mode == AirMode::Xcrun) {
    TRY(emit_by_xcrun(options, output, root));
  } else {
    if (options.input.ends_with(".metal"))
      return fail(ErrorCode::NotSupported,
                  "'{}' is Metal's source, which Apple's compiler reads: --mode xcrun, on a Mac", options.input);
    TRY(const std::string library, compiled(options, "metallib", root));
    TRY(write_file(output, std::as_bytes(std::span(library))));
  }
  std::printf("%s\n", output.c_str());
  return {};
}

}  // namespace cupola::tool
