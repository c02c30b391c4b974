#include "backend/cpu/build/block_walk.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "backend/cpu/build/block_loop.h"
#include "backend/cpu/build/block_updates.h"
#include "backend/cpu/build/kept_columns.h"
#include "backend/cpu/build/place_arguments.h"
#include "backend/cpu/build/place_notes.h"
#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_shape.h"
#include "backend/cpu/build/warp_coroutine.h"
#include "backend/cpu/build/whole_block.h"
#include "image/cpu_abi.h"

namespace cupola::cpu::build {
namespace {

using image::cpu::kWarp;
using image::cpu::ThreadContext;
using llvm::BasicBlock;
using llvm::Value;

/// Of blocks beside each other that take turns: 4 KiB of a row of words, so that the first cache has the rows above too
/// for what reads of these. And as many bits say by which code each is run.
constexpr uint32_t kMostBeside = 32;

uint32_t size_in(const Dim3& shape, unsigned dimension) {
  return dimension == 0 ? shape.x : dimension == 1 ? shape.y : shape.z;
}

}  // namespace

BlockWalk::BlockWalk(const WideBody& body, const PlacedCode& placed, llvm::DISubprogram* lines)
    : builder_(body.code->getContext()),
      made_(llvm::Function::Create(body.code->getFunctionType(), llvm::GlobalValue::InternalLinkage,
                                   "block." + body.code->getName(), body.code->getParent())),
      loops_(builder_, *made_),
      placed_(placed),
      blocks_(body.blocks),
      step_(body.is_alone ? 1 : kWarp) {
  llvm::Function& warp = *body.code;
  made_->setAttributes(warp.getAttributes());
  made_->setSubprogram(lines);
  mark_whole_blocks(*made_);
  if (lines) builder_.SetCurrentDebugLocation(llvm::DILocation::get(builder_.getContext(), 0, 0, lines));
  builder_.SetInsertPoint(loops_.make_block("begin"));
  for (unsigned d = 0; d < 3; ++d) {
    block_size_[d] = body.shape ? static_cast<Value*>(builder_.getInt32(size_in(*body.shape, d)))
                                : word(offsetof(ThreadContext, ntid) + 4 * d);
    tables_[d] = pointer(offsetof(ThreadContext, places) + d * sizeof(void*));
  }
  window_ = block_window_ = pointer(offsetof(ThreadContext, shared_window));
  threads_ = builder_.CreateMul(builder_.CreateMul(block_size_[0], block_size_[1]), block_size_[2]);
  warps_ = builder_.CreateLShr(builder_.CreateAdd(threads_, builder_.getInt32(kWarp - 1)), uint64_t{5});
}

Value* BlockWalk::word(size_t offset) {
  return load_field(builder_, context_of(*made_), offset, builder_.getInt32Ty(), /*constant=*/false);
}

Value* BlockWalk::pointer(size_t offset) {
  return load_field(builder_, context_of(*made_), offset, builder_.getPtrTy(), /*constant=*/false);
}

Value* BlockWalk::least(Value* a, Value* b) {
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b);
}

/// Where the code is, for a fault: it stays where it stands.
void BlockWalk::note_place(size_t offset, Value* value) {
  Value* address = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), context_of(*made_), offset);
  notes_.push_back(builder_.CreateStore(value, address, /*isVolatile=*/true));
}

// ---- the function ----

llvm::Function* BlockWalk::finish() {
  builder_.CreateRetVoid();
  for (llvm::CallInst* call : calls_) {
    llvm::InlineFunctionInfo info;
    call->getCalledFunction()->removeFnAttr(llvm::Attribute::NoInline);
    llvm::InlineFunction(*call, info);
  }
  tell_notes_apart(*made_, notes_);
  return made_;
}

llvm::Function* BlockWalk::finish_gathering() {
  gather_updates(*finish(), loops_.ends_of_turns());
  return made_;
}

llvm::CallInst* BlockWalk::call(llvm::Function& code, llvm::ArrayRef<Value*> all) {
  calls_.push_back(builder_.CreateCall(&code, all));
  return calls_.back();
}

// ---- frames and shared memory ----

