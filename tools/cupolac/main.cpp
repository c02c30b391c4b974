// cupolac: compiles CUDA programs, with nvcc's command line. options reads the line, plan lists the steps, run does
// them.

#include <cstdio>
#include <cstdlib>

#include "base/guarded.h"
#include "cupolac/foreign_headers.h"
#include "cupolac/foreign_libraries.h"
#include "cupolac/host_link.h"
#include "cupolac/installation.h"
#include "cupolac/link_units.h"
#include "cupolac/lists.h"
#include "cupolac/options.h"
#include "cupolac/pack.h"
#include "cupolac/plan.h"
#include "cupolac/run.h"
#include "cupolac/xcrun.h"
#include "image/architecture.h"

namespace cupola::cupolac {
namespace {

/// Scripts read the release of CUDA whose headers and libraries Cupola provides. CMake knows the kind of compiler by
/// the words in quotation marks (CMakeDetermineCUDACompiler.cmake).
constexpr const char* kVersionText =
    "cupolac: Cupola's compiler driver for CUDA programs; independent of NVIDIA\n"
    "Cupola " CUPOLA_VERSION
    "\n"
    "Takes the command line of \"nvcc: NVIDIA (R) Cuda compiler driver\"\n"
    "Compatible with Cuda compilation tools, release 13.0, V13.0.0\n";

void complain(const std::string& text) {
  std::fprintf(stderr, "cupolac: %s\n", text.c_str());
}

/// A step of cupolac's own, whose words are complete.
bool is_step(int count, char** words) {
  const std::string_view first = count > 1 ? words[1] : "";
  return first.starts_with("--pack-") || first.starts_with("--link-units");
}

/// nvcc takes further options from these variables, before and behind the command line's.
std::vector<std::string> all_arguments(int count, char** words) {
  std::vector<std::string> arguments;
  auto from_environment = [&](const char* name) {
    const char* text = std::getenv(name);
    for (std::string& word : split_words(text ? text : "")) arguments.push_back(std::move(word));
  };
  const bool step = is_step(count, words);
  if (!step) from_environment("NVCC_PREPEND_FLAGS");
  arguments.insert(arguments.end(), words + 1, words + count);
  if (!step) from_environment("NVCC_APPEND_FLAGS");
  return arguments;
}

void list_architectures(const char* prefix) {
  for (int number : image::kArchitectures) std::printf("%s_%d\n", prefix, number);
}

/// clang reads these too; a toolkit's folder in them would come before Cupola's.
void hide_toolkits(const Installation& installation) {
  for (const char* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"})
    if (const char* value = std::getenv(name)) setenv(name, without_toolkits(value, installation.headers).c_str(), 1);
}

/// Where things are, in the lines by which build systems find a toolkit.
void print_places(const Installation& installation) {
  const char* path = std::getenv("PATH");
  std::fprintf(stderr, "#$ TOP=%s\n#$ PATH=%s\n#$ INCLUDES=%s\n#$ LIBRARIES=%s\n", installation.toolkit().c_str(),
               path ? path : "", shell_word("-I" + (installation.toolkit() / "include").string()).c_str(),
               shell_word("-L" + installation.libraries.string()).c_str());
}

/// CMake asks with -v and a word that is no file.
bool asks_for_steps(const std::vector<std::string>& arguments) {
  for (const char* name : {"-v", "--verbose", "-dryrun", "--dryrun", "-###", "--###"})
    if (contains(arguments, name)) return true;
  return false;
}

/// Without its own headers clang would name another toolkit's, or none.
Result<> check_headers(const Installation& installation) {
  std::error_code error;
  if (std::filesystem::exists(installation.headers / "cuda_runtime.h", error)) return {};
  return fail(ErrorCode::FileNotFound,
              "Cupola's headers are not in '{}': build all of it (scripts/build), and move an installation as a whole",
              installation.headers.string());
}

Result<> check_inputs(const Options& options) {
  std::error_code error;
  for (const Input& input : options.inputs)
    if (!std::filesystem::exists(input.path, error))
      return fail(ErrorCode::FileNotFound, "there is no file '{}'", input.path);
  return {};
}

/// Keeps another toolkit's headers in the system's folders from the program.
Result<> refuse_foreign_headers(Installation& installation, const Scratch& scratch) {
  const auto headers = find_foreign_headers(system_include_folders(), installation.headers);
  if (headers.empty()) return {};
  installation.refusals = std::filesystem::path(scratch.path()) / "foreign-headers";
  return write_refusals(headers, installation.refusals);
}

Result<int> compile(const Options& options) {
  for (const Input& input : options.inputs)
    if (input.kind == FileKind::Metal && options.goal == Goal::Metallib)
      TRY(find_xcrun(formatted("'{}' is Metal's source, which", input.path), "give a .cu file"));
  TRY(Installation installation, find_installation());
  TRY(check_headers(installation));
  if (options.verbose || options.dry_run) print_places(installation);
  TRY(const Scratch scratch, options.keep ? Scratch::kept(options.keep_folder) : Scratch::temporary());
  TRY(refuse_foreign_headers(installation, scratch));
  TRY(const Plan plan, make_plan(options, installation, scratch.path()));
  if (options.verbose || options.dry_run)
    for (const std::string& note : plan.notes) complain("note: " + note);
  for (const std::string& warning : plan.warnings) complain("warning: " + warning);
  if (options.dry_run) {
    print_plan(plan);
    return 0;
  }
  TRY(check_inputs(options));
  if (options.goal == Goal::Link) TRY(check_libraries(options, installation.libraries, system_library_folders()));
  hide_toolkits(installation);
  return run_plan(plan, options.threads, options.verbose);
}

Result<int> work(int count, char** words) {
  if (is_host_link(words[0])) return host_link(count, words);
  const std::vector<std::string> arguments = all_arguments(count, words);
  auto parsed = parse_options(arguments);
  if (!parsed && asks_for_steps(arguments))
    if (const auto installation = find_installation()) print_places(*installation);
  TRY(const Options options, std::move(parsed));
  switch (options.goal) {
    case Goal::Help:
      std::fputs(help_text().c_str(), stdout);
      return 0;
    case Goal::Version:
      std::fputs(kVersionText, stdout);
      return 0;
    case Goal::ListArchitectures:
      list_architectures("compute");
      return 0;
    case Goal::ListCode:
      list_architectures("sm");
      return 0;
    case Goal::Pack:
    case Goal::PackPtx:
    case Goal::PackMetallib:
    case Goal::PackUnit:
      TRY(pack(options));
      return 0;
    case Goal::LinkUnits:
      TRY(link_units(options));
      return 0;
    case Goal::Link:
    case Goal::Objects:
    case Goal::DeviceLink:
    case Goal::Ptx:
    case Goal::Metallib:
    case Goal::Preprocess:
    case Goal::Dependencies:
    case Goal::Fatbin:
    case Goal::Archive:
      break;
  }
  return compile(options);
}

}  // namespace
}  // namespace cupola::cupolac

int main(int count, char** words) {
  int status = 1;
  const cupola::Result<> done = cupola::guarded([&]() -> cupola::Result<> {
    TRY(status, cupola::cupolac::work(count, words));
    return {};
  });
  if (done) return status;
  cupola::cupolac::complain(done.error().message);
  return 1;
}
