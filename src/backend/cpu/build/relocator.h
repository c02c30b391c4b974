#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

// What an instruction set decides about relocations. One file an instruction set: relocator_x86_64.cpp.

namespace cupola::cpu::build {

/// What a relocation wants to reach.
enum class RelocationTarget {
  Address,  ///< the symbol itself, or for an import, its stub
  Slot,     ///< the 8-byte word that holds the symbol's address
};

struct Relocator {
  uint32_t stub_bytes;  ///< code that jumps through a slot

  /// What a relocation of this type reaches. Error: NotSupported for one that is not relative to the program counter.
  Result<RelocationTarget> (*target_of)(uint64_t type);

  /// Writes the relocation at segment[place] so that it reaches `target` (both offsets in the segment).
  Result<> (*apply)(uint64_t type, std::span<std::byte> segment, uint64_t place, uint64_t target, int64_t addend);

  /// Writes the stub at segment[place] that jumps to the address in the slot at `slot`.
  void (*write_stub)(std::span<std::byte> segment, uint64_t place, uint64_t slot);
};

extern const Relocator kRelocatorX86_64;

}  // namespace cupola::cpu::build