void BlockWalk::make_frames(uint64_t bytes, uint32_t most_bytes) {
  frame_bytes_ = bytes;
  block_frames_ = builder_.CreateMul(warps_, builder_.getInt32(static_cast<uint32_t>(bytes)));
  most_beside_ = builder_.getInt32(1);
  if (most_bytes > 0) {
    window_bytes_ = window_bytes();
    Value* needed = builder_.CreateAdd(block_frames_, window_bytes_);  // maybe nothing
    needed = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, needed, most_beside_);
    Value* fitting = builder_.CreateUDiv(builder_.getInt32(most_bytes), needed);
    most_beside_ = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, fitting, most_beside_);
  }
  if (bytes == 0) return;
  frames_ = builder_.CreateAlloca(builder_.getInt8Ty(), builder_.CreateMul(block_frames_, most_beside_), "frames");
  frames_->setAlignment(llvm::Align(kFrameAlignment));
  block_frame_ = frames_;
}

/// What lies between the shared memory of blocks beside each other. None for code that has none.
Value* BlockWalk::window_bytes() {
  if (!llvm::is_contained(placed_.fields, offsetof(ThreadContext, shared_window))) return builder_.getInt32(0);
  Value* bytes = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, builder_.getInt32(kSharedAlignment),
                                                word(offsetof(ThreadContext, total_shared_bytes)));
  Value* zeros = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, builder_.CreateSub(bytes, builder_.getInt32(1)),
                                                builder_.getTrue());
  return builder_.CreateShl(builder_.getInt32(1), builder_.CreateSub(builder_.getInt32(32), zeros));
}

void BlockWalk::go_to(Value* first, Value* number) {
  number_ = number;
  block_[0] = builder_.CreateAdd(first, number);
  note_place(offsetof(ThreadContext, ctaid), block_[0]);
  const auto at = [&](Value* begin, Value* bytes) {
    return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), begin,
                                      builder_.CreateZExt(builder_.CreateMul(number, bytes), builder_.getInt64Ty()));
  };
  if (frames_) block_frame_ = at(frames_, block_frames_);
  if (window_bytes_) block_window_ = at(window_, window_bytes_);
}

Value* BlockWalk::frame_of(Value* index) {
  Value* warp = builder_.CreateZExt(builder_.CreateLShr(index, uint64_t{5}), builder_.getInt64Ty());
  Value* offset = builder_.CreateMul(warp, builder_.getInt64(frame_bytes_));
  return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), block_frame_, offset);
}

// ---- blocks ----

void BlockWalk::each_block(llvm::function_ref<void()> body) {
  each_step([&](Value* first, Value*) {
    note_place(offsetof(ThreadContext, ctaid), block_[0] = first);
    body();
    return builder_.getInt32(1);
  });
}

void BlockWalk::each_group(llvm::function_ref<Value*(Value*, Value*)> body) {
  each_step([&](Value* first, Value* left) {
    Value* in_row = builder_.CreateSub(word(offsetof(ThreadContext, nctaid)), first);
    Value* blocks = body(first, least(least(left, in_row), builder_.getInt32(kMostBeside)));
    Value* last = builder_.CreateAdd(first, builder_.CreateSub(blocks, builder_.getInt32(1)));
    note_place(offsetof(ThreadContext, ctaid), last);  // from which the run half goes on, whichever was run last
    return blocks;
  });
  note_place(offsetof(ThreadContext, blocks), builder_.CreateAdd(unasked_blocks_, builder_.getInt32(1)));
}

void BlockWalk::each_step(llvm::function_ref<Value*(Value*, Value*)> body) {
  Value* first[3];
  Value* grid_size[3];
  for (unsigned d = 0; d < 3; ++d) {
    first[d] = word(offsetof(ThreadContext, ctaid) + 4 * d);
    grid_size[d] = word(offsetof(ThreadContext, nctaid) + 4 * d);
  }
  Value* all = word(offsetof(ThreadContext, blocks));
  unasked_blocks_ = word(offsetof(ThreadContext, blocks_left));
  const LoopWriter::Turns turns = loops_.begin_turns("block");
  llvm::PHINode* left = loops_.counter(turns, "left", all);
  const LoopWriter::Position position = loops_.counters(turns, "ctaid", first);
  const bool keeps = llvm::is_contained(placed_.fields, offsetof(ThreadContext, kept_blocks));
  llvm::PHINode* kept = keeps ? loops_.counter(turns, "kept", builder_.getInt32(0)) : nullptr;
  for (unsigned d = 1; d < 3; ++d) note_place(offsetof(ThreadContext, ctaid) + 4 * d, block_[d] = position[d]);
  note_place(offsetof(ThreadContext, blocks), left_blocks_ = left);
  if (kept) keep_outputs(kept, position[0], grid_size[0]);
  Value* step = body(position[0], builder_.CreateSub(left, unasked_blocks_));
  loops_.advance(position, step, grid_size);
  if (kept)
    kept->addIncoming(builder_.CreateMul(builder_.CreateAdd(kept, builder_.getInt32(1)), keeps_on_),
                      builder_.GetInsertBlock());
  Value* rest = builder_.CreateSub(left, step);
  left->addIncoming(rest, builder_.GetInsertBlock());
  loops_.end_turns(turns, builder_.CreateICmpNE(rest, unasked_blocks_));
}

