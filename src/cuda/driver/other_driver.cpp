#include "cuda/driver/other_driver.h"

#ifdef __APPLE__

namespace cupola::driver {
void warn_of_other_drivers() {}
}  // namespace cupola::driver

#else

#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/log.h"

namespace cupola::driver {
namespace {

bool holds(const dl_phdr_info& library, uintptr_t address) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = library.dlpi_phdr[i];
    const uintptr_t begin = library.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin && address - begin < segment.p_memsz) return true;
  }
  return false;
}

bool is_libcuda(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "libcuda.so" || name.starts_with("libcuda.so.");
}

/// A visitor of dl_iterate_phdr: collects paths.
int visit(dl_phdr_info* library, size_t, void* paths) {
  const bool own = holds(*library, reinterpret_cast<uintptr_t>(&visit));
  if (!own && library->dlpi_name && is_libcuda(library->dlpi_name))
    static_cast<std::vector<std::string>*>(paths)->emplace_back(library->dlpi_name);
  return 0;
}

void warn() {
  std::vector<std::string> paths;
  dl_iterate_phdr(visit, &paths);
  if (!log::enabled(log::Topic::Error)) return;
  for (const std::string& path : paths) {
    const std::string line = formatted(
        "cupola: warning: another libcuda is loaded in this process: {}; calls may go to either: take it out of the "
        "program's RUNPATH and LD_LIBRARY_PATH, or start the program with 'cupola run'\n",
        path);
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  }
}

}  // namespace

void warn_of_other_drivers() {
  [[maybe_unused]] static const bool once = (warn(), true);
}

}  // namespace cupola::driver

#endif
