#pragma once

#include <cstdint>

namespace llvm {
class Function;
class Instruction;
}  // namespace llvm

namespace cupola::metal::build {

/// How many numbered barriers a block has.
inline constexpr uint32_t kBarriers = 16;

/// Of all of the block's threads.
bool is_barrier(const llvm::Instruction& instruction);

/// One of the block's sixteen that need not be for all of its threads.
bool is_numbered_barrier(const llvm::Instruction& instruction);

bool is_grid_barrier(const llvm::Instruction& instruction);

/// Whether the function has an instruction of the kind.
bool has_any(llvm::Function& function, bool (*which)(const llvm::Instruction&));

}  // namespace cupola::metal::build
