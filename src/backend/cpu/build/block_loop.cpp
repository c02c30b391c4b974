#include "backend/cpu/build/block_loop.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <array>

#include "backend/cpu/build/block_regions.h"
#include "backend/cpu/build/block_updates.h"
#include "backend/cpu/build/block_votes.h"
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

/// Of frames and shared memory of blocks beside each other that take turns in loops, which pass through the caches with
/// what they read: 8 blocks of 8 warps with frames of 512 bytes and some shared memory, whose rows are pages together.
constexpr uint32_t kTurningBytes = 64 << 10;
/// The same of blocks that go from barrier to barrier, which come back to it soon: most of the first cache.
constexpr uint32_t kMeetingBytes = 32 << 10;

/// Of blocks beside each other that take turns: 4 KiB of a row of words, so that the first cache has the rows above too
/// for what reads of these. And as many bits say by which code each is run.
constexpr uint32_t kMostBeside = 32;

/// For a loop into which `code` will be inlined: a function without debug information would swallow its lines.
llvm::DISubprogram* lines_beside(const llvm::Function& code) {
  const llvm::DISubprogram* lines = code.getSubprogram();
  return lines ? llvm::MDNode::replaceWithDistinct(lines->clone()) : nullptr;
}

llvm::DISubprogram* take_lines(llvm::Function& code) {
  llvm::DISubprogram* lines = code.getSubprogram();
  code.setSubprogram(nullptr);
  return lines;
}

uint32_t size_in(const Dim3& shape, unsigned dimension) {
  return dimension == 0 ? shape.x : dimension == 1 ? shape.y : shape.z;
}

class BlockLoop {
 public:
  /// `body`: whose code takes what the loop takes; `placed` its code, which will be inlined.
  /// `lines`: what the loop's debug information belongs to; null: nothing.
  BlockLoop(const WideBody& body, const PlacedCode& placed, llvm::DISubprogram* lines)
      : builder_(body.code->getContext()),
        made_(llvm::Function::Create(body.code->getFunctionType(), llvm::GlobalValue::InternalLinkage,
                                     "block." + body.code->getName(), body.code->getParent())),
        placed_(placed),
        blocks_(body.blocks),
        every_second_(body.reads_of_others && segment_lanes(body.blocks) < kWarp),
        step_(body.is_alone ? 1 : kWarp) {
    llvm::Function& warp = *body.code;
    made_->setAttributes(warp.getAttributes());
    made_->setSubprogram(lines);
    mark_whole_blocks(*made_);
    if (lines) builder_.SetCurrentDebugLocation(llvm::DILocation::get(builder_.getContext(), 0, 0, lines));
    builder_.SetInsertPoint(make_block("begin"));
    for (unsigned d = 0; d < 3; ++d) {
      block_size_[d] = body.shape ? static_cast<Value*>(builder_.getInt32(size_in(*body.shape, d)))
                                  : word(offsetof(ThreadContext, ntid) + 4 * d);
      tables_[d] = pointer(offsetof(ThreadContext, places) + d * sizeof(void*));
    }
    window_ = block_window_ = pointer(offsetof(ThreadContext, shared_window));
    threads_ = builder_.CreateMul(builder_.CreateMul(block_size_[0], block_size_[1]), block_size_[2]);
    warps_ = builder_.CreateLShr(builder_.CreateAdd(threads_, builder_.getInt32(kWarp - 1)), uint64_t{5});
  }

  llvm::Function* over_warps() {
    only_reads(*placed_.code);
    each_block([&] {
      each_warp(calls_others(*placed_.code), [&](const Warp& warp) { call(*placed_.code, arguments(placed_, warp)); });
    });
    return finish_gathering();
  }

