#include "cupola/explain_command.h"

#include <cstdio>

#include "cupola/compiled_code.h"
#include "cupolac/compiler_library.h"

namespace cupola::tool {

Result<> explain_command(const std::string& file, const std::vector<std::string>& flags,
                         const std::filesystem::path& root) {
  TRY(CodeFile read, compiled_code(file, flags, root));
  for (image::CodeUnit& unit : read.units) {
    TRY(const std::string text, cupolac::compile(root / "lib", {.target = "explain", .units = {std::move(unit)}}));
    std::fputs(text.c_str(), stdout);
  }
  return {};
}

}  // namespace cupola::tool
