#include "backend/cpu/build/kept_columns.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "backend/cpu/build/last_store.h"
#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_steps.h"
#include "image/cpu_abi.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using image::cpu::kSharedWindow;
using image::cpu::ThreadContext;
using kir::Intrinsic;
using llvm::Value;

/// Of a thread, in bytes.
constexpr uint64_t kWord = 4, kLine = kWord * kMostKeptBlocks;
/// Words of more threads would take too much of the first cache.
constexpr uint32_t kMostThreads = 256;
static_assert(kMostThreads * kLine <= kSharedWindow - image::cpu::kSharedOfLaunch);
/// Threads that are nearer share lines, or lie in different sets of the first cache.
constexpr uint64_t kLeastBetweenLines = 512;

bool is_in_range(const Dim3& shape) {
  return shape.y == 1 && shape.z == 1 && shape.x % image::cpu::kWarp == 0 && shape.x <= kMostThreads;
}

/// A place that moves by a word from block to block: a number behind a base that all blocks share.
struct Column {
  Value *base, *number;
  bool is_signed;  ///< how the number is extended
};

class Keeping {
 public:
  explicit Keeping(llvm::Function& kernel)
      : kernel_(kernel),
        dominators_(kernel),
        post_dominators_(kernel),
        loops_(dominators_),
        evolution_(kernel, loops_, dominators_) {}

  llvm::StoreInst* find() {
    for (llvm::Instruction& instruction : llvm::instructions(kernel_)) {
      auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (store && is_by_all(*store) && is_last_access(*store))
        return column_of(*store) ? store : nullptr;  // no second one is by all threads, and the last
    }
    return nullptr;
  }

  llvm::Function* keep(llvm::StoreInst& store, const Dim3& shape) {
    const std::optional<Column> column = column_of(store);
    return column ? keep(store, *column, shape) : nullptr;
  }

 private:
  // ---- whether ----

  /// A word, written once by each thread.
  bool is_by_all(const llvm::StoreInst& store) const {
    return store.isSimple() && kernel_.getDataLayout().getTypeStoreSize(store.getValueOperand()->getType()) == kWord &&
           !store.getValueOperand()->getType()->isVectorTy() && !loops_.getLoopFor(store.getParent()) &&
           post_dominators_.dominates(store.getParent(), &kernel_.getEntryBlock());
  }

  std::optional<Column> column_of(llvm::StoreInst& store) {
    auto* sum = llvm::dyn_cast<llvm::GetElementPtrInst>(store.getPointerOperand());
    if (!sum || sum->getNumIndices() != 1 || sum->getSourceElementType()->isVectorTy() ||
        kernel_.getDataLayout().getTypeAllocSize(sum->getSourceElementType()) != kWord)
      return std::nullopt;
    Column column{sum->getPointerOperand(), sum->getOperand(1), /*is_signed=*/true};
    if (auto* cast = llvm::dyn_cast<llvm::CastInst>(column.number);
        cast && llvm::isa<llvm::SExtInst, llvm::ZExtInst>(cast))
      column = {column.base, cast->getOperand(0), llvm::isa<llvm::SExtInst>(cast)};
    if (!moves_by(0, column.base) || !moves_by(1, column.number) || !is_far(store)) return std::nullopt;
    return column;
  }

  /// `value` is made of arguments, constants and registers alone, by sums and products that do not wrap before they are
  /// extended, and is so much more in the next block: Steps, who go by what mostly is, know it for certain then.
  bool moves_by(uint64_t step, Value* value) {
    const llvm::SCEV* all = (*evolution_).getSCEV(value);
    if (llvm::SCEVExprContains(all, [&](const llvm::SCEV* part) { return !is_plain(part); })) return false;
    const auto* constant = llvm::dyn_cast_or_null<llvm::SCEVConstant>(Steps(*evolution_, Intrinsic::CtaidX).of(all));
    return constant && constant->getAPInt() == step;
  }