  /// `inner`: for those of the blocks that it is for; null: there is none.
  llvm::Function* over_rows(const InnerRows* inner) {
    only_reads(*placed_.code);
    if (inner) only_reads(*inner->placed.code);
    const bool is_shown = calls_others(*placed_.code) || (inner && calls_others(*inner->placed.code));
    each_group([&](Value* first, Value* blocks) {
      Value* chosen = inner ? inner_ones(*inner, first, blocks) : nullptr;
      const auto run_code = [&](const Warp& warp) {
        if (!inner) return void(call(*placed_.code, arguments(placed_, warp)));
        Value* is_inner = builder_.CreateTrunc(builder_.CreateLShr(chosen, number_), builder_.getInt1Ty());
        choose(is_inner, inner->placed, placed_, warp);
      };
      // Processors compare 12 bits of addresses. A row that is read a multiple of 4 KiB from one that was just stored
      // waits until that is written, which past the caches takes long: narrow rows in order do so in each block, where
      // they reach back into the last block's.
      each_row_beside(is_shown, first, blocks, run_code, every_second_);
      return blocks;
    });
    return finish_gathering();
  }

  llvm::Function* over_regions(BlockRegions& cut) {
    const bool is_shown = calls_others(*placed_.code);
    make_frames(cut.frame_bytes, cut.beside ? kMeetingBytes : 0);
    for (llvm::AllocaInst* array : cut.arrays) array->moveBefore(made_->getEntryBlock().begin());
    reset_votes(builder_, context_of(*made_));
    const auto run_regions = [&](auto each) {
      builder_.CreateBr(&placed_.code->getEntryBlock());
      take_code(cut.beside);
      for (const BlockRegion& region : cut.regions) run_region(region, each);
      cut.over->getTerminator()->eraseFromParent();
      builder_.SetInsertPoint(cut.over);
    };
    if (cut.beside)
      each_group([&](Value* first, Value* left) {
        Value* blocks = least(left, most_beside_);
        run_regions([&](auto body, Value*) { each_row_beside(is_shown, first, blocks, body); });
        return blocks;
      });
    else
      each_block([&] { run_regions([&](auto body, Value* acting) { each_warp(is_shown, body, acting); }); });
    placed_.code->eraseFromParent();
    return finish_gathering();
  }

  llvm::Function* over_parts(const CoroutineParts& parts, const Stops& stops) {
    says_where_ = stops.at_barriers && stops.in_turns;
    const bool is_shown = calls_others(*parts.first) || calls_others(*parts.second);
    make_frames(parts.frame_bytes, stops.beside ? kTurningBytes : 0);
    for (llvm::AllocaInst** flag : {&left_, &in_turns_}) {
      *flag = builder_.CreateAlloca(builder_.getInt1Ty());
      builder_.CreateStore(builder_.getFalse(), *flag);
    }
    reset_votes(builder_, context_of(*made_));
    const auto run_some = [&](Value* first, Value* most) {
      Value* begun = begin_blocks(parts, is_shown, first, most);
      BasicBlock *again = make_block("phase"), *over = make_block("block_over");
      branch_if_left(again, over);
      builder_.SetInsertPoint(again);
      begin_phase();
      builder_.CreateStore(builder_.getFalse(), left_);
      count(begun, 1, [&](Value* number) {
        go_to(first, number);
        each_warp(is_shown, [&](const Warp& warp) { go_on(*parts.second, frame_of(warp.index)); });
      });
      branch_if_left(again, over);
      builder_.SetInsertPoint(over);
      return begun;
    };
    if (stops.beside)
      each_group([&](Value* first, Value* left) { return run_some(first, least(left, most_beside_)); });
    else
      each_step([&](Value* first, Value*) { return run_some(first, builder_.getInt32(1)); });
    return finish();
  }

