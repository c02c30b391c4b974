#include "cupola/msl_command.h"

#include <cstdio>

#include "base/file.h"
#include "cupola/compiled_code.h"
#include "cupolac/compiler_library.h"

namespace cupola::tool {

Result<> msl_command(const std::string& file, const std::string& output, const std::vector<std::string>& flags,
                     const std::filesystem::path& root) {
  TRY(CodeFile read, compiled_code(file, flags, root));
  TRY(const std::string text, cupolac::compile(root / "lib", {.target = "msl", .units = std::move(read.units)}));
  if (!output.empty()) return write_file(output, std::as_bytes(std::span(text)));
  std::fputs(text.c_str(), stdout);
  return {};
}

}  // namespace cupola::tool
