#pragma once

#include <llvm/IR/Argument.h>

#include <cstdint>
#include <vector>

#include "base/kernel_info.h"
#include "base/result.h"

namespace cupola::kir {

struct LaunchBounds;

/// The type that a kernel's parameter has in the parameter block: of a struct passed by value the struct.
llvm::Type* stored_type(const llvm::Argument& argument);

/// Bytes that the parameter's place in the block is a multiple of.
uint64_t stored_alignment(const llvm::Argument& argument);

/// Each argument at the next multiple of its natural alignment, as CUDA lays out the parameter block; the first
/// `hidden` arguments of the function are none of the kernel's.
std::vector<KernelInfo::Parameter> places_of(const llvm::Function& kernel, unsigned hidden = 0);

/// Fills in `info`'s parameters by places_of. Error: InvalidSource for a kernel that returns a value.
Result<> lay_out_parameters(const llvm::Function& kernel, unsigned hidden, KernelInfo& info);

/// Fills in what the bounds say of blocks.
void take_launch_bounds(const LaunchBounds& bounds, KernelInfo& info);

}  // namespace cupola::kir
