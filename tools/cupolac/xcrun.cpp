#include "cupolac/xcrun.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace cupola::cupolac {
namespace {

namespace fs = std::filesystem;

/// The program's place on PATH; empty if it is not there.
std::string found_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + program;
    if (fs::is_regular_file(file) && access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

}  // namespace

Result<std::string> find_xcrun(const std::string& option, const std::string& instead) {
  std::string xcrun = found_on_path("xcrun");
  if (!xcrun.empty()) return xcrun;
  return fail(ErrorCode::NotSupported, "{} needs a Mac with Xcode: there is no xcrun on PATH; {}", option, instead);
}

}  // namespace cupola::cupolac
