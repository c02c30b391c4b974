#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IRBuilder.h>

#include "backend/cpu/build/vector_access.h"
#include "backend/cpu/build/vector_exits.h"
#include "backend/cpu/build/vector_shapes.h"

namespace llvm {
class TargetMachine;
}

namespace cupola::cpu::build {

/// `type` for each lane: vectors, of structures a structure of them.
llvm::Type* widened(llvm::Type* type);

/// A value for each segment.
using Bases = llvm::SmallVector<llvm::Value*, 4>;

/// Memory of Lanes::scratch: what it holds is of no use to who comes next.
bool is_scratch(const llvm::AllocaInst& array);

/// The values of a kernel while it is written anew for a warp: what `from` computes for a thread, as code in `to` has
/// it for 32. Values that more than one block needs lie in slots, which mem2reg turns into registers at the end.
class Lanes {
 public:
  Lanes(llvm::Function& from, llvm::Function& to, const image::BlocksOfCode& blocks, const Shapes& shapes,
        const Exits& exits, const llvm::TargetMachine& machine);

  llvm::Function &from, &to;
  const llvm::TargetMachine& machine;
  const llvm::TargetTransformInfo target;  ///< what code for the machine costs
  const Shapes& shapes;
  const llvm::DataLayout& layout;
  const BlockClass blocks;
  const std::optional<Dim3> block_shape;  ///< where it is known
  const bool is_hot;                      ///< all ways to make an access fast; else one that is there soon
  llvm::IRBuilder<> builder;
  llvm::Value* const context;

  /// Makes the slots. `order`: the blocks of `from`.
  void begin(llvm::ArrayRef<llvm::BasicBlock*> order);
  /// Goes from the slots to `first`, and turns them into registers.
  void end(llvm::BasicBlock* first);

  /// The block of `from` that is being written.
  const llvm::BasicBlock* current = nullptr;
  /// What became of the accesses that have been written.
  Accesses accesses;
  /// Accesses that are more code than one for all lanes, each some 90 instructions: no more than kMostAtLength.
  unsigned at_length = 0;
  static constexpr unsigned kMostAtLength = 32;
  /// While it is set, code is for the case that all 32 lanes run that block.
  bool all_run = false;

  /// Code goes on in a block that others may come to.
  void enter(llvm::BasicBlock* block);
  llvm::BasicBlock* make_block(const llvm::Twine& name);
  /// Inside of a branch that comes back: what was known stays known, what is made there does not.
  template <typename Body>
  void within(llvm::BasicBlock* block, Body body) {
    auto kept = forms_;
    builder.SetInsertPoint(block);
    body();
    forms_ = std::move(kept);
  }
  /// One way or the other, and on; the value of `type` that came of it, null where it is null.
  template <typename Then, typename Otherwise>
  llvm::Value* choose(llvm::Value* condition, llvm::Type* type, Then then, Otherwise otherwise);

  /// Only if the condition holds.
  template <typename Body>
  void when(llvm::Value* condition, Body body) {
    llvm::BasicBlock *yes = make_block("when"), *on = make_block("on");
    builder.CreateCondBr(condition, yes, on);
    within(yes, [&] {
      body();
      builder.CreateBr(on);
    });
    builder.SetInsertPoint(on);
  }

  // ---- values ----

  Shape shape(const llvm::Value* value) const { return shapes.at(value, current); }
  /// Of a uniform value; of one with steps, lane 0's.
  llvm::Value* scalar(llvm::Value* value);
  /// Of a value that is not varying, what the first lane of each segment has.
  Bases bases(llvm::Value* value);
  /// The value of each lane.
  llvm::Value* vector(llvm::Value* value);
  /// Whether a value is what its shape says in all lanes; null: it is for certain.
  llvm::Value* straight(llvm::Value* value);

  /// What the instruction's value is from here on: of a varying one each lane's, otherwise lane 0's.
  void define(llvm::Instruction& instruction, llvm::Value* value, llvm::Value* is_straight = nullptr);
  /// The same of a segmented one: its bases.
  void define(llvm::Instruction& instruction, const Bases& values, llvm::Value* is_straight = nullptr);
  /// What was read of the value's slots is out of date.
  void forget(const llvm::Value* value) { forms_.erase(value); }

  llvm::Value* splat(llvm::Value* value);
  /// A value for each segment's lanes; no structures.
  llvm::Value* splat(const Bases& values);
  /// 0, 1, 2 ... for each lane, from 0 again after `period`.
  llvm::Value* lane_numbers(llvm::Type* type, unsigned period = kLanes);

  // ---- segments ----

  unsigned segment_lanes() const { return build::segment_lanes(blocks); }
  unsigned segment_count() const { return kLanes / segment_lanes(); }
  /// Its lanes, lane i as bit i.
  uint32_t segment_bits(unsigned which) const {
    return (~0u >> (kLanes - segment_lanes())) << (which * segment_lanes());
  }
  /// The segment's lanes of a vector of all.
  llvm::Value* segment(llvm::Value* wide, unsigned which);
  /// The way back.
  llvm::Value* join_segments(llvm::ArrayRef<llvm::Value*> parts);
  /// The segment's lanes among those of `mask`, lane i as bit i.
  llvm::Value* running_lanes(llvm::Value* mask, unsigned segment);
  /// True for segments of which a lane runs the current block; empty: all.
  Bases running_segments();

