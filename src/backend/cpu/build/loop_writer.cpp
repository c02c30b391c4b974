#include "backend/cpu/build/loop_writer.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace cupola::cpu::build {

using llvm::BasicBlock;
using llvm::Value;

BasicBlock* LoopWriter::make_block(const char* name) {
  return BasicBlock::Create(builder_.getContext(), name, &function_);
}

LoopWriter::Turns LoopWriter::begin_turns(const char* name) {
  const Turns turns{builder_.GetInsertBlock(), make_block(name)};
  builder_.CreateBr(turns.begin);
  builder_.SetInsertPoint(turns.begin);
  return turns;
}

void LoopWriter::end_turns(const Turns& turns, Value* goes_on, BasicBlock* over) {
  if (!over) over = make_block("over");
  ends_of_turns_.push_back(builder_.CreateCondBr(goes_on, turns.begin, over));
  builder_.SetInsertPoint(over);
}

llvm::PHINode* LoopWriter::counter(const Turns& turns, const char* name, Value* first) {
  llvm::PHINode* phi = builder_.CreatePHI(builder_.getInt32Ty(), 2, name);
  phi->addIncoming(first, turns.before);
  return phi;
}

LoopWriter::Position LoopWriter::counters(const Turns& turns, const char* name, llvm::ArrayRef<Value*> first) {
  Position position;
  for (unsigned d = 0; d < 3; ++d) position[d] = counter(turns, name, first[d]);
  return position;
}

void LoopWriter::advance(const Position& position, Value* step, llvm::ArrayRef<Value*> size) {
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

Value* LoopWriter::count_while(Value* end, uint32_t step, llvm::function_ref<Value*(Value*)> body) {
  const Turns turns = begin_turns("turn");
  llvm::PHINode* number = counter(turns, "number", builder_.getInt32(0));
  Value* goes_on = body(number);
  Value* next = builder_.CreateAdd(number, builder_.getInt32(step));
  number->addIncoming(next, builder_.GetInsertBlock());
  end_turns(turns, builder_.CreateAnd(goes_on, builder_.CreateICmpULT(next, end)));
  return next;
}

void LoopWriter::count(Value* end, uint32_t step, llvm::function_ref<void(Value*)> body) {
  if (is_one_turn(end, step)) return body(builder_.getInt32(0));
  count_while(end, step, [&](Value* number) {
    body(number);
    return builder_.getTrue();
  });
}

bool LoopWriter::is_one_turn(const Value* end, uint32_t step) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(end);
  return number && number->getZExtValue() <= step;
}

}  // namespace cupola::cpu::build
