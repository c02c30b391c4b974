#pragma once

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Target/TargetMachine.h>

#include "backend/cpu/build/block_regions.h"
#include "backend/cpu/build/intrinsics.h"
#include "backend/cpu/build/object_file.h"
#include "backend/cpu/build/place_arguments.h"
#include "backend/cpu/build/test_program.h"

namespace cupola::cpu::build::testing {

/// A warp's code with `body`, which has the arguments %p, %q and %n, cut at its barriers. %t is the first thread's
/// place, %b the block's.
class Cut {
 public:
  explicit Cut(const std::string& body, uint64_t most_bytes = 4096, bool beside = false,
               std::unique_ptr<llvm::TargetMachine> machine = std::move(*machine_for("cpu:test"))) {
    module_ = parse(context_, R"(
      declare i32 @cupola.tid.x()
      declare i32 @cupola.ctaid.x()
      declare i32 @cupola.ntid.x()
      declare void @cupola.barrier(i32, i32)
      declare <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr>, <32 x i1>, <32 x i32>)
      declare i32 @cupola.barrier_reduce(i32, i32, i32, i32)
      define internal void @warp(ptr %context, ptr noalias %p, ptr noalias %q, i32 %n) {
      start:
        %t = call i32 @cupola.tid.x()
        %b = call i32 @cupola.ctaid.x()
        %w = call i32 @cupola.ntid.x()
        )" + body + R"(
        ret void
      })");
    EXPECT_TRUE(retarget(*module_, *machine) && lower_intrinsics(*module_, 0));
    const PlacedCode placed = give_places_as_arguments(*module_->getFunction("warp"));
    regions = cut_at_barriers(placed, most_bytes, beside, *machine);
  }

  explicit operator bool() const { return regions.has_value(); }
  /// That are run for each warp.
  size_t for_warps() const {
    return llvm::count_if(regions->regions, [](const BlockRegion& region) { return !region.is_for_block; });
  }

  std::optional<BlockRegions> regions;

 private:
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

inline const std::string kMeet = "call void @cupola.barrier(i32 0, i32 0)\n";

}  // namespace cupola::cpu::build::testing
