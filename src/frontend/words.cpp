#include "frontend/words.h"

#include <filesystem>
#include <optional>

#include "image/architecture.h"
#include "image/clang_target.h"

namespace cupola::frontend {
namespace {

using Words = std::vector<std::string>;

void append(Words& to, const Words& words) {
  to.insert(to.end(), words.begin(), words.end());
}

/// "sm_90a" in parts. The letter f (a family) is nothing that clang's headers or ours ask for.
Result<image::ArchitectureName> architecture_of(const std::string& name) {
  std::optional<image::ArchitectureName> found = image::parse_architecture(name);
  if (!found || found->kind != "sm")
    return fail(ErrorCode::NoBinaryForGpu, "frontend: '{}' is no architecture; sm_89 is one", name);
  if (found->suffix == "f") found->suffix = {};
  return *found;
}

/// The headers need C++14, which takes older programs too.
Result<std::string> standard_word(const std::string& standard) {
  for (const char* old : {"c++03", "c++11"})
    if (standard == old) return std::string("-std=gnu++14");
  for (const char* known : {"c++14", "c++17", "c++20", "c++23"})
    if (standard == known) return "-std=gnu++" + standard.substr(3);
  return fail(ErrorCode::InvalidValue, "frontend: '{}' is no standard; c++17 is one", standard);
}

}  // namespace

Result<Words> language_words(const image::SourceRequest& request, const Places& places) {
  TRY(const image::ArchitectureName architecture, architecture_of(request.architecture));
  TRY(const std::string standard, standard_word(request.standard));
  const auto has = [&](image::SourceFlag flag) { return (request.flags & flag) != 0; };
  Words words = {"-triple",
                 "nvptx64-nvidia-cuda",
                 "-aux-triple",
                 "x86_64-pc-linux-gnu",
                 "-x",
                 "cuda",
                 "-fcuda-is-device",
                 "-target-cpu",
                 formatted("sm_{}{}", architecture.number, architecture.suffix),
                 "-target-feature",
                 image::kPtxFeature,
                 std::string("-target-sdk-version=") + image::kSdkVersion,
                 standard,
                 "-fgnuc-version=4.2.1",
                 "-fdeclspec",
                 "-fcxx-exceptions",
                 "-fexceptions",
                 "-fno-threadsafe-statics",
                 "-O2",
                 "-disable-llvm-passes",
                 "-mframe-pointer=all",
                 "-nostdsysteminc",
                 "-resource-dir",
                 places.resource,
                 "-fdeprecated-macro",
                 "-D__CUDACC_RTC__=1",
                 formatted("-D__CUDA_ARCH_LIST__={}0", architecture.number)};
  words.push_back(has(image::kNoContraction) ? "-ffp-contract=off" : "-ffp-contract=fast");
  if (has(image::kRelocatable)) append(words, {"-fgpu-rdc", "-D__CUDACC_RDC__=1"});
  if (has(image::kFlushDenormals)) words.push_back("-fdenormal-fp-math-f32=preserve-sign,preserve-sign");
  if (has(image::kFastMath)) words.push_back("-fgpu-approx-transcendentals");
  if (has(image::kDebug)) words.push_back("-D__CUDACC_DEBUG__=1");
  if (has(image::kMinimal)) words.push_back("-D__CUDACC_RTC_MINIMAL__=1");
  if (has(image::kInt128)) words.push_back("-D__CUDACC_RTC_INT128__=1");
  if (has(image::kNoInitializerList)) words.push_back("-DCUPOLA_RTC_NO_INITIALIZER_LIST=1");
  if (has(image::kNoMoveForward)) words.push_back("-DCUPOLA_RTC_NO_MOVE_FORWARD=1");
  return words;
}

Words program_words(const image::SourceRequest& request, const Places& places, const std::string& program_folder) {
  const auto has = [&](image::SourceFlag flag) { return (request.flags & flag) != 0; };
  // Pragmas and extensions of nvcc's are no reason for a warning.
  Words words = {"-ferror-limit",
                 "100",
                 "-fno-caret-diagnostics",
                 "-Wno-unknown-pragmas",
                 "-Wno-unknown-warning-option",
                 "-Wno-stack-exhausted",
                 "-fmacro-prefix-map=" + program_folder + "/=",
                 "-fdebug-prefix-map=" + program_folder + "/="};
  const std::string estimates =
      image::estimates(has(image::kApproximateQuotients), has(image::kApproximateRoots), has(image::kFastMath));
  if (!estimates.empty()) words.push_back("-mrecip=" + estimates);
  if (has(image::kNoWarnings)) words.push_back("-w");
  if (has(image::kWarningsAsErrors)) words.push_back("-Werror");
  if (has(image::kReorder)) words.push_back("-Wreorder");
  if (has(image::kDebug) || has(image::kLineNumbers))
    append(words, {"-debug-info-kind=line-directives-only", "-dwarf-version=2"});
  append(words, {"-I", program_folder});
  if (!has(image::kNoSourceFolder)) {
    const std::string folder = std::filesystem::path(request.name).parent_path().string();
    append(words, {"-iquote", folder.empty() ? "." : folder});
  }
  // Cupola's headers come before any other CUDA toolkit's of the same names, and clang's before a C library's. What C
  // headers declare is built in; the last folder has them for programs that include them all the same.
  append(words, {"-isystem", places.headers, "-isystem", places.resource + "/include"});
  for (const std::string& folder : request.include_folders) append(words, {"-isystem", folder});
  append(words, {"-idirafter", places.headers + "/cupola/rtc"});
  return words;
}

}  // namespace cupola::frontend
