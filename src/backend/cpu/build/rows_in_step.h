#pragma once

#include <cstdint>
#include <optional>

#include "base/kernel_info.h"

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Whether a thread of the kernel does little more than read some numbers and write others, in each place beside what
/// the threads beside it do, and, where it `asks`, only if one condition holds. After prepare_for_lanes.
bool is_short_stream(llvm::Function& function, const Dim3& shape, bool asks);

/// Has the warps of a block read and write in step, by meeting between what they do in one array and in the next, in
/// such code which asks nothing: memory gives a kilobyte of one array in a row faster than 128 bytes of each in turn
/// (measured, ADR 14; probably as its chips open a row for each turn). As long as a block's warps keep no more from
/// meeting to meeting than registers hold. Returns of how many blocks a grid goes beyond the caches, and is faster so;
/// nothing: it changed nothing.
std::optional<uint32_t> meet_in_step(llvm::Function& function, const Dim3& shape);

}  // namespace cupola::cpu::build
