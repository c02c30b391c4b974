#include "cupola/ptx_command.h"

#include <cstdio>

#include "cupola/code_file.h"
#include "cupola/extent.h"
#include "cupola/kernel_run.h"
#include "cupolac/compiler_library.h"
#include "image/fatbin.h"
#include "ptx/syntax/parser.h"
#include "ptx/syntax/printer.h"
#include "ptx/syntax/verify.h"

namespace cupola::tool {
namespace {

using image::CodeKind;
using image::CodeUnit;

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (!text.ends_with('\n')) std::fputc('\n', stdout);
}

Result<ptx::Module> parse(const CodeUnit& unit) {
  TRY(ptx::Module module, ptx::parse({reinterpret_cast<const char*>(unit.bytes.data()), unit.bytes.size()}));
  TRY(ptx::verify(module));
  return module;
}

/// What cuModuleLoadData takes: PTX as text that ends with a zero byte, kir in a fat binary, because it may be text.
Result<std::vector<std::byte>> loadable(const CodeUnit& unit) {
  if (unit.kind == CodeKind::Kir) {
    const image::FatbinEntry entry{.kind = image::FatbinKind::Kir, .sm = 89, .payload = unit.bytes};
    return image::write_fatbin({&entry, 1});
  }
  std::vector<std::byte> text = unit.bytes;
  text.push_back(std::byte{0});
  return text;
}

Result<> run(const PtxOptions& options, const std::filesystem::path& libraries) {
  KernelRun run{.kernel = options.kernel, .shared_bytes = options.shared_bytes};
  TRY(run.grid, parse_extent("--grid", options.grid));
  TRY(run.block, parse_extent("--block", options.block));
  for (const std::string& text : options.arguments) {
    TRY(KernelArgument argument, parse_argument(text));
    run.arguments.push_back(std::move(argument));
  }
  TRY(const CodeFile code, read_code_file(options.file, CodeKind::Kir));
  if (code.units.size() != 1)
    return fail(ErrorCode::InvalidValue,
                "'{}' holds {} fat binaries; extract the one that is meant with 'cupola fatbin'", options.file,
                code.units.size());
  TRY(const std::vector<std::byte> image, loadable(code.units[0]));
  TRY(run_kernel(libraries, image, run));
  for (size_t i = 0; i < run.arguments.size(); ++i)
    if (run.arguments[i].prints) print(formatted("argument {}: {}", i, text_of(run.arguments[i])));
  return {};
}

}  // namespace

Result<> ptx_command(const PtxOptions& options, const std::filesystem::path& root) {
  const std::filesystem::path libraries = root / "lib";
  if (!options.kernel.empty()) return run(options, libraries);
  const CodeKind preferred = options.kir || options.back ? CodeKind::Kir : CodeKind::Ptx;
  TRY(CodeFile code, read_code_file(options.file, preferred));
  for (CodeUnit& unit : code.units) {
    if (unit.kind == CodeKind::Ptx) {  // its own reader says best what is wrong with it
      TRY(const ptx::Module module, parse(unit));
      if (preferred == CodeKind::Ptx) {
        print(ptx::print(module));
        continue;
      }
    }
    const bool prefixed = options.architecture.starts_with("sm_");
    const std::string target = options.kir ? "kir" : (prefixed ? "ptx:" : "ptx:sm_") + options.architecture;
    TRY(const std::string text, cupolac::compile(libraries, {.target = target, .units = {std::move(unit)}}));
    print(text);
  }
  return {};
}

}  // namespace cupola::tool
