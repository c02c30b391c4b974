#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backend/cpu/build/whole_block.h"
#include "base/result.h"
#include "image/block_class.h"
#include "kir/call_reach.h"

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

struct KernelBody;

/// Functions that run a kernel for a whole warp, by the class of the block's shape; their context is that of the warp's
/// first thread.
using WarpBodies = image::ByBlockClass<WideBody>;

struct VectorRung {
  WarpBodies warps;
  std::optional<InnerBody> inner = {};  ///< beside the only one of `warps`
};

/// The vector rung of a kernel, for these blocks, by code for them or for any block, or for all classes.
/// Error: NotSupported, saying what keeps it on the rung below; the module is as before then. Before lower_intrinsics,
/// after lower_shared. `constant_bytes`: as lower_intrinsics has it. `report`, where there is one, gets what
/// report_accesses says.
Result<VectorRung> vectorise(const KernelBody& kernel, const std::optional<image::BlocksOfCode>& blocks,
                             uint64_t constant_bytes, const kir::CallReach& reach, const llvm::TargetMachine& machine,
                             std::string* report = nullptr);

}  // namespace cupola::cpu::build