/// Of blocks one after the other: `kept` of them have kept their outputs before this one, which is to keep its own
/// too if another one follows in its row, as long as they fill a line.
void BlockWalk::keep_outputs(Value* kept, Value* block, Value* row) {
  Value* one = builder_.getInt32(1);
  Value* has_room = builder_.CreateICmpULT(kept, builder_.getInt32(kMostKeptBlocks - 1));
  Value* is_followed = builder_.CreateICmpUGT(builder_.CreateSub(left_blocks_, unasked_blocks_), one);
  Value* is_in_row = builder_.CreateICmpULT(builder_.CreateAdd(block, one), row);
  kept_blocks_ = kept;
  keeps_on_ = builder_.CreateZExt(builder_.CreateAnd(has_room, builder_.CreateAnd(is_followed, is_in_row)),
                                  builder_.getInt32Ty());
}

// ---- warps ----

void BlockWalk::each_warp(bool is_shown, ForWarp body, Value* acting) {
  Value* zero = builder_.getInt32(0);
  if (LoopWriter::is_one_turn(threads_, step_)) return run(Warp{zero, {zero, zero, zero}}, is_shown, body);
  const LoopWriter::Turns turns = loops_.begin_turns("warp");
  llvm::PHINode* index = loops_.counter(turns, "index", zero);
  const bool is_line = LoopWriter::is_one_turn(block_size_[1], 1) && LoopWriter::is_one_turn(block_size_[2], 1);
  const LoopWriter::Position position =
      is_line ? LoopWriter::Position{} : loops_.counters(turns, "tid", {zero, zero, zero});
  run(is_line ? Warp{index, {index, zero, zero}} : Warp{index, {begin_of_warp(position[0]), position[1], position[2]}},
      is_shown, body);
  Value* next = builder_.CreateAdd(index, builder_.getInt32(step_));
  BasicBlock* over = acting ? leave_behind(acting, next) : loops_.make_block("over");
  if (!is_line) loops_.advance(position, builder_.getInt32(step_), block_size_);
  index->addIncoming(next, builder_.GetInsertBlock());
  loops_.end_turns(turns, builder_.CreateICmpULT(next, threads_), over);
}

/// Which is a multiple of a warp's threads where warps lie in rows: LLVM does not find it out where it begins again
/// with each row.
Value* BlockWalk::begin_of_warp(Value* x) {
  return step_ == 1 ? x : builder_.CreateAnd(x, builder_.getInt32(~(kWarp - 1)));
}

/// Where a block of one row goes on, from here, if none of the acting threads is at or behind `next`.
BasicBlock* BlockWalk::leave_behind(Value* acting, Value* next) {
  BasicBlock *over = loops_.make_block("over"), *others = loops_.make_block("others");
  Value* rows = builder_.CreateMul(block_size_[1], block_size_[2]);
  Value* is_over =
      builder_.CreateAnd(builder_.CreateICmpUGE(next, acting), builder_.CreateICmpEQ(rows, builder_.getInt32(1)));
  builder_.CreateCondBr(is_over, over, others);
  builder_.SetInsertPoint(others);
  return over;
}

void BlockWalk::run(const Warp& warp, bool is_shown, ForWarp body) {
  note_place(offsetof(ThreadContext, warp), place(offsetof(ThreadContext, warp), warp));
  if (is_shown) show(warp);
  body(warp);
}

/// For each row of threads, given what goes through its warps. Where a warp is several rows it stands for them.
void BlockWalk::each_row(bool is_shown, llvm::function_ref<void(ForRow)> body) {
  if (blocks_ != BlockClass::Rows) {  // one row, or no positions are asked for
    Value* zero = builder_.getInt32(0);
    return loops_.count(threads_, kWarp, [&](Value* index) {
      body([&](ForWarp code) { run(Warp{index, {index, zero, zero}}, is_shown, code); });
    });
  }
  loops_.count(builder_.CreateMul(block_size_[1], block_size_[2]), 1, [&](Value* row) {
    Value* z = builder_.CreateUDiv(row, block_size_[1]);
    Value* y = builder_.CreateURem(row, block_size_[1]);
    Value* first = builder_.CreateMul(row, block_size_[0]);
    body([&](ForWarp code) {
      loops_.count(block_size_[0], kWarp,
                   [&](Value* x) { run(Warp{builder_.CreateAdd(first, x), {x, y, z}}, is_shown, code); });
    });
  });
}

