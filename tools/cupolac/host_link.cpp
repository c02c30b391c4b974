#include "cupolac/host_link.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cupolac/installation.h"

namespace cupola::cupolac {

bool is_host_link(const char* program) {
  return program && std::filesystem::path(program).filename() == "host-link";
}

Result<int> host_link(int count, char** words) {
  TRY(const Installation installation, find_installation());
  if (const char* folders = std::getenv("LIBRARY_PATH"))  // clang takes libraries from there
    setenv("LIBRARY_PATH", without_toolkit_libraries(folders, installation.libraries).c_str(), 1);
  std::string clang = installation.clang.string(), rpath = "-Wl,-rpath," + installation.libraries.string();
  std::string unused = "-Qunused-arguments", unknown = "-Wno-unknown-warning-option";
  std::vector<char*> command = {clang.data(), unused.data(), unknown.data()};
  command.insert(command.end(), words + 1, words + count);
  command.insert(command.end(), {rpath.data(), nullptr});
  execv(clang.c_str(), command.data());
  return fail(ErrorCode::OperatingSystem, "'{}' cannot be run: {}", clang, std::strerror(errno));
}

}  // namespace cupola::cupolac
