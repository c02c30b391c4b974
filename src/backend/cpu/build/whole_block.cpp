#include "backend/cpu/build/whole_block.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <string>
#include <vector>

#include "backend/cpu/build/call_reach.h"
#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_shapes.h"
#include "backend/cpu/build/warp_coroutine.h"
#include "base/format.h"
#include "base/log.h"
#include "image/cpu_abi.h"

// Code that waits becomes a coroutine. The loop over the block's warps calls its first part for each, then the second
// for each that is not over, until all are.

namespace cupola::cpu::build {
namespace {

using image::cpu::ThreadContext;
using llvm::BasicBlock;
using llvm::Value;

constexpr unsigned kWarp = 32;
constexpr uint64_t kMostWarps = 32;
/// Of a block's frames, which lie on the stack, a local window.
constexpr uint64_t kMostFrames = image::cpu::kLocalWindow / 2;

// ---- whether it can be done ----

/// Waits for lanes that never come: a fault.
bool is_fault(const llvm::Instruction& instruction) {
  return service_of(instruction) == Service::warp_sync;
}

void say(const llvm::Function& warp, std::string_view why) {
  log::line(log::Topic::Compile, "{}: a stack for each warp: {}", warp.getName().str(), why);
}

/// What keeps the code from running a block at a time; empty: nothing.
std::string obstacle(llvm::Function& warp, const CallReach& reach) {
  for (llvm::Function* function : reach.from(&warp))
    for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (!call) continue;
      if (is_indirect(*call) && !service_of(instruction)) return "it calls through pointers";
      if (polls(instruction)) return "it polls";
      if (suspends(instruction) && !is_fault(instruction) && !(function == &warp && is_block_barrier(instruction)))
        return "its threads meet in other ways than all of the block's at once";
    }
  return {};
}

// ---- the loop over the warps ----

/// What the context holds of its warp alone.
bool is_of_warp(size_t offset) {
  const auto lies_in = [&](size_t begin, size_t bytes) { return offset >= begin && offset < begin + bytes; };
  return lies_in(offsetof(ThreadContext, tid), sizeof ThreadContext::tid) ||
         lies_in(offsetof(ThreadContext, lane), 2 * sizeof ThreadContext::lane) ||
         lies_in(offsetof(ThreadContext, lanes), sizeof(ThreadContext) - offsetof(ThreadContext, lanes));
}

/// Code reads what is its warp's own when it begins, because the next warp is shown its own in the same context. True
/// if it reads any.
bool read_place_first(llvm::Function& warp) {
  std::vector<llvm::LoadInst*> reads;
  for (llvm::Instruction& instruction : llvm::instructions(warp)) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load) continue;
    if (const std::optional<size_t> field = constant_field(*load); field && is_of_warp(*field)) reads.push_back(load);
  }
  llvm::BasicBlock& entry = warp.getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  for (llvm::LoadInst* load : reads) {
    Value* read = load_field(builder, context_of(warp), *constant_field(*load), load->getType(), /*constant=*/false);
    load->replaceAllUsesWith(read);
    load->eraseFromParent();
  }
  return !reads.empty();
}

/// Whether code calls what may read its context.
bool calls_others(const llvm::Function& code) {
  return llvm::any_of(llvm::instructions(code), [](const llvm::Instruction& instruction) {
    return llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction);
  });
}

class BlockLoop {
 public:
  /// `warp`: takes what the loop takes. Its code is elsewhere now, or will be inlined.
  BlockLoop(llvm::Function& warp, const std::string& name, const WideBody& body)
      : builder_(warp.getContext()),
        made_(
            llvm::Function::Create(warp.getFunctionType(), llvm::GlobalValue::InternalLinkage, name, warp.getParent())),
        step_(body.is_alone ? 1 : kWarp),
        has_counted_places_(body.is_alone || body.blocks == BlockClass::Rows) {
    made_->setAttributes(warp.getAttributes());
    builder_.SetInsertPoint(make_block("begin"));
    threads_ = word(offsetof(ThreadContext, ntid));
    for (unsigned d = 1; d < 3; ++d)
      threads_ = builder_.CreateMul(threads_, word(offsetof(ThreadContext, ntid) + 4 * d));
    for (unsigned d = 0; d < 3; ++d) places_[d] = pointer(offsetof(ThreadContext, places) + d * sizeof(void*));
  }

