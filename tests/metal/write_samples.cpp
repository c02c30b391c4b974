// write-samples FOLDER: containers as the builder makes them, for check_metallib.py, which knows nothing of it.

#include <cstdio>

#include "backend/metal/metallib/sample_container.h"
#include "base/file.h"

namespace {

using namespace cupola;
using namespace cupola::metallib;

bool write(const std::string& folder, const std::string& name, const Result<std::vector<std::byte>>& container) {
  if (!container) std::fprintf(stderr, "%s: %s\n", name.c_str(), container.error().message.c_str());
  return container && write_file(folder + "/" + name + ".metallib", *container).has_value();
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const std::string folder = words[1];
  bool written = write(folder, "everything", sample_container()) && write(folder, "empty", build({}));
  for (const Release& release : releases()) {
    std::vector<std::vector<std::byte>> modules;
    std::vector<FunctionSource> functions;
    for (const std::string name : {"one", "another", "a_third"})
      modules.push_back(sample_module({.function = name,
                                       .air = {release.air.major, release.air.minor, 0},
                                       .language = {release.language.major, release.language.minor, 0}}));
    for (const std::vector<std::byte>& module : modules)
      functions.push_back(
          {std::string("kernel") + std::to_string(functions.size()), FunctionKind::Kernel, module, {}, {}});
    const BuildTarget target = {{release.macos, 4, 2}};
    written = written && write(folder, "macos" + std::to_string(release.macos), build(functions, target));
  }
  return written ? 0 : 1;
}
