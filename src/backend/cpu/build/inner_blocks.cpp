#include "backend/cpu/build/inner_blocks.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <array>

#include "backend/cpu/build/inner_indices.h"
#include "backend/cpu/build/place_arguments.h"
#include "backend/cpu/build/place_slopes.h"
#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/value_copy.h"
#include "image/cpu_abi.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using image::cpu::ThreadContext;
using llvm::BasicBlock;
using llvm::Value;
using Predicate = llvm::CmpInst::Predicate;

/// What is compared with a constant up to this is compared with where an array begins, not where it ends.
constexpr int64_t kNearBegin = 64;

/// Whether the value, of known slope, differs between blocks or launches.
bool is_of_launch(const Value* value) {
  if (llvm::isa<llvm::Argument>(value)) return true;
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction) return false;
  if (const auto known = kir::intrinsic_of(*instruction)) {
    using enum kir::Intrinsic;
    return known != TidX && known != TidY && known != TidZ;
  }
  return llvm::any_of(instruction->operands(), [](const llvm::Use& operand) { return is_of_launch(operand); });
}

// ---- questions ----

/// A comparison of where a thread is with what is the same for its block.
struct Question {
  llvm::ICmpInst* asked;
  bool answer;                    ///< the usual one
  Predicate usual;                ///< of place and bound: what holds then
  const llvm::CastInst* widened;  ///< the place, where it is compared as a wider number; null: as it is
  Value *place, *bound;
  int64_t least, most;  ///< the place's distances from that of the block's first thread
};

/// Whether this holds of a place and a bound inside of an array: before its end, behind its begin.
bool is_usual(Predicate asked, const Value& bound) {
  using llvm::CmpInst;
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(&bound);
  const bool is_begin = constant && constant->getValue().sle(kNearBegin) && constant->getValue().sge(-kNearBegin);
  if (llvm::ICmpInst::isEquality(asked)) return asked == CmpInst::ICMP_NE;
  return (llvm::ICmpInst::isLT(asked) || llvm::ICmpInst::isLE(asked)) != is_begin;
}

std::optional<Question> question_of(llvm::ICmpInst& asked, const Dim3& shape, Slopes& slopes) {
  if (llvm::any_of(asked.users(), llvm::IsaPred<llvm::AssumeInst>)) return std::nullopt;  // all threads get one answer
  const llvm::Type* type = asked.getOperand(0)->getType();
  if (!type->isIntegerTy(32) && !type->isIntegerTy(64)) return std::nullopt;
  for (const bool is_swapped : {false, true}) {
    Value *place = asked.getOperand(is_swapped), *bound = asked.getOperand(!is_swapped);
    const auto* widened = llvm::dyn_cast<llvm::CastInst>(place);
    if (widened && !llvm::isa<llvm::ZExtInst, llvm::SExtInst>(widened)) widened = nullptr;
    if (widened) place = widened->getOperand(0);
    if (!place->getType()->isIntegerTy(32) && !place->getType()->isIntegerTy(64)) continue;
    if (widened && asked.isEquality()) continue;
    const auto slope = slopes.of(place), of_bound = slopes.of(bound);
    if (!slope || is_flat(*slope) || !of_bound || !is_flat(*of_bound)) continue;
    if (!is_of_launch(place) && !is_of_launch(bound)) continue;  // one of each block's warps
    const Predicate predicate = is_swapped ? asked.getSwappedPredicate() : asked.getPredicate();
    const bool answer = is_usual(predicate, *bound);
    const Predicate usual = answer ? predicate : llvm::CmpInst::getInversePredicate(predicate);
    Question question{&asked, answer, usual, widened, place, bound, 0, 0};
    const int64_t last[] = {shape.x - 1, shape.y - 1, shape.z - 1};
    for (size_t d = 0; d < slope->size(); ++d) {
      constexpr int64_t kMostSlope = 1 << 16;  // by 1024 threads, far from what 32 bits hold
      if ((*slope)[d] > kMostSlope || (*slope)[d] < -kMostSlope) return std::nullopt;
      const int64_t distance = (*slope)[d] * last[d];
      (distance < 0 ? question.least : question.most) += distance;
    }
    return question;
  }
  return std::nullopt;
}

std::vector<Question> questions_of(llvm::Function& function, const Dim3& shape) {
  Slopes slopes;
  std::vector<Question> questions;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* asked = llvm::dyn_cast<llvm::ICmpInst>(&instruction))
      if (auto question = question_of(*asked, shape, slopes)) questions.push_back(*question);
  return questions;
}