void BlockWalk::each_row_beside(bool is_shown, Value* first, Value* blocks, ForWarp body, bool every_second) {
  each_row(is_shown, [&](ForRow row) {
    loops_.count(blocks, 1, [&](Value* number) {
      go_to(first, every_second ? every_second_first(number, blocks) : number);
      row(body);
    });
  });
}

/// Of so many blocks the even ones, then the odd ones.
Value* BlockWalk::every_second_first(Value* number, Value* blocks) {
  Value* even = builder_.CreateLShr(builder_.CreateAdd(blocks, builder_.getInt32(1)), uint64_t{1});
  Value* odd = builder_.CreateICmpUGE(number, even);
  Value* from_first = builder_.CreateSub(number, builder_.CreateSelect(odd, even, builder_.getInt32(0)));
  return builder_.CreateAdd(builder_.CreateShl(from_first, uint64_t{1}),
                            builder_.CreateZExt(odd, builder_.getInt32Ty()));
}

// ---- what code takes ----

llvm::SmallVector<Value*, 8> BlockWalk::arguments(const PlacedCode& placed, const Warp& warp) {
  llvm::SmallVector<Value*, 8> all;
  for (llvm::Argument& argument : made_->args()) all.push_back(&argument);
  for (const size_t field : placed.fields) all.push_back(place(field, warp));
  return all;
}

Value* BlockWalk::place(size_t field, const Warp& warp) {
  const bool is_counted = step_ == 1 || is_in_row(blocks_);
  for (unsigned d = 0; d < 3; ++d) {
    if (field == offsetof(ThreadContext, ctaid) + 4 * d) return block_[d];
    if (field == offsetof(ThreadContext, tid) + 4 * d)
      return is_counted ? warp.position[d] : builder_.CreateLoad(builder_.getInt32Ty(), table_of(d, warp));
    if (field == offsetof(ThreadContext, places) + d * sizeof(void*)) return table_of(d, warp);
  }
  if (field == offsetof(ThreadContext, shared_window)) return block_window_;
  if (field == offsetof(ThreadContext, blocks)) return left_blocks_;
  if (field == offsetof(ThreadContext, kept_blocks)) return kept_blocks_;
  if (field == offsetof(ThreadContext, keeps_on)) return keeps_on_;
  if (field == offsetof(ThreadContext, warp)) return builder_.CreateLShr(warp.index, uint64_t{5});
  if (field == offsetof(ThreadContext, lanes)) return lanes_of(warp);
  return builder_.CreateAnd(warp.index, builder_.getInt32(kWarp - 1));  // the first thread's lane
}

/// Of the warp's threads, in one dimension.
Value* BlockWalk::table_of(unsigned dimension, const Warp& warp) {
  return builder_.CreateInBoundsGEP(builder_.getInt32Ty(), tables_[dimension], warp.index);
}

Value* BlockWalk::lanes_of(const Warp& warp) {
  if (step_ == 1 || !may_be_partial(blocks_)) return builder_.getInt32(~0u);
  Value* left = builder_.CreateSub(threads_, warp.index);
  Value* some = builder_.CreateSub(builder_.CreateShl(builder_.getInt32(1), left), builder_.getInt32(1));
  return builder_.CreateSelect(builder_.CreateICmpUGE(left, builder_.getInt32(kWarp)), builder_.getInt32(~0u), some);
}

/// In the context, for what the code calls.
void BlockWalk::show(const Warp& warp) {
  for (const size_t field : {offsetof(ThreadContext, lane), offsetof(ThreadContext, lanes)})
    store_field(builder_, context_of(*made_), field, place(field, warp));
  for (unsigned d = 0; d < 3; ++d)
    for (const size_t field :
         {offsetof(ThreadContext, tid) + 4 * d, offsetof(ThreadContext, places) + d * sizeof(void*)})
      store_field(builder_, context_of(*made_), field, place(field, warp));
}

}  // namespace cupola::cpu::build
