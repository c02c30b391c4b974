#include "cupola/explain_command.h"

#include <cstdio>

#include "cupola/compiled_code.h"
#include "cupola/extent.h"
#include "cupolac/compiler_library.h"
#include "image/block_class.h"

namespace cupola::tool {

Result<> explain_command(const ExplainOptions& options, const std::filesystem::path& root) {
  std::string code;
  if (options.block) {
    TRY(const Dim3 block, parse_block("--block", *options.block));
    const image::BlockClass blocks = image::class_of(block);
    const bool has_hot = blocks != image::BlockClass::One;  // a thread alone has no other code
    code =
        image::request_name(has_hot ? image::BlocksOfCode{blocks, block, /*hot=*/true} : image::BlocksOfCode{blocks});
  }
  TRY(CodeFile read, compiled_code(options.file, options.flags, root));
  for (image::CodeUnit& unit : read.units) {
    TRY(const std::string text,
        cupolac::compile(root / "lib", {.target = "explain", .units = {std::move(unit)}, .code = code}));
    std::fputs(text.c_str(), stdout);
  }
  return {};
}

}  // namespace cupola::tool
