#pragma once

#include "backend/cpu/build/vector_prefetch.h"

namespace llvm {
class Function;
class LoopInfo;
}  // namespace llvm

namespace cupola::cpu::build {

class Evolution;

/// Has what lies behind the row of memory that an innermost loop goes through brought into the first cache where the
/// loop begins: the rows of the threads or warps that follow most often lie there (those of a sparse matrix, however
/// long each is). Only of rows whose beginnings are read from memory. Returns the calls that do so: a line of each
/// thread, as far behind as it would read.
Fetches fetch_rows_behind(Evolution& evolution, const llvm::LoopInfo& loops);

/// The same in code for one thread, which runs a block's threads one after the other.
void fetch_rows_behind(llvm::Function& code);

}  // namespace cupola::cpu::build