/// Whether all of the block's threads get the usual answer; `copy` copies what the first one has.
Value* is_usual_for_all(const Question& question, llvm::IRBuilder<>& builder, ValueCopy& copy) {
  Value *first = copy(question.place), *bound = copy(question.bound);
  llvm::Type* type = first->getType();
  const unsigned bits = type->getIntegerBitWidth();
  if (llvm::ICmpInst::isEquality(question.usual)) {
    // Sums wrap, and the bound is met where it lies between the first place and the last.
    Value* least = builder.CreateAdd(first, llvm::ConstantInt::getSigned(type, question.least));
    return builder.CreateICmpUGT(builder.CreateSub(bound, least),
                                 builder.getIntN(bits, static_cast<uint64_t>(question.most - question.least)));
  }
  const bool is_signed_question = llvm::ICmpInst::isSigned(question.usual);
  const bool is_signed = question.widened ? llvm::isa<llvm::SExtInst>(question.widened) : is_signed_question;
  llvm::Type* wide = builder.getIntNTy(2 * bound->getType()->getIntegerBitWidth());
  const auto number = [&](const llvm::APInt& value) {
    const unsigned to = wide->getIntegerBitWidth();
    return llvm::ConstantInt::get(wide, is_signed ? value.sext(to) : value.zext(to));
  };
  Value* begin = is_signed ? builder.CreateSExt(first, wide) : builder.CreateZExt(first, wide);
  Value* least = builder.CreateAdd(begin, llvm::ConstantInt::getSigned(wide, question.least));
  Value* most = builder.CreateAdd(begin, llvm::ConstantInt::getSigned(wide, question.most));
  bound = is_signed_question ? builder.CreateSExt(bound, wide) : builder.CreateZExt(bound, wide);
  // No thread's place wraps, nor is one below 0 taken for a large one.
  const llvm::APInt lowest = is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getZero(bits);
  const llvm::APInt highest = is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  Value* smallest = is_signed && !is_signed_question ? llvm::ConstantInt::get(wide, 0) : number(lowest);
  Value* holds =
      builder.CreateAnd(builder.CreateICmpSGE(least, smallest), builder.CreateICmpSLE(most, number(highest)));
  const Predicate signed_predicate = llvm::ICmpInst::getSignedPredicate(question.usual);
  Value* nearest = llvm::ICmpInst::isLT(question.usual) || llvm::ICmpInst::isLE(question.usual) ? most : least;
  return builder.CreateAnd(holds, builder.CreateICmp(signed_predicate, nearest, bound));
}

/// A function that takes what the kernel takes and says of the context's block whether all answers are the usual ones,
/// and no index wraps.
llvm::Function* make_look(llvm::Function& kernel, const std::vector<Question>& questions, const InnerIndices& indices) {
  llvm::LLVMContext& context = kernel.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getInt1Ty(context), kernel.getFunctionType()->params(), false);
  llvm::Function* made =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, kernel.getName() + ".inner", kernel.getParent());
  llvm::IRBuilder<> builder(BasicBlock::Create(context, "", made));
  ValueCopy copy(kernel, builder);
  for (llvm::Instruction& instruction : llvm::instructions(kernel)) {
    const auto known = kir::intrinsic_of(instruction);
    using enum kir::Intrinsic;
    if (known == TidX || known == TidY || known == TidZ)
      copy.replace(instruction, *llvm::ConstantInt::get(instruction.getType(), 0));
  }
  Value* all = builder.getTrue();
  for (const Question& question : questions)  // one that no thread comes to may be of any number
    all = builder.CreateAnd(all, builder.CreateFreeze(is_usual_for_all(question, builder, copy)));
  if (Value* none_wraps = indices.none_wraps(builder, copy))
    all = builder.CreateAnd(all, builder.CreateFreeze(none_wraps));
  builder.CreateRet(all);
  return made;
}

// ---- running them apart ----

class Apart {
 public:
  Apart(llvm::Function& all, llvm::Function& inner, llvm::Function& are_inner, const LeastBlocks& least)
      : look_(give_places_as_arguments(are_inner)),
        made_(llvm::Function::Create(all.getFunctionType(), llvm::GlobalValue::InternalLinkage,
                                     "apart." + all.getName(), all.getParent())),
        builder_(all.getContext()),
        all_(all),
        inner_(inner),
        least_(least) {
    are_inner.eraseFromParent();
    made_->setAttributes(all.getAttributes());
    for (llvm::Function* code : {&all_, &inner_})
      for (unsigned i = 0; i < code->arg_size(); ++i) code->removeParamAttr(i, llvm::Attribute::ByVal);  // only read
  }

