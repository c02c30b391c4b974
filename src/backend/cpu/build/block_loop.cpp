#include "backend/cpu/build/block_loop.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "backend/cpu/build/block_regions.h"
#include "backend/cpu/build/block_votes.h"
#include "backend/cpu/build/block_walk.h"
#include "backend/cpu/build/place_arguments.h"
#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_shape.h"
#include "backend/cpu/build/warp_coroutine.h"
#include "backend/cpu/build/whole_block.h"
#include "image/cpu_abi.h"

namespace cupola::cpu::build {
namespace {

using image::cpu::kWarp;
using llvm::BasicBlock;
using llvm::Value;

/// Of frames and shared memory of blocks beside each other that take turns in loops, which pass through the caches with
/// what they read: 8 blocks of 8 warps with frames of 512 bytes and some shared memory, whose rows are pages together.
constexpr uint32_t kTurningBytes = 64 << 10;
/// The same of blocks that go from barrier to barrier, which come back to it soon: most of the first cache.
constexpr uint32_t kMeetingBytes = 32 << 10;

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

class BlockLoop : BlockWalk {
 public:
  BlockLoop(const WideBody& body, const PlacedCode& placed, llvm::DISubprogram* lines)
      : BlockWalk(body, placed, lines), every_second_(body.reads_of_others && segment_lanes(body.blocks) < kWarp) {}

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
        Value* is_inner = builder_.CreateTrunc(builder_.CreateLShr(chosen, number()), builder_.getInt1Ty());
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
    const auto run_regions = [&](ForRegion each) {
      builder_.CreateBr(&placed_.code->getEntryBlock());
      take_code(cut.beside);
      for (const BlockRegion& region : cut.regions) run_region(region, each);
      cut.over->getTerminator()->eraseFromParent();
      builder_.SetInsertPoint(cut.over);
    };
    if (cut.beside)
      each_group([&](Value* first, Value* left) {
        Value* blocks = with_frames(left);
        run_regions([&](ForWarp body, Value*) { each_row_beside(is_shown, first, blocks, body); });
        return blocks;
      });
    else
      each_block([&] { run_regions([&](ForWarp body, Value* acting) { each_warp(is_shown, body, acting); }); });
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
      BasicBlock *again = loops_.make_block("phase"), *over = loops_.make_block("block_over");
      branch_if_left(again, over);
      builder_.SetInsertPoint(again);
      begin_phase();
      builder_.CreateStore(builder_.getFalse(), left_);
      loops_.count(begun, 1, [&](Value* number) {
        go_to(first, number);
        each_warp(is_shown, [&](const Warp& warp) { go_on(*parts.second, frame_of(warp.index)); });
      });
      branch_if_left(again, over);
      builder_.SetInsertPoint(over);
      return begun;
    };
    if (stops.beside)
      each_group([&](Value* first, Value* left) { return run_some(first, with_frames(left)); });
    else
      each_step([&](Value* first, Value*) { return run_some(first, builder_.getInt32(1)); });
    return finish();
  }

 private:
  /// Its parameters by value.
  static void only_reads(llvm::Function& code) {
    for (unsigned i = 0; i < code.arg_size(); ++i) code.removeParamAttr(i, llvm::Attribute::ByVal);
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

  /// Runs what it is given for each warp, or for those of the acting threads.
  using ForRegion = llvm::function_ref<void(ForWarp, Value* acting)>;

  void run_region(const BlockRegion& region, ForRegion each) {
    if (region.is_for_block) return void(region.frame->eraseFromParent());
    BasicBlock *next = region.end->getSingleSuccessor(), *before = loops_.make_block("region");
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
    return loops_.count_while(most, 1, [&](Value* number) {
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
    BasicBlock *met = loops_.make_block("met"), *on = loops_.make_block("on");
    builder_.CreateCondBr(turns_only_, on, met);
    builder_.SetInsertPoint(met);
    count_votes(builder_, context_of(*made_));
    builder_.CreateBr(on);
    builder_.SetInsertPoint(on);
  }

  void go_on(llvm::Function& code, Value* frame) {
    BasicBlock *left = loops_.make_block("left"), *go = loops_.make_block("go"), *on = loops_.make_block("on");
    builder_.CreateCondBr(is_left(frame), left, on);
    builder_.SetInsertPoint(left);
    if (says_where_) {
      BasicBlock* stay = loops_.make_block("stay");
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

  // ---- inner blocks ----

  /// Which of `blocks` from `first` on are inner, a bit for each.
  Value* inner_ones(const InnerRows& inner, Value* first, Value* blocks) {
    const LoopWriter::Turns turns = loops_.begin_turns("look");
    llvm::PHINode* number = loops_.counter(turns, "number", builder_.getInt32(0));
    llvm::PHINode* found = loops_.counter(turns, "inner", builder_.getInt32(0));
    stand_at(builder_.CreateAdd(first, number));
    Value* is_inner = call(*inner.look.code, arguments(inner.look, {}));
    Value* next_found =
        builder_.CreateOr(found, builder_.CreateShl(builder_.CreateZExt(is_inner, builder_.getInt32Ty()), number));
    Value* next = builder_.CreateAdd(number, builder_.getInt32(1));
    found->addIncoming(next_found, builder_.GetInsertBlock());
    number->addIncoming(next, builder_.GetInsertBlock());
    loops_.end_turns(turns, builder_.CreateICmpULT(next, blocks));
    return next_found;
  }

  void choose(Value* is_first, const PlacedCode& first, const PlacedCode& other, const Warp& warp) {
    BasicBlock* on = loops_.make_block("on");
    BasicBlock* ways[] = {loops_.make_block("inner"), loops_.make_block("other")};
    builder_.CreateCondBr(is_first, ways[0], ways[1]);
    for (const auto& [way, code] : {std::pair{ways[0], &first}, {ways[1], &other}}) {
      builder_.SetInsertPoint(way);
      call(*code->code, arguments(*code, warp));
      builder_.CreateBr(on);
    }
    builder_.SetInsertPoint(on);
  }

  const bool every_second_;  ///< of blocks beside each other, first
  bool says_where_ = false;
  llvm::AllocaInst *left_ = nullptr, *in_turns_ = nullptr;  ///< a warp is not over, stands at the end of a turn
  Value* turns_only_ = nullptr;                             ///< in this phase warps that wait at a barrier do not go on
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
