#include "cupolac/installation.h"

#include <unistd.h>

#include <cstdlib>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

namespace cupola::cupolac {
namespace {

namespace fs = std::filesystem;

bool executable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

/// llvm-ar lies beside clang; any ar will do for plain archives.
fs::path find_archiver(const fs::path& clang) {
  std::error_code error;
  const fs::path beside = fs::canonical(clang, error).parent_path() / "llvm-ar";
  if (executable(beside)) return beside;
  for (const char* name : {"llvm-ar-22", "llvm-ar", "ar"})
    if (fs::path found = find_on_path(name); !found.empty()) return found;
  return "ar";
}

}  // namespace

std::vector<std::string> split_at_colons(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(':', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

fs::path program_path() {
  std::error_code error;
#ifdef __APPLE__
  char name[4096];
  uint32_t size = sizeof name;
  if (_NSGetExecutablePath(name, &size) != 0) return {};
  return fs::canonical(name, error);
#else
  return fs::canonical("/proc/self/exe", error);
#endif
}

fs::path library_folder() {
  return program_path().parent_path().parent_path() / "lib";
}

fs::path find_on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split_at_colons(path ? path : ""))
    if (fs::path candidate = fs::path(folder.empty() ? "." : folder) / name; executable(candidate)) return candidate;
  return {};
}

Result<fs::path> find_clang() {
  if (const char* named = std::getenv("CUPOLA_CLANG"); named && *named) {
    if (const fs::path path = named; path.has_parent_path()) {
      if (executable(path)) return path;
    } else if (fs::path found = find_on_path(named); !found.empty()) {
      return found;
    }
    return fail(ErrorCode::FileNotFound, "CUPOLA_CLANG is '{}', which is no program", named);
  }
  if (fs::path found = find_on_path("clang++-22"); !found.empty()) return found;
  for (const char* folder : {"/usr/lib/llvm-22/bin", "/opt/homebrew/opt/llvm@22/bin", "/usr/local/opt/llvm@22/bin",
                             "/home/linuxbrew/.linuxbrew/opt/llvm@22/bin"})
    if (fs::path candidate = fs::path(folder) / "clang++"; executable(candidate)) return candidate;
  return fail(
      ErrorCode::FileNotFound,
      "clang++-22 was not found: install clang-22 (Debian) or llvm@22 (Homebrew), or set CUPOLA_CLANG to its path");
}

Result<Installation> find_installation() {
  Installation found;
  found.cupolac = program_path();
  const fs::path root = found.cupolac.parent_path().parent_path();
  found.headers = root / "include" / "cuda";
  found.libraries = library_folder();
  TRY(found.clang, find_clang());
  found.archiver = find_archiver(found.clang);
  return found;
}

bool is_foreign_toolkit(const fs::path& folder, const fs::path& own_headers) {
  std::error_code error;
  if (!fs::exists(folder / "cuda_runtime_api.h", error)) return false;
  return !fs::equivalent(folder, own_headers, error) && !fs::exists(folder / "cupola" / "device_begin.h", error);
}

namespace {

bool has_foreign_libraries(const fs::path& folder, const fs::path& own_libraries) {
  std::error_code error;
  if (!fs::exists(folder / "libcudart.so", error) && !fs::exists(folder / "libcuda.so", error)) return false;
  return !fs::equivalent(folder, own_libraries, error) && !fs::exists(folder / "cupola" / "device.bc", error);
}

template <typename Is>
std::string without(const std::string& search_path, Is is_foreign) {
  std::string kept;
  for (const std::string& folder : split_at_colons(search_path))
    if (!is_foreign(folder)) kept += (kept.empty() ? "" : ":") + folder;
  return kept;
}

}  // namespace

std::string without_toolkits(const std::string& search_path, const fs::path& own_headers) {
  return without(search_path, [&](const fs::path& folder) { return is_foreign_toolkit(folder, own_headers); });
}

std::string without_toolkit_libraries(const std::string& search_path, const fs::path& own_libraries) {
  return without(search_path, [&](const fs::path& folder) { return has_foreign_libraries(folder, own_libraries); });
}

}  // namespace cupola::cupolac
