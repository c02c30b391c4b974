// cupola: says how the installation stands, runs existing programs with Cupola's libraries, and shows kernel code.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "cupola/air_command.h"
#include "cupola/air_emit.h"
#include "cupola/cache_command.h"
#include "cupola/doctor.h"
#include "cupola/explain_command.h"
#include "cupola/fatbin_command.h"
#include "cupola/info.h"
#include "cupola/msl_command.h"
#include "cupola/program_run.h"
#include "cupola/ptx_command.h"
#include "cupola/selftest/selftest_command.h"
#include "cupola/trace_command.h"

namespace {

int status_of(const cupola::Result<>& result) {
  if (result) return 0;
  std::string line = result.error().message;
  line.resize(line.find_last_not_of("\n") + 1);
  std::fprintf(stderr, "cupola: %s\n", line.c_str());
  return 1;
}

void add_ptx(CLI::App& app, cupola::tool::PtxOptions& options, const std::filesystem::path& root, int& status) {
  CLI::App* ptx = app.add_subcommand("ptx", "Check and print PTX or kir, or run a kernel of it");
  ptx->add_option("file", options.file, "PTX, kir, a fat binary or a program that holds some; - is standard input")
      ->required();
  CLI::Option* kir = ptx->add_flag("--kir", options.kir, "Print kir (LLVM text)");
  CLI::Option* back = ptx->add_flag("--ptx", options.back, "Print PTX made from kir")->excludes(kir);
  ptx->add_option("--sm", options.architecture, "Architecture of that PTX, 89 or 90a")->capture_default_str();
  CLI::Option* run = ptx->add_option("--run", options.kernel, "Run this kernel")->excludes(kir)->excludes(back);
  ptx->add_option("--grid", options.grid, "Blocks, x,y,z")->needs(run);
  ptx->add_option("--block", options.block, "Threads of a block, x,y,z")->needs(run);
  ptx->add_option("--shared", options.shared_bytes, "Bytes of dynamic shared memory")->needs(run);
  ptx->add_option("--args", options.arguments, "i32:5 f32:1.5 in:f32:1,2,3 inout:i32:1,2 out:u32:16")->needs(run);
  ptx->callback([&] { status = status_of(cupola::tool::ptx_command(options, root)); });
}

void add_selftest(CLI::App& app, cupola::tool::SelftestOptions& options, const std::filesystem::path& root,
                  int& status) {
  CLI::App* selftest =
      app.add_subcommand("selftest", "Check what this machine's device computes; exit status 1 when a check fails");
  selftest->add_option("--device", options.device, "cpu or metal; CUPOLA_DEVICE's if not given");
  selftest->add_option("--json", options.json, "Write the report to this file as JSON; -: to standard output, alone");
  selftest->add_flag("--watchdog", options.watchdog,
                     "Also launch a kernel without an end, which the system must stop: the display may hang a while");
  selftest->callback([&] {
    const cupola::Result<int> result = cupola::tool::selftest_command(options, root);
    status = result ? *result : status_of(std::unexpected(result.error()));
  });
}

struct MslOptions {
  std::string file, output;
};

void add_msl(CLI::App& app, MslOptions& options, const std::filesystem::path& root, int& status) {
  CLI::App* msl = app.add_subcommand("msl", "Write kernels as source in Metal's shading language");
  msl->add_option("-o,--output", options.output, "Where to; standard output if not given");
  msl->add_option("file", options.file,
                  "A .cu file, with flags for cupolac behind it; PTX, kir, a fat binary or a program")
      ->required();
  msl->prefix_command();  // what comes behind is cupolac's
  msl->callback([&, msl] {
    status = status_of(cupola::tool::msl_command(options.file, options.output, msl->remaining(), root));
  });
}

void add_explain(CLI::App& app, cupola::tool::ExplainOptions& options, const std::filesystem::path& root, int& status) {
  CLI::App* explain = app.add_subcommand("explain", "Say how the CPU runs each kernel, how it reads memory, and why");
  explain
      ->add_option("file", options.file,
                   "A .cu file, with flags for cupolac behind it; PTX, kir, a fat binary or a program")
      ->required();
  explain->add_option("--block", options.block,
                      "Threads of a block, x,y,z: say how such blocks run once the kernel is found to run for long; "
                      "before cupolac's flags");
  explain->prefix_command();  // what comes behind is cupolac's
  explain->callback([&, explain] {
    options.flags = explain->remaining();
    status = status_of(cupola::tool::explain_command(options, root));
  });
}

void add_trace(CLI::App& app, cupola::tool::TraceOptions& options, const std::filesystem::path& root, int& status) {
  CLI::App* trace = app.add_subcommand(
      "trace", "Run a program with Cupola's libraries and record its calls, kernels and copies, with times");
  trace->add_option("-o,--output", options.output, "The trace, for https://ui.perfetto.dev")->capture_default_str();
  trace->add_option("--read", options.read, "Report on a file that CUPOLA_TRACE made; nothing is run");
  trace->add_flag("--nested", options.nested, "Show the calls of the driver that the runtime makes");
  trace->prefix_command();  // everything from the program's name on is the program's
  trace->callback([&, trace] {
    const std::vector<std::string> command = trace->remaining();
    if (command.empty() && options.read.empty()) throw CLI::RequiredError("PROGRAM");
    const cupola::Result<int> result = cupola::tool::trace_command(options, command, root / "lib");
    status = result ? *result : status_of(std::unexpected(result.error()));
  });
}

void add_cache(CLI::App& app, cupola::tool::CacheOptions& options, int& status) {
  using enum cupola::tool::CacheAction;
  CLI::App* cache = app.add_subcommand("cache", "Show and look after the compiled kernels that are kept on disk");
  cache->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, cupola::tool::CacheAction action) {
    CLI::App* command = cache->add_subcommand(name, what);
    command->callback([&options, &status, action] { status = cupola::tool::cache_command(action, options); });
    return command;
  };
  add("path", "The folder", Path);
  add("list", "Each entry, used longest ago first: key, size, last use, target and kernels", List);
  add("stat", "Number, size and limits", Stat);
  add("verify", "Read every entry and remove damaged ones; exit status 1 when there were any", Verify);
  add("clear", "Remove everything", Clear);
  CLI::App* trim = add("trim", "Remove what is past its time, or above the size limit", Trim);
  trim->add_option("--mib", options.mebibytes, "Limit in place of CUPOLA_CACHE_MIB")->check(CLI::NonNegativeNumber);
  trim->add_option("--days", options.days, "Limit in place of CUPOLA_CACHE_DAYS")->check(CLI::NonNegativeNumber);
}

