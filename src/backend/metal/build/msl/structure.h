#pragma once

#include <llvm/ADT/SmallVector.h>

#include <memory>
#include <vector>

#include "base/result.h"

namespace llvm {
class BasicBlock;
class Function;
class Value;
}  // namespace llvm

namespace cupola::metal::build {

/// A function's control flow as MSL can say it, which has no goto: a tree of statements. After Ramsey, "Beyond
/// Relooper: Recursive Translation of Unstructured Control Flow to Structured Control Flow" (ICFP 2022), with what
/// follows a loop behind it, and jumps out of several loops at once through a variable. No block is written twice and
/// no condition is evaluated twice, so that threads meet where the graph lets them.
struct Statement {
  enum class Kind {
    Code,      ///< the block's instructions, but for phis and the terminator
    Copy,      ///< the phis of `to` get their values of the edge from `block`
    If,        ///< on `condition`: `then`, else `otherwise`
    Loop,      ///< `body` for ever
    Scope,     ///< `body` once, for its Breaks
    Break,     ///< out of the innermost Loop or Scope
    Continue,  ///< to the start of the innermost Loop; stands in no Scope of that loop
    Leave,     ///< sets the variable to `number`; a Break follows
    Arrive,    ///< if the variable is `number`: `body`, which resets it where it is `last`
    Return,    ///< the block's ReturnInst
    Unreachable,
  };
  Kind kind;
  llvm::BasicBlock* block = nullptr;
  llvm::BasicBlock* to = nullptr;
  llvm::Value* condition = nullptr;
  std::vector<Statement> body, otherwise;
  unsigned number = 0;
  bool last = false;
};

/// The function's statements. Error: NotSupported for a loop with several entries, or a terminator that is no branch
/// (plain_shapes.h leaves none). `leaves`: set if there are Leaves.
Result<std::vector<Statement>> structure(llvm::Function& function, bool& leaves);

}  // namespace cupola::metal::build
