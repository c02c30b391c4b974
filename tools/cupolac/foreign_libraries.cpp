#include "cupolac/foreign_libraries.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "cupolac/installation.h"

namespace cupola::cupolac {
namespace {

namespace fs = std::filesystem;

/// How the names of a toolkit's libraries begin.
constexpr std::string_view kBeginnings[] = {
    "cublas",    "cuda",       "cudnn",  "cufft",    "cufile",    "cupti",  "curand", "cusolver", "cusparse", "npp",
    "nvJitLink", "nvToolsExt", "nvblas", "nvfatbin", "nvidia-ml", "nvjpeg", "nvperf", "nvrtc",    "nvvm"};

/// Those that a whole build of Cupola has.
constexpr std::string_view kOwn[] = {"cuda", "cudart", "cudart_static", "nvJitLink", "nvidia-ml", "nvrtc", "nvvm"};

bool is_toolkit_library(std::string_view name) {
  return std::ranges::any_of(kBeginnings, [&](std::string_view beginning) { return name.starts_with(beginning); });
}

/// The file that -lNAME means in that folder; empty if it has none.
fs::path library_in(const fs::path& folder, const std::string& name) {
  std::error_code error;
  for (const char* ending : {".so", ".dylib", ".a"})
    if (const fs::path path = folder / ("lib" + name + ending); fs::exists(path, error)) return path;
  return {};
}

fs::path library_in_any(const auto& folders, const std::string& name) {
  for (const auto& folder : folders)
    if (const fs::path path = library_in(folder, name); !path.empty()) return path;
  return {};
}

}  // namespace

std::vector<fs::path> system_library_folders() {
  return {"/usr/local/lib/x86_64-linux-gnu", "/usr/local/lib/aarch64-linux-gnu", "/usr/local/lib64", "/usr/local/lib",
          "/usr/lib/x86_64-linux-gnu",       "/usr/lib/aarch64-linux-gnu",       "/usr/lib64",       "/usr/lib"};
}

Result<> check_libraries(const Options& options, const fs::path& own, const std::vector<fs::path>& folders) {
  const char* const path = std::getenv("LIBRARY_PATH");
  std::vector<std::string> named = options.library_paths;
  for (const std::string& folder : split_at_colons(without_toolkit_libraries(path ? path : "", own)))
    named.push_back(folder);
  for (const LinkWord& word : options.link_line) {
    const std::string& name = word.text;
    if (word.kind != LinkWord::Kind::Library || !is_toolkit_library(name)) continue;
    if (name == "cudadevrt") continue;  // the plan leaves it out
    if (!library_in(own, name).empty() || !library_in_any(named, name).empty()) continue;
    const fs::path foreign = library_in_any(folders, name);
    if (foreign.empty()) continue;  // the linker says so
    const bool is_own = std::ranges::find(kOwn, name) != std::end(kOwn);
    return fail(ErrorCode::NotFound,
                "-l{}: {}, and {} belongs to another CUDA toolkit, which does not go with Cupola's libraries{}", name,
                is_own ? formatted("there is no lib{}.so in '{}'", name, own.string()) : "Cupola has no such library",
                foreign.string(), is_own ? ": build all of Cupola (scripts/build)" : "; -L takes it all the same");
  }
  return {};
}

}  // namespace cupola::cupolac