struct AirOptions {
  cupola::tool::AirInspectOptions inspect;
  cupola::tool::AirValidateOptions validate;
  cupola::tool::AirEmitOptions emit;
};

void add_air_emit(CLI::App& air, cupola::tool::AirEmitOptions& options, const std::filesystem::path& root,
                  int& status) {
  using enum cupola::tool::AirMode;
  CLI::App* emit = air.add_subcommand("emit", "Make a .metallib file of kernels");
  emit->add_option("input,--input", options.input,
                   "A .cu, .ptx, .ll or .bc file, a fat binary or a program; .metal on a Mac")
      ->required();
  emit->add_option("-o,--output", options.output, "The file to make; INPUT's name with .metallib if not given");
  const std::map<std::string, cupola::tool::AirMode> modes = {{"experimental", Experimental}, {"xcrun", Xcrun}};
  emit->add_option("--mode", options.mode,
                   "experimental: Cupola's own AIR; xcrun: Apple's compiler, on a Mac with Xcode")
      ->transform(CLI::CheckedTransformer(modes, CLI::ignore_case))
      ->default_str("experimental");
  emit->add_flag("--overwrite", options.overwrite, "Replace the output if it is there");
  emit->allow_extras();  // cupolac's, for a .cu file
  emit->callback([&options, &root, &status, emit] {
    options.flags = emit->remaining();
    status = status_of(cupola::tool::air_emit(options, root));
  });
}