  llvm::Value* blend(llvm::Value* mask, llvm::Value* value, llvm::Value* otherwise);

  // ---- masks ----

  llvm::Type* mask_type() { return llvm::FixedVectorType::get(builder.getInt1Ty(), kLanes); }
  llvm::Value* no_lanes() { return llvm::Constant::getNullValue(mask_type()); }
  /// The lanes that run the block; null: all 32.
  llvm::Value* mask(const llvm::BasicBlock* block);
  llvm::Value* mask() { return mask(current); }
  bool has_mask() const { return !all_run && (live_ || mask_of_.contains(current)); }
  /// The same, never null.
  llvm::Value* full_mask(const llvm::BasicBlock* block);
  /// The lanes that have not left the kernel; null: all 32.
  llvm::Value* live();
  void leave(llvm::Value* lanes);
  /// From begin() on, the lanes that meet nobody any more are kept.
  void keep_departed();
  /// Those lanes; null: they are not kept.
  llvm::Value* departed() { return departed_ ? builder.CreateLoad(mask_type(), departed_) : nullptr; }
  void depart(llvm::Value* lanes);
  llvm::Value* any(llvm::Value* mask) { return builder.CreateICmpNE(bits(mask), builder.getInt32(0)); }
  /// Lane i is bit i.
  llvm::Value* bits(llvm::Value* mask) { return builder.CreateBitCast(mask, builder.getInt32Ty()); }
  llvm::Value* from_bits(llvm::Value* bits) { return builder.CreateBitCast(bits, mask_type()); }

  llvm::AllocaInst* slot(llvm::Type* type, const llvm::Twine& name);
  /// The same for one instruction alone, which writes all of it before it reads.
  llvm::AllocaInst* scratch(llvm::Type* type, const llvm::Twine& name);
  /// Where the lanes lie that will run a masked block.
  llvm::AllocaInst* mask_slot(const llvm::BasicBlock* block) { return mask_of_.lookup(block); }

  /// Where a value lies that other blocks need. Which of them are used follows from its shape.
  struct Slot {
    llvm::AllocaInst *scalar = nullptr, *vector = nullptr, *straight = nullptr;
    llvm::SmallVector<llvm::AllocaInst*, 4> bases;
    llvm::AllocaInst* apart = nullptr;  ///< as lanes that left the loop earlier have it
  };
  Slot slot_of(const llvm::Value* value) const { return slots_.lookup(value); }
  /// At the begin of a block: its phis, as lanes that leave the loop now will have them.
  void keep_phis(llvm::BasicBlock& block);

 private:
  /// A value as the block that is being written has it.
  struct Forms {
    llvm::Value *scalar = nullptr, *vector = nullptr, *straight = nullptr;
    Bases bases;
  };

  void find_needed(llvm::ArrayRef<llvm::BasicBlock*> order);
  void make_slots(llvm::Instruction& instruction);
  void make_local_memory();
  void make_live();
  llvm::Value* spread(llvm::Value* value, Shape known);
  llvm::Value* stepped(llvm::Value* value, int64_t distance);
  void keep(llvm::Instruction& instruction, llvm::Value* is_straight);
  void keep_apart(llvm::Instruction& instruction, llvm::Value* value);

  const bool has_exits_;
  llvm::BasicBlock* entry_ = nullptr;
  llvm::AllocaInst* live_ = nullptr;      ///< null: all lanes are there to the end
  llvm::AllocaInst* departed_ = nullptr;  ///< null: nobody asks
  llvm::SmallPtrSet<const llvm::Instruction*, 32> needed_;
  llvm::DenseMap<const llvm::Value*, llvm::Value*> arguments_;
  llvm::DenseMap<const llvm::Value*, Slot> slots_;
  llvm::DenseMap<const llvm::Value*, Forms> forms_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::AllocaInst*> mask_of_;
};

template <typename Then, typename Otherwise>
llvm::Value* Lanes::choose(llvm::Value* condition, llvm::Type* type, Then then, Otherwise otherwise) {
  llvm::BasicBlock *yes = make_block("straight"), *no = make_block("lane_by_lane"), *on = make_block("on");
  builder.CreateCondBr(condition, yes, no);
  llvm::Value *first = nullptr, *second = nullptr;
  llvm::BasicBlock *first_end = nullptr, *second_end = nullptr;
  within(yes, [&] {
    first = then();
    first_end = builder.GetInsertBlock();
    builder.CreateBr(on);
  });
  within(no, [&] {
    second = otherwise();
    second_end = builder.GetInsertBlock();
    builder.CreateBr(on);
  });
  builder.SetInsertPoint(on);
  if (!type) return nullptr;
  llvm::PHINode* phi = builder.CreatePHI(type, 2);
  phi->addIncoming(first, first_end);
  phi->addIncoming(second, second_end);
  return phi;
}

}  // namespace cupola::cpu::build