  /// No choice, nothing that was read or that a loop made, and no sum that may wrap within another one. The number
  /// itself may: that is looked at when words are written.
  static bool is_plain(const llvm::SCEV* part) {
    if (const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part)) {
      const auto known = register_of(unknown);
      return known ? is_place_or_size(*known) : llvm::isa<llvm::Argument, llvm::Constant>(unknown->getValue());
    }
    if (const auto* cast = llvm::dyn_cast<llvm::SCEVCastExpr>(part))
      return llvm::isa<llvm::SCEVUnknown>(cast->getOperand());
    return llvm::isa<llvm::SCEVConstant, llvm::SCEVAddExpr, llvm::SCEVMulExpr>(part);
  }

  bool is_far(llvm::StoreInst& store) {
    const llvm::SCEV* step = Steps(*evolution_, Intrinsic::TidX).of((*evolution_).getSCEV(store.getPointerOperand()));
    const auto* constant = llvm::dyn_cast_or_null<llvm::SCEVConstant>(step);
    return step && (!constant || constant->getAPInt().abs().uge(kLeastBetweenLines));
  }

  // ---- doing it ----

  Value* field(llvm::IRBuilder<>& builder, size_t offset, llvm::Type* type) {
    return load_field(builder, context_of(kernel_), offset, type, /*constant=*/true);
  }

  llvm::Function* keep(llvm::StoreInst& store, const Column& column, const Dim3& shape) {
    llvm::Type* word = store.getValueOperand()->getType();
    llvm::Function* write = make_write(column, word, store.getAlign(), shape.x);
    llvm::IRBuilder<> builder(&store);
    Value* window = field(builder, offsetof(ThreadContext, shared_window), builder.getPtrTy());
    Value* thread = builder.CreateCall(kir::declare(*kernel_.getParent(), Intrinsic::TidX));
    Value* first_word = builder.CreateGEP(
        builder.getInt8Ty(), window,
        builder.CreateAdd(
            builder.getInt64(kSharedWindow - shape.x * kLine),
            builder.CreateMul(builder.CreateZExt(thread, builder.getInt64Ty()), builder.getInt64(kWord))));
    Value* kept = field(builder, offsetof(ThreadContext, kept_blocks), builder.getInt32Ty());
    builder.CreateStore(store.getValueOperand(), word_of(builder, word, first_word, kept, shape.x));
    Value* is_over = builder.CreateICmpEQ(field(builder, offsetof(ThreadContext, keeps_on), builder.getInt32Ty()),
                                          builder.getInt32(0));
    llvm::Instruction* then = llvm::SplitBlockAndInsertIfThen(is_over, &store, /*Unreachable=*/false);
    builder.SetInsertPoint(then);
    builder.SetCurrentDebugLocation(store.getDebugLoc());
    Value* first = builder.CreateSub(column.number, builder.CreateZExtOrTrunc(kept, column.number->getType()));
    builder.CreateCall(write, {first_word, column.base, first, builder.CreateAdd(kept, builder.getInt32(1))});
    store.eraseFromParent();
    return write;
  }

  /// A thread's word of that block: those of a block's threads lie behind each other.
  static Value* word_of(llvm::IRBuilder<>& builder, llvm::Type* word, Value* first_word, Value* block,
                        uint32_t threads) {
    Value* words = builder.CreateMul(builder.CreateZExt(block, builder.getInt64Ty()), builder.getInt64(threads));
    return builder.CreateGEP(word, first_word, words);
  }

  /// write(first_word, base, first, count) writes so many blocks' words of a thread to where their numbers say, from
  /// `first` on.
  llvm::Function* make_write(const Column& column, llvm::Type* word, llvm::Align alignment, uint32_t threads) {
    llvm::LLVMContext& context = kernel_.getContext();
    llvm::IRBuilder<> builder(context);
    llvm::Type* number = column.number->getType();
    auto* write = llvm::Function::Create(
        llvm::FunctionType::get(builder.getVoidTy(),
                                {builder.getPtrTy(), builder.getPtrTy(), number, builder.getInt32Ty()}, false),
        llvm::GlobalValue::InternalLinkage, "kept.words", kernel_.getParent());
    write->addFnAttrs(llvm::AttrBuilder(context, kernel_.getAttributes().getFnAttrs()));
    Value *first_word = write->getArg(0), *base = write->getArg(1), *first = write->getArg(2),
          *count = write->getArg(3);
    auto *begin = llvm::BasicBlock::Create(context, "", write), *all = llvm::BasicBlock::Create(context, "all", write),
         *some = llvm::BasicBlock::Create(context, "some", write),
         *over = llvm::BasicBlock::Create(context, "over", write);
    const auto place = [&](Value* of) {
      return builder.CreateGEP(word, base, builder.CreateIntCast(of, builder.getInt64Ty(), column.is_signed));
    };
    const auto kept_word = [&](Value* block) {
      return builder.CreateLoad(word, word_of(builder, word, first_word, block, threads));
    };
    builder.SetInsertPoint(begin);
    const unsigned bits = number->getIntegerBitWidth();
    const llvm::APInt most = column.is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
    Value* last = builder.getInt(most - (kMostKeptBlocks - 1));
    Value* wraps = column.is_signed ? builder.CreateICmpSGT(first, last) : builder.CreateICmpUGT(first, last);
    Value* is_whole = builder.CreateICmpEQ(count, builder.getInt32(kMostKeptBlocks));
    builder.CreateCondBr(builder.CreateAnd(is_whole, builder.CreateNot(wraps)), all, some);

    builder.SetInsertPoint(all);
    Value* line = place(first);
    for (uint32_t block = 0; block < kMostKeptBlocks; ++block)
      builder.CreateAlignedStore(kept_word(builder.getInt32(block)), builder.CreateConstGEP1_32(word, line, block),
                                 alignment);
    builder.CreateBr(over);

    builder.SetInsertPoint(some);
    llvm::PHINode* index = builder.CreatePHI(builder.getInt32Ty(), 2);
    index->addIncoming(builder.getInt32(0), begin);
    builder.CreateAlignedStore(kept_word(index),
                               place(builder.CreateAdd(first, builder.CreateZExtOrTrunc(index, number))), alignment);
    Value* next = builder.CreateAdd(index, builder.getInt32(1));
    index->addIncoming(next, some);
    builder.CreateCondBr(builder.CreateICmpULT(next, count), some, over);
    builder.SetInsertPoint(over);
    builder.CreateRetVoid();
    return write;
  }

  llvm::Function& kernel_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree post_dominators_;
  llvm::LoopInfo loops_;
  Evolution evolution_;
};

}  // namespace

llvm::StoreInst* store_down_a_column(llvm::Function& kernel, const Dim3& shape) {
  return is_in_range(shape) ? Keeping(kernel).find() : nullptr;
}

llvm::Function* keep_column(llvm::StoreInst& store, const Dim3& shape) {
  return Keeping(*store.getFunction()).keep(store, shape);
}

bool keeps_columns(const llvm::Function& code) {
  return llvm::any_of(llvm::instructions(code), [](const llvm::Instruction& instruction) {
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    return load && constant_field(*load) == offsetof(ThreadContext, kept_blocks);
  });
}

}  // namespace cupola::cpu::build