  void drop() { made_->eraseFromParent(); }

  llvm::Function* over(llvm::Function& warp, bool reads_place) {
    give_lines(warp);
    for (unsigned i = 0; i < warp.arg_size(); ++i)
      warp.removeParamAttr(i, llvm::Attribute::ByVal);  // it only reads them
    each_warp(reads_place || calls_others(warp), [&](Value*) { call(warp, arguments()); });
    builder_.CreateRetVoid();
    inline_calls();
    return made_;
  }

  llvm::Function* over(const CoroutineParts& parts, bool reads_place) {
    give_lines(*parts.first);
    make_frames(parts.frame_bytes);
    for (const size_t offset : {offsetof(ThreadContext, votes), offsetof(ThreadContext, voters)})
      set(offset, builder_.getInt32(0));
    each_warp(reads_place || calls_others(*parts.first), [&](Value* index) {
      Value* frame = frame_of(index);
      llvm::SmallVector<Value*, 8> all{frame};
      all.append(arguments());
      call(*parts.first, all);
      note(frame);
    });
    BasicBlock *again = make_block("phase"), *over = make_block("over");
    branch_if_left(again, over);
    builder_.SetInsertPoint(again);
    count_votes();
    builder_.CreateStore(builder_.getFalse(), left_);
    each_warp(calls_others(*parts.second), [&](Value* index) { go_on(*parts.second, frame_of(index)); });
    branch_if_left(again, over);
    builder_.SetInsertPoint(over);
    builder_.CreateRetVoid();
    inline_calls();
    return made_;
  }

 private:
  Value* word(size_t offset) {
    return load_field(builder_, context_of(*made_), offset, builder_.getInt32Ty(), /*constant=*/false);
  }
  Value* pointer(size_t offset) {
    return load_field(builder_, context_of(*made_), offset, builder_.getPtrTy(), /*constant=*/false);
  }
  void set(size_t offset, Value* value) { store_field(builder_, context_of(*made_), offset, value); }

  BasicBlock* make_block(const char* name) { return BasicBlock::Create(builder_.getContext(), name, made_); }

  /// A function without debug information would swallow the lines of what is inlined into it.
  void give_lines(llvm::Function& warp) {
    llvm::DISubprogram* subprogram = warp.getSubprogram();
    if (!subprogram) return;
    made_->setSubprogram(llvm::MDNode::replaceWithDistinct(subprogram->clone()));
    builder_.SetCurrentDebugLocation(llvm::DILocation::get(builder_.getContext(), 0, 0, made_->getSubprogram()));
  }

  llvm::SmallVector<Value*, 8> arguments() {
    llvm::SmallVector<Value*, 8> all;
    for (llvm::Argument& argument : made_->args()) all.push_back(&argument);
    return all;
  }

  llvm::CallInst* call(llvm::Function& code, llvm::ArrayRef<Value*> all) {
    calls_.push_back(builder_.CreateCall(&code, all));
    return calls_.back();
  }

  void inline_calls() {
    for (llvm::CallInst* call : calls_) {
      llvm::InlineFunctionInfo info;
      call->getCalledFunction()->removeFnAttr(llvm::Attribute::NoInline);
      llvm::InlineFunction(*call, info);
    }
  }

  // ---- frames ----

