#include "backend/cpu/build/vector_rung.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "backend/cpu/build/context_parameter.h"
#include "backend/cpu/build/intrinsics.h"
#include "backend/cpu/build/vector_convergence.h"
#include "backend/cpu/build/vector_groups.h"
#include "backend/cpu/build/vector_prepare.h"
#include "backend/cpu/build/vector_shapes.h"
#include "backend/cpu/build/vector_widening.h"
#include "image/cpu_abi.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

/// Of a warp's local window, which is the stack; the rest is for what the code spills and calls.
constexpr uint64_t kMostFrame = image::cpu::kLocalWindow / 4 * 3;

std::unexpected<Error> refuse(const std::string& why) {
  return fail(ErrorCode::NotSupported, "{}", why);
}

/// A function that lives as long as this, unless it is kept.
class Draft {
 public:
  explicit Draft(llvm::Function* function) : function_(function) {}
  ~Draft() {
    if (function_) function_->eraseFromParent();
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  llvm::Function& operator*() const { return *function_; }
  llvm::Function* keep() { return std::exchange(function_, nullptr); }

 private:
  llvm::Function* function_;
};

llvm::Function* copy_of(llvm::Function& function) {
  llvm::ValueToValueMapTy map;
  return llvm::CloneFunction(&function, map);
}

/// Local arrays of all lanes, and the places for operands of what is done lane by lane.
uint64_t frame_bytes(const llvm::Function& function) {
  uint64_t bytes = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (const auto* place = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
      bytes += place->getAllocationSize(function.getDataLayout())->getFixedValue();
  return bytes;
}

/// blockDim.x is what the class says.
void set_width(llvm::Function& function, BlockClass blocks) {
  if (segment_lanes(blocks) == kLanes) return;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (kir::intrinsic_of(instruction) != kir::Intrinsic::NtidX) continue;
    instruction.replaceAllUsesWith(llvm::ConstantInt::get(instruction.getType(), segment_lanes(blocks)));
    instruction.eraseFromParent();
  }
}

/// Whether lanes read and write the same place, or places beside each other.
bool has_rows_only(llvm::Function& function, const Shapes& shapes) {
  const llvm::DataLayout& layout = function.getDataLayout();
  return llvm::all_of(llvm::instructions(function), [&](const llvm::Instruction& instruction) {
    const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
    if (!address) return !instruction.mayReadOrWriteMemory() || kir::intrinsic_of(instruction).has_value();
    const Shape shape = shapes.at(address, instruction.getParent());
    const auto bytes = static_cast<int64_t>(layout.getTypeStoreSize(llvm::getLoadStoreType(&instruction)));
    return shape.is_flat() || (shape.has_steps() && shape.stride == bytes);
  });
}

Result<WideBody> widen_for(llvm::Function& prepared, BlockClass blocks, const std::string& name, const CallReach& reach,
                           const llvm::TargetMachine& machine) {
  const Draft draft(copy_of(prepared));
  set_width(*draft, blocks);
  const Exits exits = separate_exits(*draft, blocks);
  llvm::DominatorTree dominators(*draft);
  const llvm::PostDominatorTree post_dominators(*draft);
  const llvm::LoopInfo loops(dominators);
  if (const std::string why = obstacle(*draft, loops, post_dominators); !why.empty()) return refuse(why);
  const Shapes shapes(*draft, blocks, loops, post_dominators);
  if (const std::string why = convergence_obstacle(*draft, shapes, loops, dominators, post_dominators, reach);
      !why.empty())
    return refuse(why);
  Draft whole(llvm::Function::Create(prepared.getFunctionType(), llvm::GlobalValue::InternalLinkage, name,
                                     prepared.getParent()));
  (*whole).setAttributes(prepared.getAttributes());
  // LLVM would take wide addresses made of an argument for others than the argument's.
  for (unsigned i = 0; i < (*whole).arg_size(); ++i) (*whole).removeParamAttr(i, llvm::Attribute::NoAlias);
  // They are read in the launch's parameter block: never undefined.
  for (unsigned i = 0; i < (*whole).arg_size(); ++i) (*whole).addParamAttr(i, llvm::Attribute::NoUndef);
  (*whole).setSubprogram((*draft).getSubprogram());
  (*draft).setSubprogram(nullptr);
  const Groups groups(*draft, shapes, dominators);
  widen(*draft, *whole, blocks, shapes, groups, loops, exits, machine.getTargetTransformInfo(prepared));
  if (frame_bytes(*whole) > kMostFrame) return refuse("what it does lane by lane needs too large a stack");
  return WideBody{whole.keep(), blocks, false, loops.empty() && has_rows_only(*draft, shapes)};
}

/// Whether threads ask for more than threadIdx.x: rows of 16 and of 8 are for kernels of several dimensions.
bool has_rows(llvm::Function& prepared) {
  return llvm::any_of(llvm::instructions(prepared), [](const llvm::Instruction& instruction) {
    const auto known = kir::intrinsic_of(instruction);
    return known == kir::Intrinsic::TidY || known == kir::Intrinsic::TidZ;
  });
}

const char* prefix_of(BlockClass blocks) {
  switch (blocks) {
    case BlockClass::Rows:
      return "warp.";
    case BlockClass::Rows16:
      return "rows16.";
    case BlockClass::Rows8:
      return "rows8.";
    case BlockClass::Any:
    case BlockClass::One:
      return "lanes.";
  }
}

}  // namespace

Result<WarpBodies> vectorise(const KernelBody& kernel, std::optional<BlockClass> blocks, uint64_t constant_bytes,
                             const CallReach& reach, const llvm::TargetMachine& machine) {
  const Draft prepared(copy_of(*kernel.body));
  TRY(prepare_for_lanes(*prepared, reach));
  lower_address_questions(*prepared, constant_bytes);
  WarpBodies bodies;
  const auto widen_prepared = [&](BlockClass one) -> Result<> {
    TRY(bodies[one], widen_for(*prepared, one, prefix_of(one) + kernel.name, reach, machine));
    return {};
  };
  const bool rows = has_rows(*prepared);
  // Less is known of others than of rows of 32, so that what is right there may not be here.
  if (!blocks) {
    TRY(widen_prepared(BlockClass::Rows));
    if (rows)
      for (const BlockClass one : {BlockClass::Rows16, BlockClass::Rows8}) (void)widen_prepared(one);
    (void)widen_prepared(BlockClass::Any);
    return bodies;
  }
  if (rows || *blocks == BlockClass::Rows) {
    const Result<> made = widen_prepared(*blocks);
    if (made) return bodies;
    if (*blocks == BlockClass::Any) return fail(made.error());
  }
  TRY(widen_prepared(BlockClass::Any));
  return bodies;
}

}  // namespace cupola::cpu::build
