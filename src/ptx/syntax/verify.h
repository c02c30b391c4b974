#pragma once

#include "base/result.h"
#include "ptx/syntax/ast.h"

namespace cupola::ptx {

/// Checks what the grammar leaves open: operands against the instruction's row (kinds, register types and sizes, state
/// spaces), labels, names declared twice, the module's `.version` and `.target` against what its instructions need.
/// Error: InvalidPtx; UnsupportedPtxVersion where only `.version` is too new. "ptx: line 41, column 3: ...".
Result<> verify(const Module& module);

}  // namespace cupola::ptx