  void make_frames(uint64_t bytes) {
    frame_bytes_ = bytes;
    Value* warps = builder_.CreateLShr(builder_.CreateAdd(threads_, builder_.getInt32(kWarp - 1)), uint64_t{5});
    Value* all = builder_.CreateMul(warps, builder_.getInt32(static_cast<uint32_t>(bytes)));
    frames_ = builder_.CreateAlloca(builder_.getInt8Ty(), all, "frames");
    frames_->setAlignment(llvm::Align(kFrameAlignment));
    left_ = builder_.CreateAlloca(builder_.getInt1Ty(), nullptr, "left");
    builder_.CreateStore(builder_.getFalse(), left_);
  }

  Value* frame_of(Value* index) {
    Value* warp = builder_.CreateZExt(builder_.CreateLShr(index, uint64_t{5}), builder_.getInt64Ty());
    Value* offset = builder_.CreateMul(warp, builder_.getInt64(frame_bytes_));
    return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), frames_, offset);
  }

  Value* is_left(Value* frame) {
    Value* mark = builder_.CreateLoad(builder_.getPtrTy(), frame);
    return builder_.CreateICmpNE(mark, llvm::ConstantPointerNull::get(builder_.getPtrTy()));
  }
  void note(Value* frame) {
    Value* before = builder_.CreateLoad(builder_.getInt1Ty(), left_);
    builder_.CreateStore(builder_.CreateOr(before, is_left(frame)), left_);
  }
  void branch_if_left(BasicBlock* some, BasicBlock* none) {
    builder_.CreateCondBr(builder_.CreateLoad(builder_.getInt1Ty(), left_), some, none);
  }

  void go_on(llvm::Function& code, Value* frame) {
    BasicBlock *go = make_block("go"), *on = make_block("on");
    builder_.CreateCondBr(is_left(frame), go, on);
    builder_.SetInsertPoint(go);
    call(code, {frame})->setCallingConv(code.getCallingConv());
    note(frame);
    builder_.CreateBr(on);
    builder_.SetInsertPoint(on);
  }

  // ---- warps ----

  /// For each warp, with the number of its first thread, and the context as that warp's if it `is_shown`.
  template <typename Body>
  void each_warp(bool is_shown, Body body) {
    BasicBlock *before = builder_.GetInsertBlock(), *loop = make_block("warp"), *over = make_block("warps_over");
    Value* zero = builder_.getInt32(0);
    builder_.CreateBr(loop);
    builder_.SetInsertPoint(loop);
    llvm::PHINode *index = counter("index", before), *x = counter("x", before), *y = counter("y", before),
                  *z = counter("z", before);
    if (is_shown) show(index, {x, y, z});
    body(index);
    Value* next = builder_.CreateAdd(index, builder_.getInt32(step_));
    // Of a warp in rows, or of a thread; they are not read where warps do not lie in rows.
    const auto size = [&](unsigned d) { return word(offsetof(ThreadContext, ntid) + 4 * d); };
    const auto step = [&](Value* value, Value* by, Value* limit, Value*& carry) {
      Value* sum = builder_.CreateAdd(value, by);
      Value* is_over = builder_.CreateICmpUGE(sum, limit);
      carry = builder_.CreateZExt(is_over, builder_.getInt32Ty());
      return builder_.CreateSelect(is_over, zero, sum);
    };
    Value *carry_x = nullptr, *carry_y = nullptr;
    Value* next_x = step(x, builder_.getInt32(step_), size(0), carry_x);
    Value* next_y = step(y, carry_x, size(1), carry_y);
    Value* next_z = builder_.CreateAdd(z, carry_y);
    BasicBlock* end = builder_.GetInsertBlock();
    builder_.CreateCondBr(builder_.CreateICmpULT(next, threads_), loop, over);
    index->addIncoming(next, end);
    x->addIncoming(next_x, end);
    y->addIncoming(next_y, end);
    z->addIncoming(next_z, end);
    builder_.SetInsertPoint(over);
  }

  llvm::PHINode* counter(const char* name, BasicBlock* before) {
    llvm::PHINode* phi = builder_.CreatePHI(builder_.getInt32Ty(), 2, name);
    phi->addIncoming(builder_.getInt32(0), before);
    return phi;
  }

  void show(Value* index, llvm::ArrayRef<Value*> position) {
    set(offsetof(ThreadContext, warp), builder_.CreateLShr(index, uint64_t{5}));
    for (unsigned d = 0; d < 3; ++d) {
      Value* place = position[d];
      if (!has_counted_places_) {
        Value* table = builder_.CreateInBoundsGEP(builder_.getInt32Ty(), places_[d], index);
        set(offsetof(ThreadContext, places) + d * sizeof(void*), table);
        place = builder_.CreateLoad(builder_.getInt32Ty(), table);
      }
      set(offsetof(ThreadContext, tid) + 4 * d, place);
    }
    if (step_ == 1) set(offsetof(ThreadContext, lane), builder_.CreateAnd(index, builder_.getInt32(kWarp - 1)));
    if (has_counted_places_) return;
    Value* left = builder_.CreateSub(threads_, index);
    Value* some = builder_.CreateSub(builder_.CreateShl(builder_.getInt32(1), left), builder_.getInt32(1));
    Value* is_full = builder_.CreateICmpUGE(left, builder_.getInt32(kWarp));
    set(offsetof(ThreadContext, lanes), builder_.CreateSelect(is_full, builder_.getInt32(~0u), some));
  }

  void count_votes() {
    const std::pair<size_t, size_t> fields[] = {
        {offsetof(ThreadContext, votes), offsetof(ThreadContext, last_votes)},
        {offsetof(ThreadContext, voters), offsetof(ThreadContext, last_voters)}};
    for (const auto& [now, last] : fields) {
      set(last, word(now));
      set(now, builder_.getInt32(0));
    }
  }

  llvm::IRBuilder<> builder_;
  llvm::Function* made_;
  const unsigned step_;            ///< threads that the code is for
  const bool has_counted_places_;  ///< else they are read in a table
  Value *threads_ = nullptr, *places_[3] = {};
  uint64_t frame_bytes_ = 0;
  llvm::AllocaInst *frames_ = nullptr, *left_ = nullptr;  ///< left: a warp is not over
  llvm::SmallVector<llvm::CallInst*, 2> calls_;
};

}  // namespace