 private:
  Value* word(size_t offset) {
    return load_field(builder_, context_of(*made_), offset, builder_.getInt32Ty(), /*constant=*/false);
  }
  Value* pointer(size_t offset) {
    return load_field(builder_, context_of(*made_), offset, builder_.getPtrTy(), /*constant=*/false);
  }
  void set(size_t offset, Value* value) { store_field(builder_, context_of(*made_), offset, value); }
  Value* least(Value* a, Value* b) { return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b); }
  /// Where the code is, for a fault: it stays where it stands.
  void note_place(size_t offset, Value* value) {
    Value* address = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), context_of(*made_), offset);
    notes_.push_back(builder_.CreateStore(value, address, /*isVolatile=*/true));
  }

  BasicBlock* make_block(const char* name) { return BasicBlock::Create(builder_.getContext(), name, made_); }

  /// Its parameters by value.
  static void only_reads(llvm::Function& code) {
    for (unsigned i = 0; i < code.arg_size(); ++i) code.removeParamAttr(i, llvm::Attribute::ByVal);
  }

  llvm::Function* finish() {
    builder_.CreateRetVoid();
    for (llvm::CallInst* call : calls_) {
      llvm::InlineFunctionInfo info;
      call->getCalledFunction()->removeFnAttr(llvm::Attribute::NoInline);
      llvm::InlineFunction(*call, info);
    }
    tell_notes_apart(*made_, notes_);
    return made_;
  }

  llvm::Function* finish_gathering() {
    gather_updates(*finish(), ends_of_turns_);
    return made_;
  }

  llvm::CallInst* call(llvm::Function& code, llvm::ArrayRef<Value*> all) {
    calls_.push_back(builder_.CreateCall(&code, all));
    return calls_.back();
  }

  // ---- frames and shared memory ----

  /// Frames of `bytes` for the warps of a block, and of more blocks beside it whose frames and shared memory all take
  /// no more than `most_bytes`.
  void make_frames(uint64_t bytes, uint32_t most_bytes) {
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
  Value* window_bytes() {
    if (!llvm::is_contained(placed_.fields, offsetof(ThreadContext, shared_window))) return builder_.getInt32(0);
    Value* bytes = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, builder_.getInt32(kSharedAlignment),
                                                  word(offsetof(ThreadContext, total_shared_bytes)));
    Value* zeros = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz,
                                                  builder_.CreateSub(bytes, builder_.getInt32(1)), builder_.getTrue());
    return builder_.CreateShl(builder_.getInt32(1), builder_.CreateSub(builder_.getInt32(32), zeros));
  }

  /// The block is one of those that run beside each other.
  void go_to(Value* first, Value* number) {
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

  Value* frame_of(Value* index) {
    Value* warp = builder_.CreateZExt(builder_.CreateLShr(index, uint64_t{5}), builder_.getInt64Ty());
    Value* offset = builder_.CreateMul(warp, builder_.getInt64(frame_bytes_));
    return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), block_frame_, offset);
  }

  // ---- regions ----

  /// With what it takes of the launch and of the block.
  void take_code(bool beside) {
    llvm::Function& code = *placed_.code;
    for (llvm::Argument& argument : made_->args()) code.getArg(argument.getArgNo())->replaceAllUsesWith(&argument);
    const auto differing = beside ? placed_.places_beside() : placed_.places_in_block();
    for (const size_t field : placed_.fields)
      if (llvm::Argument* given = placed_.place(field); !llvm::is_contained(differing, given))
        given->replaceAllUsesWith(place(field, {}));
    made_->splice(made_->end(), &code);
  }

  /// `each`: runs what it is given for each warp, or for those of the acting threads.
  template <typename Each>
  void run_region(const BlockRegion& region, Each each) {
    if (region.is_for_block) return void(region.frame->eraseFromParent());
    BasicBlock *next = region.end->getSingleSuccessor(), *before = make_block("region");
    for (BasicBlock* from : llvm::SmallVector<BasicBlock*, 4>(llvm::predecessors(region.begin)))
      from->getTerminator()->replaceSuccessorWith(region.begin, before);
    region.end->getTerminator()->eraseFromParent();
    builder_.SetInsertPoint(before);
    const auto run_code = [&](const Warp& warp) {
      for (const size_t field : placed_.fields) hand(placed_.place(field), region, [&] { return place(field, warp); });
      hand(region.frame, region, [&] { return frame_of(warp.index); });
      region.frame->eraseFromParent();
      builder_.CreateBr(region.begin);
      builder_.SetInsertPoint(region.end);
    };
    each(run_code, region.acting);
    next->replacePhiUsesWith(region.end, builder_.GetInsertBlock());
    builder_.CreateBr(next);
  }

  /// The value in place of what stands for it in the region.
  template <typename Make>
  static void hand(Value* placeholder, const BlockRegion& region, Make make) {
    const auto is_inside = [&](const llvm::Use& use) {
      return llvm::is_contained(region.blocks, llvm::cast<llvm::Instruction>(use.getUser())->getParent());
    };
    if (llvm::any_of(placeholder->uses(), is_inside)) placeholder->replaceUsesWithIf(make(), is_inside);
  }

  // ---- where a warp stands ----

  /// Runs blocks from `first` on to their first stops, at most `most`: the next one only while warps are in turns.
  /// Returns how many.
  Value* begin_blocks(const CoroutineParts& parts, bool is_shown, Value* first, Value* most) {
    builder_.CreateStore(builder_.getFalse(), left_);
    return count_while(most, 1, [&](Value* number) {
      go_to(first, number);
      each_warp(is_shown, [&](const Warp& warp) {
        Value* frame = frame_of(warp.index);
        llvm::SmallVector<Value*, 8> all{frame};
        all.append(arguments(placed_, warp));
        call(*parts.first, all);
        note(frame);
      });
      return builder_.CreateLoad(builder_.getInt1Ty(), says_where_ ? in_turns_ : left_);
    });
  }

  Value* is_left(Value* frame) {
    Value* mark = builder_.CreateLoad(builder_.getPtrTy(), frame);
    return builder_.CreateICmpNE(mark, llvm::ConstantPointerNull::get(builder_.getPtrTy()));
  }
  Value* is_in_turns(Value* frame) {
    Value* place = builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), frame, 1);
    return builder_.CreateICmpEQ(builder_.CreateLoad(builder_.getInt64Ty(), place),
                                 builder_.getInt64(static_cast<uint64_t>(Stop::Turn)));
  }
  void add(llvm::AllocaInst* flag, Value* value) {
    builder_.CreateStore(builder_.CreateOr(builder_.CreateLoad(builder_.getInt1Ty(), flag), value), flag);
  }
  void note(Value* frame) {
    Value* left = is_left(frame);
    add(left_, left);
    if (says_where_) add(in_turns_, builder_.CreateAnd(left, is_in_turns(frame)));
  }
  void branch_if_left(BasicBlock* some, BasicBlock* none) {
    builder_.CreateCondBr(builder_.CreateLoad(builder_.getInt1Ty(), left_), some, none);
  }

  /// All warps wait at the barrier, or some are in a loop and go on alone.
  void begin_phase() {
    if (!says_where_) return count_votes(builder_, context_of(*made_));
    turns_only_ = builder_.CreateLoad(builder_.getInt1Ty(), in_turns_);
    builder_.CreateStore(builder_.getFalse(), in_turns_);
    BasicBlock *met = make_block("met"), *on = make_block("on");
    builder_.CreateCondBr(turns_only_, on, met);
    builder_.SetInsertPoint(met);
    count_votes(builder_, context_of(*made_));
    builder_.CreateBr(on);
    builder_.SetInsertPoint(on);
  }

  void go_on(llvm::Function& code, Value* frame) {
    BasicBlock *left = make_block("left"), *go = make_block("go"), *on = make_block("on");
    builder_.CreateCondBr(is_left(frame), left, on);
    builder_.SetInsertPoint(left);
    if (says_where_) {
      BasicBlock* stay = make_block("stay");
      builder_.CreateCondBr(builder_.CreateOr(builder_.CreateNot(turns_only_), is_in_turns(frame)), go, stay);
      builder_.SetInsertPoint(stay);
      builder_.CreateStore(builder_.getTrue(), left_);
      builder_.CreateBr(on);
    } else {
      builder_.CreateBr(go);
    }
    builder_.SetInsertPoint(go);
    call(code, {frame})->setCallingConv(code.getCallingConv());
    note(frame);
    builder_.CreateBr(on);
    builder_.SetInsertPoint(on);
  }

  // ---- blocks ----

  /// For as many blocks as the context says, from its own on; it follows.
  template <typename Body>
  void each_block(Body body) {
    each_step([&](Value* first, Value*) {
      note_place(offsetof(ThreadContext, ctaid), block_[0] = first);
      body();
      return builder_.getInt32(1);
    });
  }

  /// The same, by those that are left in a row of the grid, as many as may take turns, given the first one's x and how
  /// many they are; `body` returns how many of them it ran.
  template <typename Body>
  void each_group(Body body) {
    each_step([&](Value* first, Value* left) {
      Value* in_row = builder_.CreateSub(word(offsetof(ThreadContext, nctaid)), first);
      Value* blocks = body(first, least(least(left, in_row), builder_.getInt32(kMostBeside)));
      Value* last = builder_.CreateAdd(first, builder_.CreateSub(blocks, builder_.getInt32(1)));
      note_place(offsetof(ThreadContext, ctaid), last);  // from which the run half goes on, whichever was run last
      return blocks;
    });
    note_place(offsetof(ThreadContext, blocks), builder_.CreateAdd(unasked_blocks_, builder_.getInt32(1)));
  }

  /// The same, by steps, given the x of the first block of each and how many are left; `body` returns how many it ran.
  template <typename Body>
  void each_step(Body body) {
    Value* first[3];
    Value* grid_size[3];
    for (unsigned d = 0; d < 3; ++d) {
      first[d] = word(offsetof(ThreadContext, ctaid) + 4 * d);
      grid_size[d] = word(offsetof(ThreadContext, nctaid) + 4 * d);
    }
    Value* all = word(offsetof(ThreadContext, blocks));
    unasked_blocks_ = word(offsetof(ThreadContext, blocks_left));
    const Turns turns = begin_turns("block");
    llvm::PHINode* left = counter(turns, "left", all);
    const Position position = counters(turns, "ctaid", first);
    const bool keeps = llvm::is_contained(placed_.fields, offsetof(ThreadContext, kept_blocks));
    llvm::PHINode* kept = keeps ? counter(turns, "kept", builder_.getInt32(0)) : nullptr;
    for (unsigned d = 1; d < 3; ++d) note_place(offsetof(ThreadContext, ctaid) + 4 * d, block_[d] = position[d]);
    note_place(offsetof(ThreadContext, blocks), left_blocks_ = left);
    if (kept) keep_outputs(kept, position[0], grid_size[0]);
    Value* step = body(position[0], builder_.CreateSub(left, unasked_blocks_));
    advance(position, step, grid_size);
    if (kept)
      kept->addIncoming(builder_.CreateMul(builder_.CreateAdd(kept, builder_.getInt32(1)), keeps_on_),
                        builder_.GetInsertBlock());
    Value* rest = builder_.CreateSub(left, step);
    left->addIncoming(rest, builder_.GetInsertBlock());
    end_turns(turns, builder_.CreateICmpNE(rest, unasked_blocks_));
  }

  // ---- warps ----

  /// Or a thread.
  struct Warp {
    Value* index;        ///< of its first thread
    Value* position[3];  ///< of it, where warps lie in rows
  };

  /// For each warp, with all of the context as that warp's if it `is_shown`. `acting`: of threads in a row, from the
  /// first on, for which something is to be done, as `body` knows at its end; null: all.
  template <typename Body>
  void each_warp(bool is_shown, Body body, Value* acting = nullptr) {
    Value* zero = builder_.getInt32(0);
    if (is_one_turn(threads_, step_)) return run(Warp{zero, {zero, zero, zero}}, is_shown, body);
    const Turns turns = begin_turns("warp");
    llvm::PHINode* index = counter(turns, "index", zero);
    const bool is_line = is_one_turn(block_size_[1], 1) && is_one_turn(block_size_[2], 1);
    const Position position = is_line ? Position{} : counters(turns, "tid", {zero, zero, zero});
    run(is_line ? Warp{index, {index, zero, zero}}
                : Warp{index, {begin_of_warp(position[0]), position[1], position[2]}},
        is_shown, body);
    Value* next = builder_.CreateAdd(index, builder_.getInt32(step_));
    BasicBlock* over = acting ? leave_behind(acting, next) : make_block("over");
    if (!is_line) advance(position, builder_.getInt32(step_), block_size_);
    index->addIncoming(next, builder_.GetInsertBlock());
    end_turns(turns, builder_.CreateICmpULT(next, threads_), over);
  }

  /// Which is a multiple of a warp's threads where warps lie in rows: LLVM does not find it out where it begins again
  /// with each row.
  Value* begin_of_warp(Value* x) { return step_ == 1 ? x : builder_.CreateAnd(x, builder_.getInt32(~(kWarp - 1))); }

  /// Where a block of one row goes on, from here, if none of the acting threads is at or behind `next`.
  BasicBlock* leave_behind(Value* acting, Value* next) {
    BasicBlock *over = make_block("over"), *others = make_block("others");
    Value* rows = builder_.CreateMul(block_size_[1], block_size_[2]);
    Value* is_over =
        builder_.CreateAnd(builder_.CreateICmpUGE(next, acting), builder_.CreateICmpEQ(rows, builder_.getInt32(1)));
    builder_.CreateCondBr(is_over, over, others);
    builder_.SetInsertPoint(others);
    return over;
  }

  template <typename Body>
  void run(const Warp& warp, bool is_shown, Body body) {
    note_place(offsetof(ThreadContext, warp), place(offsetof(ThreadContext, warp), warp));
    if (is_shown) show(warp);
    body(warp);
  }

  /// LLVM keeps a loop until it has moved out of it what does not change.
  static bool is_one_turn(const Value* end, uint32_t step) {
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(end);
    return number && number->getZExtValue() <= step;
  }

  /// From 0 to `end`, which is above it, or until `body` returns false. Returns how far it came.
  template <typename Body>
  Value* count_while(Value* end, uint32_t step, Body body) {
    const Turns turns = begin_turns("turn");
    llvm::PHINode* number = counter(turns, "number", builder_.getInt32(0));
    Value* goes_on = body(number);
    Value* next = builder_.CreateAdd(number, builder_.getInt32(step));
    number->addIncoming(next, builder_.GetInsertBlock());
    end_turns(turns, builder_.CreateAnd(goes_on, builder_.CreateICmpULT(next, end)));
    return next;
  }

  template <typename Body>
  void count(Value* end, uint32_t step, Body body) {
    if (is_one_turn(end, step)) return body(builder_.getInt32(0));
    count_while(end, step, [&](Value* number) {
      body(number);
      return builder_.getTrue();
    });
  }

  /// For each row of threads, given what goes through its warps. Where a warp is several rows it stands for them.
  template <typename Body>
  void each_row(bool is_shown, Body body) {
    if (blocks_ != BlockClass::Rows) {  // one row, or no positions are asked for
      Value* zero = builder_.getInt32(0);
      return count(threads_, kWarp, [&](Value* index) {
        body([&](auto code) { run(Warp{index, {index, zero, zero}}, is_shown, code); });
      });
    }
    count(builder_.CreateMul(block_size_[1], block_size_[2]), 1, [&](Value* row) {
      Value* z = builder_.CreateUDiv(row, block_size_[1]);
      Value* y = builder_.CreateURem(row, block_size_[1]);
      Value* first = builder_.CreateMul(row, block_size_[0]);
      body([&](auto code) {
        count(block_size_[0], kWarp,
              [&](Value* x) { run(Warp{builder_.CreateAdd(first, x), {x, y, z}}, is_shown, code); });
      });
    });
  }

  /// The same in blocks beside each other, `blocks` from `first` on: the row of each in turn, or of every second one
  /// first.
  template <typename Body>
  void each_row_beside(bool is_shown, Value* first, Value* blocks, Body body, bool every_second = false) {
    each_row(is_shown, [&](auto row) {
      count(blocks, 1, [&](Value* number) {
        go_to(first, every_second ? every_second_first(number, blocks) : number);
        row(body);
      });
    });
  }

  /// Of so many blocks the even ones, then the odd ones.
  Value* every_second_first(Value* number, Value* blocks) {
    Value* even = builder_.CreateLShr(builder_.CreateAdd(blocks, builder_.getInt32(1)), uint64_t{1});
    Value* odd = builder_.CreateICmpUGE(number, even);
    Value* from_first = builder_.CreateSub(number, builder_.CreateSelect(odd, even, builder_.getInt32(0)));
    return builder_.CreateAdd(builder_.CreateShl(from_first, uint64_t{1}),
                              builder_.CreateZExt(odd, builder_.getInt32Ty()));
  }

  // ---- inner blocks ----

  /// Which of `blocks` from `first` on are inner, a bit for each.
  Value* inner_ones(const InnerRows& inner, Value* first, Value* blocks) {
    const Turns turns = begin_turns("look");
    llvm::PHINode* number = counter(turns, "number", builder_.getInt32(0));
    llvm::PHINode* found = counter(turns, "inner", builder_.getInt32(0));
    block_[0] = builder_.CreateAdd(first, number);
    Value* is_inner = call(*inner.look.code, arguments(inner.look, {}));
    Value* next_found =
        builder_.CreateOr(found, builder_.CreateShl(builder_.CreateZExt(is_inner, builder_.getInt32Ty()), number));
    Value* next = builder_.CreateAdd(number, builder_.getInt32(1));
    found->addIncoming(next_found, builder_.GetInsertBlock());
    number->addIncoming(next, builder_.GetInsertBlock());
    end_turns(turns, builder_.CreateICmpULT(next, blocks));
    return next_found;
  }

  void choose(Value* is_first, const PlacedCode& first, const PlacedCode& other, const Warp& warp) {
    BasicBlock* on = make_block("on");
    BasicBlock* ways[] = {make_block("inner"), make_block("other")};
    builder_.CreateCondBr(is_first, ways[0], ways[1]);
    for (const auto& [way, code] : {std::pair{ways[0], &first}, {ways[1], &other}}) {
      builder_.SetInsertPoint(way);
      call(*code->code, arguments(*code, warp));
      builder_.CreateBr(on);
    }
    builder_.SetInsertPoint(on);
  }

  // ---- loops ----

  /// A loop that is being written.
  struct Turns {
    BasicBlock *before, *begin;
  };
  using Position = std::array<llvm::PHINode*, 3>;

  Turns begin_turns(const char* name) {
    const Turns turns{builder_.GetInsertBlock(), make_block(name)};
    builder_.CreateBr(turns.begin);
    builder_.SetInsertPoint(turns.begin);
    return turns;
  }
  void end_turns(const Turns& turns, Value* goes_on) { end_turns(turns, goes_on, make_block("over")); }
  void end_turns(const Turns& turns, Value* goes_on, BasicBlock* over) {
    ends_of_turns_.push_back(builder_.CreateCondBr(goes_on, turns.begin, over));
    builder_.SetInsertPoint(over);
  }
  llvm::PHINode* counter(const Turns& turns, const char* name, Value* first) {
    llvm::PHINode* phi = builder_.CreatePHI(builder_.getInt32Ty(), 2, name);
    phi->addIncoming(first, turns.before);
    return phi;
  }
  Position counters(const Turns& turns, const char* name, llvm::ArrayRef<Value*> first) {
    Position position;
    for (unsigned d = 0; d < 3; ++d) position[d] = counter(turns, name, first[d]);
    return position;
  }

  /// Of blocks one after the other: `kept` of them have kept their outputs before this one, which is to keep its own
  /// too if another one follows in its row, as long as they fill a line.
  void keep_outputs(Value* kept, Value* block, Value* row) {
    Value* one = builder_.getInt32(1);
    Value* has_room = builder_.CreateICmpULT(kept, builder_.getInt32(kMostKeptBlocks - 1));
    Value* is_followed = builder_.CreateICmpUGT(builder_.CreateSub(left_blocks_, unasked_blocks_), one);
    Value* is_in_row = builder_.CreateICmpULT(builder_.CreateAdd(block, one), row);
    kept_blocks_ = kept;
    keeps_on_ = builder_.CreateZExt(builder_.CreateAnd(has_room, builder_.CreateAnd(is_followed, is_in_row)),
                                    builder_.getInt32Ty());
  }

  /// `position` goes on by `step` in x, and to the next row or plane where it reaches the size.
  void advance(const Position& position, Value* step, llvm::ArrayRef<Value*> size) {
    Value* carry = step;
    for (unsigned d = 0; d < 3; ++d) {
      Value* next = builder_.CreateAdd(position[d], carry);
      if (d < 2) {
        Value* is_over = builder_.CreateICmpUGE(next, size[d]);
        carry = builder_.CreateZExt(is_over, builder_.getInt32Ty());
        next = builder_.CreateSelect(is_over, builder_.getInt32(0), next);
      }
      position[d]->addIncoming(next, builder_.GetInsertBlock());
    }
  }

  /// What code takes: the kernel's arguments, then the places that it asks for.
  llvm::SmallVector<Value*, 8> arguments(const PlacedCode& placed, const Warp& warp) {
    llvm::SmallVector<Value*, 8> all;
    for (llvm::Argument& argument : made_->args()) all.push_back(&argument);
    for (const size_t field : placed.fields) all.push_back(place(field, warp));
    return all;
  }

  /// The value of a field of the context, for this warp of this block.
  Value* place(size_t field, const Warp& warp) {
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
  Value* table_of(unsigned dimension, const Warp& warp) {
    return builder_.CreateInBoundsGEP(builder_.getInt32Ty(), tables_[dimension], warp.index);
  }

  Value* lanes_of(const Warp& warp) {
    if (step_ == 1 || !may_be_partial(blocks_)) return builder_.getInt32(~0u);
    Value* left = builder_.CreateSub(threads_, warp.index);
    Value* some = builder_.CreateSub(builder_.CreateShl(builder_.getInt32(1), left), builder_.getInt32(1));
    return builder_.CreateSelect(builder_.CreateICmpUGE(left, builder_.getInt32(kWarp)), builder_.getInt32(~0u), some);
  }

  /// In the context, for what the code calls.
  void show(const Warp& warp) {
    for (const size_t field : {offsetof(ThreadContext, lane), offsetof(ThreadContext, lanes)})
      set(field, place(field, warp));
    for (unsigned d = 0; d < 3; ++d)
      for (const size_t field :
           {offsetof(ThreadContext, tid) + 4 * d, offsetof(ThreadContext, places) + d * sizeof(void*)})
        set(field, place(field, warp));
  }

  llvm::IRBuilder<> builder_;
  llvm::Function* made_;
  const PlacedCode& placed_;
  const BlockClass blocks_;
  const bool every_second_;  ///< of blocks beside each other, first
  const unsigned step_;      ///< threads that the code is for
  Value *threads_ = nullptr, *warps_ = nullptr, *block_size_[3] = {}, *tables_[3] = {};
  Value* block_[3] = {};             ///< blockIdx
  Value* number_ = nullptr;          ///< of the block among those beside each other
  Value* left_blocks_ = nullptr;     ///< with that one
  Value* unasked_blocks_ = nullptr;  ///< of these, the last ones
  Value *kept_blocks_ = nullptr, *keeps_on_ = nullptr;
  uint64_t frame_bytes_ = 0;
  Value* block_frames_ = nullptr;                           ///< bytes of the frames of a block
  Value *window_ = nullptr, *window_bytes_ = nullptr;       ///< of shared memory; bytes: of blocks beside each other
  Value* most_beside_ = nullptr;                            ///< blocks
  Value *block_frame_ = nullptr, *block_window_ = nullptr;  ///< its first frame, its shared memory
  llvm::AllocaInst *frames_ = nullptr, *left_ = nullptr;    ///< left: a warp is not over
  bool says_where_ = false;
  llvm::AllocaInst* in_turns_ = nullptr;  ///< a warp stands at the end of a turn
  Value* turns_only_ = nullptr;           ///< in this phase warps that wait at a barrier do not go on
  llvm::SmallVector<llvm::CallInst*, 2> calls_;
  llvm::SmallVector<llvm::StoreInst*, 16> notes_;
  llvm::SmallVector<llvm::BranchInst*, 8> ends_of_turns_;
};

}  // namespace

bool calls_others(const llvm::Function& code) {
  return llvm::any_of(llvm::instructions(code), [](const llvm::Instruction& instruction) {
    return llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction) &&
           !is_block_barrier(instruction);
  });
}

llvm::Function* loop_over_blocks(const WideBody& body, const PlacedCode& placed) {
  return BlockLoop(body, placed, lines_beside(*body.code)).over_warps();
}

llvm::Function* loop_over_rows(const WideBody& body, const PlacedCode& placed, const InnerRows* inner) {
  return BlockLoop(body, placed, lines_beside(*body.code)).over_rows(inner);
}

llvm::Function* loop_over_blocks(const WideBody& body, const PlacedCode& placed, BlockRegions& cut) {
  return BlockLoop(body, placed, take_lines(*placed.code)).over_regions(cut);
}

llvm::Function* loop_over_blocks(const WideBody& body, const PlacedCode& placed, const CoroutineParts& parts,
                                 const Stops& stops) {
  return BlockLoop(body, placed, lines_beside(*body.code)).over_parts(parts, stops);
}

}  // namespace cupola::cpu::build
