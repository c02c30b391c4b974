#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

#include <cstdint>

#include "backend/cpu/build/loop_writer.h"
#include "image/block_class.h"

namespace llvm {
class AllocaInst;
class CallInst;
class DISubprogram;
class Function;
class StoreInst;
}  // namespace llvm

namespace cupola::cpu::build {

struct PlacedCode;
struct WideBody;

/// A function in the making that goes through as many blocks as its context says, from the context's own on, and
/// through the warps of each; what it runs for them, who writes it says. `Warp`: or a thread, for code for one.
class BlockWalk {
 public:
  /// `body`: whose code takes what the function takes; `placed` its code, which will be inlined.
  /// `lines`: what the function's debug information belongs to; null: nothing.
  BlockWalk(const WideBody& body, const PlacedCode& placed, llvm::DISubprogram* lines);

 protected:
  struct Warp {
    llvm::Value* index;        ///< of its first thread
    llvm::Value* position[3];  ///< of it, where warps lie in rows
  };
  using ForWarp = llvm::function_ref<void(const Warp&)>;
  using ForRow = llvm::function_ref<void(ForWarp)>;  ///< runs what it is given for a row's warps

  // ---- blocks ----

  /// One after the other.
  void each_block(llvm::function_ref<void()> body);
  /// By those that are left in a row of the grid, as many as may take turns, given the first one's x and how many they
  /// are; `body` returns how many of them it ran.
  void each_group(llvm::function_ref<llvm::Value*(llvm::Value* first, llvm::Value* blocks)> body);
  /// By steps, given the x of the first block of each and how many are left; `body` returns how many it ran.
  void each_step(llvm::function_ref<llvm::Value*(llvm::Value* first, llvm::Value* left)> body);
  /// The block is one of those that run beside each other.
  void go_to(llvm::Value* first, llvm::Value* number);
  /// The place of the block in the grid is another, for what asks for it alone.
  void stand_at(llvm::Value* x) { block_[0] = x; }
  /// Of the block among those beside each other.
  llvm::Value* number() const { return number_; }

  // ---- warps of the block ----

  /// For each warp, with all of the context as that warp's if it `is_shown`. `acting`: of threads in a row, from the
  /// first on, for which something is to be done, as `body` knows at its end; null: all.
  void each_warp(bool is_shown, ForWarp body, llvm::Value* acting = nullptr);
  /// For each row of threads of blocks beside each other, `blocks` from `first` on: the row of each in turn, or of
  /// every second one first. Where a warp is several rows it stands for them.
  void each_row_beside(bool is_shown, llvm::Value* first, llvm::Value* blocks, ForWarp body, bool every_second = false);

  /// What code takes: the kernel's arguments, then the places that it asks for.
  llvm::SmallVector<llvm::Value*, 8> arguments(const PlacedCode& placed, const Warp& warp);
  /// The value of a field of the context, for this warp of this block.
  llvm::Value* place(size_t field, const Warp& warp);

  // ---- frames and shared memory ----

  /// Frames of `bytes` for the warps of a block, and of more blocks beside it whose frames and shared memory all take
  /// no more than `most_bytes`.
  void make_frames(uint64_t bytes, uint32_t most_bytes);
  llvm::Value* frame_of(llvm::Value* index);
  /// Of `blocks` as many as have frames.
  llvm::Value* with_frames(llvm::Value* blocks) { return least(blocks, most_beside_); }

  // ---- the function ----

  /// Which is inlined in the end.
  llvm::CallInst* call(llvm::Function& code, llvm::ArrayRef<llvm::Value*> all);
  llvm::Function* finish();
  /// Where nothing stops.
  llvm::Function* finish_gathering();

  llvm::IRBuilder<> builder_;
  llvm::Function* made_;
  LoopWriter loops_;
  const PlacedCode& placed_;

 private:
  llvm::Value* word(size_t offset);
  llvm::Value* pointer(size_t offset);
  llvm::Value* least(llvm::Value* a, llvm::Value* b);
  void note_place(size_t offset, llvm::Value* value);
  llvm::Value* window_bytes();
  void keep_outputs(llvm::Value* kept, llvm::Value* block, llvm::Value* row);
  llvm::Value* begin_of_warp(llvm::Value* x);
  llvm::BasicBlock* leave_behind(llvm::Value* acting, llvm::Value* next);
  void run(const Warp& warp, bool is_shown, ForWarp body);
  void each_row(bool is_shown, llvm::function_ref<void(ForRow)> body);
  llvm::Value* every_second_first(llvm::Value* number, llvm::Value* blocks);
  llvm::Value* table_of(unsigned dimension, const Warp& warp);
  llvm::Value* lanes_of(const Warp& warp);
  void show(const Warp& warp);

  const image::BlockClass blocks_;
  const unsigned step_;  ///< threads that the code is for
  llvm::Value *threads_ = nullptr, *warps_ = nullptr, *block_size_[3] = {}, *tables_[3] = {};
  llvm::Value* block_[3] = {};  ///< blockIdx
  llvm::Value* number_ = nullptr;
  llvm::Value* left_blocks_ = nullptr;     ///< with that one
  llvm::Value* unasked_blocks_ = nullptr;  ///< of these, the last ones
  llvm::Value *kept_blocks_ = nullptr, *keeps_on_ = nullptr;
  uint64_t frame_bytes_ = 0;
  llvm::Value* block_frames_ = nullptr;                      ///< bytes of the frames of a block
  llvm::Value *window_ = nullptr, *window_bytes_ = nullptr;  ///< of shared memory; bytes: of blocks beside each other
  llvm::Value* most_beside_ = nullptr;                       ///< blocks
  llvm::Value *block_frame_ = nullptr, *block_window_ = nullptr;  ///< its first frame, its shared memory
  llvm::AllocaInst* frames_ = nullptr;
  llvm::SmallVector<llvm::CallInst*, 2> calls_;
  llvm::SmallVector<llvm::StoreInst*, 16> notes_;
};

}  // namespace cupola::cpu::build
