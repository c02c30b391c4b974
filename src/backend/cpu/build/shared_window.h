#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace llvm {
class Function;
class Instruction;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// Bytes of a block's window of shared memory, without the end; nothing: they may be anywhere.
using WindowRange = std::optional<std::pair<int64_t, int64_t>>;

bool overlap(const WindowRange& one, const WindowRange& other);

/// Whether all of it lies in the window for certain: what is read or written elsewhere fails maybe.
bool is_inside(const WindowRange& range);

/// Whether the address, or those of several lanes, are made of the window's as the context has it.
bool is_in_window(const llvm::Value& address);

/// Code reads or writes the window of its block, or may.
struct WindowAccess {
  llvm::Instruction* instruction;  ///< a load or a simple store, or those under a mask
  WindowRange range;
  bool writes;
};

/// All that the code does with the window, in no order. Nothing: that cannot be told, because its address goes
/// elsewhere, the code calls others, or others call it, who may give it pointers to shared memory (whole_block.h).
std::optional<std::vector<WindowAccess>> accesses_of_window(llvm::Function& code);

}  // namespace cupola::cpu::build