void add_air(CLI::App& app, AirOptions& options, const std::filesystem::path& root, int& status) {
  CLI::App* air = app.add_subcommand("air", "Make, show and check Metal's compiled kernels (.metallib files)");
  air->require_subcommand(1);
  CLI::App* inspect = air->add_subcommand("inspect", "Header, functions, versions, hashes, metadata and modules");
  inspect->add_option("file", options.inspect.file, "A .metallib file; - is standard input")->required();
  inspect->add_flag("--json", options.inspect.json, "Print JSON");
  inspect->callback([&] { status = status_of(cupola::tool::air_inspect(options.inspect)); });

  CLI::App* validate = air->add_subcommand("validate", "Check it, a line a problem; exit status 1 when there is one");
  validate->add_option("file", options.validate.file, "A .metallib file; - is standard input")->required();
  validate->add_flag("--require-function-list", options.validate.require_function_list, "It must hold a function");
  validate->add_flag("--require-metadata", options.validate.require_metadata,
                     "Modules of kernels must have air.kernel, air.version and air.language_version");
  validate->add_flag("--xcrun", options.validate.xcrun, "Ask Apple's compiler too; only on a Mac with Xcode");
  validate->add_flag(
      "--load", options.validate.load,
      "Have this machine's Metal load it and make pipelines of its kernels; a test build's own on Linux");
  validate->callback([&] {
    const cupola::Result<int> result = cupola::tool::air_validate(options.validate, root);
    status = result ? *result : status_of(std::unexpected(result.error()));
  });
  add_air_emit(*air, options.emit, root, status);
}

}  // namespace

int main(int count, char** words) {
  const std::filesystem::path root = cupola::cupolac::program_path().parent_path().parent_path();
  CLI::App app("Cupola runs CUDA programs on the machine you have.", "cupola");
  app.require_subcommand(1);
  int status = 0;

  app.add_subcommand("info", "Versions, folders, devices with their attributes, settings")->callback([&] {
    status = cupola::tool::info(root);
  });
  app.add_subcommand("doctor", "Check the installation; exit status 1 when there is a problem")->callback([&] {
    status = cupola::tool::doctor(root);
  });
  app.add_subcommand("version", "Cupola's version")->callback([] { std::puts("cupola " CUPOLA_VERSION); });

  std::vector<std::string> command;
  CLI::App* run = app.add_subcommand("run", "Run an existing program with Cupola's libraries");
  run->prefix_command();  // everything from the program's name on is the program's
  run->callback([&] {
    command = run->remaining();
    if (command.empty()) throw CLI::RequiredError("PROGRAM");
    const cupola::Error error = cupola::tool::run_program(command, root / "lib");
    std::fprintf(stderr, "cupola: %s\n", error.message.c_str());
    status = 1;
  });

  cupola::tool::PtxOptions ptx;
  add_ptx(app, ptx, root, status);

  cupola::tool::SelftestOptions selftest;
  add_selftest(app, selftest, root, status);

  cupola::tool::ExplainOptions explain;
  add_explain(app, explain, root, status);
  MslOptions msl;
  add_msl(app, msl, root, status);

  cupola::tool::TraceOptions trace;
  add_trace(app, trace, root, status);

  cupola::tool::CacheOptions cache;
  add_cache(app, cache, status);

  AirOptions air;
  add_air(app, air, root, status);

  std::string fatbin_file, extract_to;
  CLI::App* fatbin = app.add_subcommand("fatbin", "List the fat binaries in a file");
  fatbin->add_option("file", fatbin_file, "A fat binary, or a file that holds some; - is standard input")->required();
  fatbin->add_option("--extract", extract_to, "Write each entry into this folder");
  fatbin->callback([&] { status = status_of(cupola::tool::fatbin_command(fatbin_file, extract_to)); });

  const auto is_asked_for = [&](CLI::App* command) { return command->check_name(words[1]); };
  if (count > 1 && words[1][0] != '-' && app.get_subcommands(is_asked_for).empty()) {
    std::fprintf(stderr, "cupola: there is no command '%s'; cupola --help lists them\n", words[1]);
    return 1;
  }
  CLI11_PARSE(app, count, words);
  return status;
}
