#include "cupola/software_metal.h"

#include <cstdlib>

namespace cupola::tool {

void use_software_metal([[maybe_unused]] const std::filesystem::path& root) {
#if !defined(__APPLE__)
  setenv("CUPOLA_METAL_LIBRARY", (root / "lib/cupola/libcupola-software-metal.so").c_str(), 0);
#endif
}

}  // namespace cupola::tool