  llvm::Function* make() {
    BasicBlock *begin = make_block("begin"), *row = make_block("row"), *over = make_block("over");
    builder_.SetInsertPoint(begin);
    Value *first[3], *size[3];
    for (unsigned d = 0; d < 3; ++d) {
      first[d] = word(offsetof(ThreadContext, ctaid) + 4 * d);
      size[d] = word(offsetof(ThreadContext, nctaid) + 4 * d);
    }
    Value* asked = word(offsetof(ThreadContext, blocks));
    Value* are_few = are_fewer(size, least_.of_grid);
    for (unsigned d = 0; d < 3; ++d)
      tables_[d] = load_field(builder_, context_of(*made_), table(d), builder_.getPtrTy(), /*constant=*/false);
    builder_.CreateBr(row);

    builder_.SetInsertPoint(row);  // what is left of it
    Phis at{phi(asked, begin), {phi(first[0], begin), phi(first[1], begin), phi(first[2], begin)}};
    Phis waiting{phi(asked, begin), {phi(first[0], begin), phi(first[1], begin), phi(first[2], begin)}};
    const auto& [left, place] = at;
    Value* in_row = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, builder_.CreateSub(size[0], place[0]));
    const auto is_inner_at = [&](Value* number) {
      return is_inner(builder_.CreateAdd(place[0], number), place[1], place[2]);
    };
    // If the first is no inner one, less are left than are worth it in a short row.
    Value* zero = builder_.getInt32(0);
    Value* is_all = builder_.CreateAnd(builder_.CreateNot(is_inner_at(zero)),
                                       builder_.CreateICmpULE(in_row, builder_.getInt32(least_.in_row)));
    is_all = builder_.CreateOr(is_all, are_few);
    Value* others = count_while(builder_.CreateSelect(is_all, in_row, zero), in_row,
                                [&](Value* number) { return builder_.CreateNot(is_inner_at(number)); });
    Value* end = count_while(others, in_row, is_inner_at);
    Value* count = builder_.CreateSub(end, others);
    Value* is_short = builder_.CreateAnd(builder_.CreateICmpULT(count, builder_.getInt32(least_.in_row)),
                                         builder_.CreateICmpNE(count, in_row));
    others = builder_.CreateSelect(is_short, in_row, others);
    end = builder_.CreateSelect(is_short, in_row, end);
    count = builder_.CreateSub(end, others);
    Value* rest = builder_.CreateSub(left, end);

    // Blocks that are not inner wait for those of the next row, to be run by one call.
    Value* from_inner = builder_.CreateSub(left, others);
    Value* is_time = builder_.CreateOr(builder_.CreateICmpNE(count, builder_.getInt32(0)),
                                       builder_.CreateICmpEQ(rest, builder_.getInt32(0)));
    run(all_, {waiting.place[0], waiting.place[1], waiting.place[2]}, waiting.left,
        builder_.CreateSelect(is_time, builder_.CreateSub(waiting.left, from_inner), builder_.getInt32(0)));
    run(inner_, {builder_.CreateAdd(place[0], others), place[1], place[2]}, from_inner, count);

    BasicBlock* on = builder_.GetInsertBlock();
    Value* next[3];
    Value* carry = end;
    for (unsigned d = 0; d < 3; ++d) {
      next[d] = builder_.CreateAdd(place[d], carry);
      if (d == 2) break;
      Value* is_over = builder_.CreateICmpUGE(next[d], size[d]);
      carry = builder_.CreateZExt(is_over, builder_.getInt32Ty());
      next[d] = builder_.CreateSelect(is_over, builder_.getInt32(0), next[d]);
    }
    left->addIncoming(rest, on);
    waiting.left->addIncoming(builder_.CreateSelect(is_time, rest, waiting.left), on);
    for (unsigned d = 0; d < 3; ++d) {
      place[d]->addIncoming(next[d], on);
      waiting.place[d]->addIncoming(builder_.CreateSelect(is_time, next[d], waiting.place[d]), on);
    }
    builder_.CreateCondBr(builder_.CreateICmpNE(rest, builder_.getInt32(0)), row, over);
    builder_.SetInsertPoint(over);
    builder_.CreateRetVoid();