void run_whole_blocks(llvm::Module& module, llvm::ArrayRef<WideBody*> bodies, llvm::TargetMachine& machine) {
  struct Candidate {
    WideBody* body;
    bool reads_place;
    llvm::Function* coroutine;  ///< null: it never stops
  };
  std::vector<Candidate> candidates;
  llvm::SmallVector<llvm::Function*, 8> coroutines;
  const CallReach reach(module);
  for (WideBody* body : bodies) {
    if (const std::string why = obstacle(*body->code, reach); !why.empty()) {
      say(*body->code, why);
      if (body->is_alone) {
        body->code->eraseFromParent();
        *body = {};
      }
      continue;
    }
    Candidate candidate{body, read_place_first(*body->code), nullptr};
    if (!block_barriers(*body->code).empty()) coroutines.push_back(candidate.coroutine = make_coroutine(*body->code));
    candidates.push_back(candidate);
  }
  if (!coroutines.empty()) split_coroutines(module, coroutines, machine);
  for (const Candidate& candidate : candidates) {
    llvm::Function& warp = *candidate.body->code;
    const std::string name = "block." + warp.getName().str();
    BlockLoop loop(warp, name, *candidate.body);
    if (candidate.coroutine) {
      const CoroutineParts parts = parts_of(*candidate.coroutine);
      if (parts.frame_bytes * kMostWarps > kMostFrames) {
        say(warp, formatted("{} bytes of each are needed after its barriers", parts.frame_bytes));
        loop.drop();
        continue;
      }
      *candidate.body = {loop.over(parts, candidate.reads_place), candidate.body->blocks, true};
    } else {
      *candidate.body = {loop.over(warp, candidate.reads_place), candidate.body->blocks, true};
    }
    warp.eraseFromParent();
  }
}

}  // namespace cupola::cpu::build
