#include "cupolac/foreign_headers.h"

#include <algorithm>
#include <fstream>
#include <string_view>

namespace cupola::cupolac {
namespace {

namespace fs = std::filesystem;

/// How the names of a toolkit's headers begin: the runtime's and driver's, and those of its libraries. Thrust, CUB and
/// libcu++ are folders and may be used wherever they come from.
constexpr std::string_view kBeginnings[] = {"cuda",
                                            "cublas",
                                            "cufft",
                                            "curand",
                                            "cusparse",
                                            "cusolver",
                                            "cuFile",
                                            "cupti",
                                            "cuComplex",
                                            "npp",
                                            "nvml",
                                            "nvrtc",
                                            "nvjpeg",
                                            "nvblas",
                                            "nvJitLink",
                                            "nvPTXCompiler",
                                            "nvToolsExt",
                                            "nvfatbin",
                                            "fatbinary_section.h",
                                            "texture_fetch_functions.h",
                                            "texture_indirect_functions.h",
                                            "surface_functions.h",
                                            "surface_indirect_functions.h"};

/// Folders whose headers are all the toolkit's.
constexpr const char* kFolders[] = {"crt", "cooperative_groups"};

template <typename Iterator, typename Visit>
void for_each_entry(const fs::path& folder, Visit visit) {
  std::error_code error;
  for (Iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) visit(entry->path());
}

bool is_toolkit_header(const fs::path& path) {
  const std::string name = path.filename().string();
  return path.extension() == ".h" &&
         std::ranges::any_of(kBeginnings, [&](std::string_view beginning) { return name.starts_with(beginning); });
}

}  // namespace

std::vector<fs::path> system_include_folders() {
  return {"/usr/local/include", "/usr/include/x86_64-linux-gnu", "/usr/include/aarch64-linux-gnu", "/usr/include"};
}

std::map<std::string, fs::path> find_foreign_headers(const std::vector<fs::path>& folders,
                                                     const fs::path& own_headers) {
  std::map<std::string, fs::path> found;
  for (const fs::path& folder : folders) {
    std::error_code missing;
    if (!fs::exists(folder / "cuda_runtime_api.h", missing)) continue;  // not a toolkit's
    auto add = [&](const fs::path& path) {
      const fs::path name = path.lexically_relative(folder);
      std::error_code error;
      if (!fs::exists(own_headers / name, error)) found.emplace(name.string(), path);
    };
    for_each_entry<fs::directory_iterator>(folder, [&](const fs::path& path) {
      if (is_toolkit_header(path)) add(path);
    });
    for (const char* whole : kFolders)
      for_each_entry<fs::recursive_directory_iterator>(folder / whole, [&](const fs::path& path) {
        if (path.has_extension()) add(path);
      });
  }
  return found;
}

Result<> write_refusals(const std::map<std::string, fs::path>& headers, const fs::path& folder) {
  std::error_code error;
  for (const auto& [name, path] : headers) {
    fs::create_directories((folder / name).parent_path(), error);
    std::ofstream out(folder / name);
    out << "#error \"Cupola has no <" << name << ">: " << path.string()
        << " belongs to another CUDA toolkit and does not go with Cupola's headers.\"\n";
    if (!out.flush()) return fail(ErrorCode::OperatingSystem, "'{}' cannot be written", (folder / name).string());
  }
  return {};
}

}  // namespace cupola::cupolac
