#pragma once

#include <llvm/ADT/DenseMap.h>

#include <cstdint>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace cupola::metal::build {

/// Where a program holds addresses of a thread's variables as numbers, all of them lie behind metal.stack: each
/// function's at a fixed place, behind those of all that may call it. Returns how many bytes each function and what it
/// calls reach to, of functions in modules where that is so; nothing in others, whose variables stay where they are. Of
/// a module without recursion.
llvm::DenseMap<const llvm::Function*, uint64_t> place_in_stack(llvm::Module& module);

}  // namespace cupola::metal::build
