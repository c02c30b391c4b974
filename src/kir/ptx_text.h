#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::kir {

/// One PTX instruction of an inline assembly text, cut into its parts.
struct PtxStatement {
  std::string guard;                  ///< "p" for "@p", "!p" for "@!p", or empty
  std::vector<std::string> words;     ///< "add", "cc", "u32"
  std::vector<std::string> operands;  ///< "$0", "%tid.x", "[$1+4]", "{a, b}", "0x1f"
};

/// Cuts the text of an asm statement, as LLVM keeps it ($0 for operands, $$ for a dollar), into statements.
/// Declarations (.reg), scope braces and comments disappear. Error: NotSupported, for labels and other directives.
Result<std::vector<PtxStatement>> parse_inline_ptx(llvm::StringRef text);

}  // namespace cupola::kir
