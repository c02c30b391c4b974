#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "ptx/syntax/ast.h"

namespace cupola::ptx {

/// Reads a PTX module, ISA 6.0 to 9.0 (older text is read too). Checks what the grammar, the instruction table and the
/// scopes of names say; verify() checks the rest. Error: InvalidPtx, "ptx: line 41, column 3: ..."; the first one only.
/// The text may hold a final zero byte, as loaders hand it over.
Result<Module> parse(std::string text);

/// Reads the statements of an inline-PTX string as the body of one function, functions[0], whose first registers are
/// `bound`. Names that nothing declares become symbols.
Result<Module> parse_fragment(std::string text, std::span<const Register> bound);

}  // namespace cupola::ptx