    for (llvm::CallInst* call : looks_) {
      llvm::InlineFunctionInfo info;
      llvm::InlineFunction(*call, info);
    }
    look_.code->eraseFromParent();
    return made_;
  }

 private:
  struct Phis {
    llvm::PHINode* left;                  ///< blocks
    std::array<llvm::PHINode*, 3> place;  ///< of the first of them
  };

  BasicBlock* make_block(const char* name) { return BasicBlock::Create(builder_.getContext(), name, made_); }
  llvm::PHINode* phi(Value* first, BasicBlock* from) {
    llvm::PHINode* made = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    made->addIncoming(first, from);
    return made;
  }
  static size_t table(unsigned dimension) { return offsetof(ThreadContext, places) + dimension * sizeof(void*); }
  Value* word(size_t offset) {
    return load_field(builder_, context_of(*made_), offset, builder_.getInt32Ty(), /*constant=*/false);
  }
  /// Whether a grid has less blocks.
  Value* are_fewer(Value* const (&size)[3], uint32_t least) {
    Value* blocks = builder_.getInt64(1);  // of three numbers of 31, 16 and 16 bits
    for (Value* of_dimension : size)
      blocks = builder_.CreateMul(blocks, builder_.CreateZExt(of_dimension, builder_.getInt64Ty()));
    return builder_.CreateICmpULT(blocks, builder_.getInt64(least));
  }
  llvm::SmallVector<Value*, 8> arguments() {
    llvm::SmallVector<Value*, 8> all;
    for (llvm::Argument& argument : made_->args()) all.push_back(&argument);
    return all;
  }

  /// From `first` up to `end`, which is not below it, or until `goes_on` says otherwise: how far.
  template <typename GoesOn>
  Value* count_while(Value* first, Value* end, GoesOn goes_on) {
    BasicBlock *from = builder_.GetInsertBlock(), *turn = make_block("turn"), *look = make_block("look"),
               *over = make_block("counted");
    builder_.CreateBr(turn);
    builder_.SetInsertPoint(turn);
    llvm::PHINode* number = phi(first, from);
    builder_.CreateCondBr(builder_.CreateICmpULT(number, end), look, over);
    builder_.SetInsertPoint(look);
    Value* is_on = goes_on(number);
    number->addIncoming(builder_.CreateAdd(number, builder_.getInt32(1)), builder_.GetInsertBlock());
    builder_.CreateCondBr(is_on, turn, over);
    builder_.SetInsertPoint(over);
    return number;
  }

  /// `count` blocks from `place` on, where so many are left; there may be none.
  void run(llvm::Function& code, llvm::ArrayRef<Value*> place, Value* left, Value* count) {
    BasicBlock *some = make_block("some"), *on = make_block("on");
    builder_.CreateCondBr(builder_.CreateICmpNE(count, builder_.getInt32(0)), some, on);
    builder_.SetInsertPoint(some);
    for (unsigned d = 0; d < 3; ++d) {
      store_field(builder_, context_of(*made_), offsetof(ThreadContext, ctaid) + 4 * d, place[d]);
      store_field(builder_, context_of(*made_), table(d), tables_[d]);  // code that calls others leaves its last warp's
    }
    store_field(builder_, context_of(*made_), offsetof(ThreadContext, blocks), left);
    store_field(builder_, context_of(*made_), offsetof(ThreadContext, blocks_left), builder_.CreateSub(left, count));
    builder_.CreateCall(&code, arguments());
    builder_.CreateBr(on);
    builder_.SetInsertPoint(on);
  }

  Value* is_inner(Value* x, Value* y, Value* z) {
    llvm::SmallVector<Value*, 8> all = arguments();
    for (const size_t field : look_.fields)
      all.push_back(field == offsetof(ThreadContext, ctaid) ? x : field == offsetof(ThreadContext, ctaid) + 4 ? y : z);
    looks_.push_back(builder_.CreateCall(look_.code, all));
    return looks_.back();
  }

  PlacedCode look_;  ///< takes blockIdx
  llvm::Function* made_;
  llvm::IRBuilder<> builder_;
  llvm::Function &all_, &inner_;
  const LeastBlocks least_;
  llvm::SmallVector<llvm::CallInst*, 2> looks_;
  Value* tables_[3] = {};  ///< of threadIdx, as the context has them at first
};

}  // namespace

size_t questions_for_places(llvm::Function& prepared, const Dim3& shape) {
  return questions_of(prepared, shape).size();
}

InnerBlocks code_for_inner_blocks(llvm::Function& prepared, const Dim3& shape) {
  llvm::ValueToValueMapTy map;
  llvm::Function* code = llvm::CloneFunction(&prepared, map);
  const std::vector<Question> questions = questions_of(*code, shape);
  InnerIndices indices(*code, shape);
  llvm::Function* are_inner = make_look(*code, questions, indices);
  indices.widen();
  for (const Question& question : questions)
    question.asked->replaceAllUsesWith(llvm::ConstantInt::getBool(code->getContext(), question.answer));
  return InnerBlocks{are_inner, code};
}

llvm::Function* run_inner_blocks_apart(llvm::Function& all, llvm::Function& inner, llvm::Function& are_inner,
                                       const LeastBlocks& least) {
  return Apart(all, inner, are_inner, least).make();
}

}  // namespace cupola::cpu::build
