#include "backend/cpu/build/block_votes.h"

#include <llvm/IR/IRBuilder.h>

#include <utility>

#include "backend/cpu/build/thread_context.h"
#include "image/cpu_abi.h"
#include "image/thread_operations.h"

namespace cupola::cpu::build {
namespace {

using image::BarrierOp;
using image::cpu::ThreadContext;
using llvm::Value;

// Of the service's arguments.
constexpr unsigned kOperation = 3, kVotes = 4, kThreads = 5;

Value* word(llvm::IRBuilderBase& builder, Value* context, size_t offset) {
  return load_field(builder, context, offset, builder.getInt32Ty(), /*constant=*/false);
}

}  // namespace

bool is_reduction(const llvm::CallInst& barrier) {
  return service_of(barrier) == Service::barrier_reduce;
}

void reset_votes(llvm::IRBuilderBase& builder, Value* context) {
  for (const size_t offset : {offsetof(ThreadContext, votes), offsetof(ThreadContext, voters)})
    store_field(builder, context, offset, builder.getInt32(0));
}

void add_votes(llvm::IRBuilderBase& builder, Value* context, const llvm::CallInst& barrier) {
  const auto add = [&](size_t offset, Value* more) {
    store_field(builder, context, offset, builder.CreateAdd(word(builder, context, offset), more));
  };
  add(offsetof(ThreadContext, votes), barrier.getOperand(kVotes));
  add(offsetof(ThreadContext, voters), barrier.getOperand(kThreads));
}

void count_votes(llvm::IRBuilderBase& builder, Value* context) {
  const std::pair<size_t, size_t> fields[] = {{offsetof(ThreadContext, votes), offsetof(ThreadContext, last_votes)},
                                              {offsetof(ThreadContext, voters), offsetof(ThreadContext, last_voters)}};
  for (const auto& [now, last] : fields) store_field(builder, context, last, word(builder, context, now));
  reset_votes(builder, context);
}

Value* result_of_votes(llvm::IRBuilderBase& builder, Value* context, const llvm::CallInst& barrier) {
  Value* votes = word(builder, context, offsetof(ThreadContext, last_votes));
  Value* voters = word(builder, context, offsetof(ThreadContext, last_voters));
  Value *all = builder.CreateICmpEQ(votes, voters), *any = builder.CreateICmpNE(votes, builder.getInt32(0));
  Value* operation = barrier.getOperand(kOperation);
  const auto is = [&](BarrierOp which) {
    return builder.CreateICmpEQ(operation, builder.getInt32(std::to_underlying(which)));
  };
  Value* truth = builder.CreateZExt(builder.CreateSelect(is(BarrierOp::And), all, any), builder.getInt32Ty());
  return builder.CreateSelect(is(BarrierOp::Popc), votes, truth);
}

}  // namespace cupola::cpu::build
