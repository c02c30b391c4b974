#pragma once

#include <llvm/ADT/SmallVector.h>

#include <cstdint>

namespace llvm {
class CallInst;
class IRBuilderBase;
class Instruction;
class Value;
}  // namespace llvm

// Memory that is asked for before it is needed. Nothing depends on it but time.

namespace cupola::cpu::build {

class Lanes;
class Shapes;
struct Shape;

/// Of the caches, in bytes.
inline constexpr uint64_t kLine = 64;

struct Lines {
  llvm::Value* address;
  uint64_t bytes;
};
/// Whether lanes at such addresses, of each a few bytes, touch places beside each other or one place.
bool are_lines(Shape addresses);
/// What the lanes read from the address on, of each a few bytes, if that is places beside each other or one place; of a
/// warp of several rows, of each. Empty: they read here and there.
llvm::SmallVector<Lines, 4> lines_of(Lanes& lanes, llvm::Value* address);

/// Of caches. What is fetched long before it is needed is too much for the first.
enum class Level { First, Second };
/// Has a line brought into a cache.
llvm::CallInst* fetch_line(llvm::IRBuilderBase& builder, llvm::Value* address, Level level);
/// Has a line brought into the first cache, to be written to.
llvm::CallInst* fetch_line_to_write(llvm::IRBuilderBase& builder, llvm::Value* address);
/// Whether it is such a call. Though it is said to read and write memory, it does neither.
bool is_fetch(const llvm::Instruction& instruction);
/// All lines into the second cache.
void fetch_lines(llvm::IRBuilderBase& builder, llvm::Value* address, uint64_t bytes);

/// What a thread's code has fetched by fetch_line.
using Fetches = llvm::SmallVector<llvm::CallInst*, 4>;
/// Adds `more`, but for what one of them has fetched further on from the same place: that is removed.
void add_fetches(Fetches& all, const Fetches& more);
/// Removes those of lanes that do not touch what lies beside each other.
void keep_fetches_of_rows(const Fetches& fetches, const Shapes& shapes);

/// llvm.prefetch of a thread, by a warp: a line once, not for each lane. False: it is to be done lane by lane.
bool widen_prefetch(Lanes& lanes, const llvm::CallInst& prefetch);

}  // namespace cupola::cpu::build
