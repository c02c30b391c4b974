#include "backend/cpu/build/streaming_stores.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_prefetch.h"
#include "image/cpu_abi.h"

namespace cupola::cpu::build {
namespace {

using image::cpu::kWarp;
using image::cpu::ThreadContext;
using llvm::Value;

/// Outputs of so many bytes no cache holds for who comes next.
constexpr uint64_t kLargeFrom = 32 << 20;
/// Of shorter rows of the grid the ends count, which may be written in parts: such a store waits for its line, and
/// those past the caches wait for it.
constexpr uint64_t kLongFrom = 4096;

/// The argument that an address is made of; null: none, or it is not known.
const llvm::Argument* argument_of(const Value* address) {
  return llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(address));
}

/// What the code says of itself in its context, for messages.
bool is_to_context(const llvm::Instruction& instruction) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  return store && argument_of(store->getPointerOperand()) == context_of(*instruction.getFunction());
}

bool may_tell_others(const llvm::Instruction& instruction) {
  if (is_to_context(instruction)) return false;
  if (instruction.isVolatile() || instruction.isAtomic()) return true;
  return llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction);
}

/// A call of llvm.prefetch; null: it is another instruction.
llvm::IntrinsicInst* as_prefetch(llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == llvm::Intrinsic::prefetch ? call : nullptr;
}

const Value* read_address(const llvm::Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->getPointerOperand();
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call || !call->mayReadFromMemory() || call->arg_size() == 0) return nullptr;
  const Value* first = call->getArgOperand(0);
  return first->getType()->isPtrOrPtrVectorTy() ? first : nullptr;
}

uint64_t bytes_of(const llvm::StoreInst& store) {
  return store.getDataLayout().getTypeStoreSize(store.getValueOperand()->getType()).getFixedValue();
}

/// Stores that only write; nothing where the code may tell others.
llvm::SmallVector<llvm::StoreInst*, 8> outputs_of(llvm::Function& code) {
  llvm::SmallVector<llvm::StoreInst*, 8> stores;
  llvm::SmallPtrSet<const llvm::Argument*, 8> read;
  for (llvm::Instruction& instruction : llvm::instructions(code)) {
    if (may_tell_others(instruction)) return {};
    if (as_prefetch(instruction)) continue;
    if (const Value* address = read_address(instruction)) read.insert(argument_of(address));
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (store && store->getValueOperand()->getType()->isVectorTy() && bytes_of(*store) % kLine == 0 &&
        argument_of(store->getPointerOperand()))
      stores.push_back(store);
  }
  llvm::erase_if(stores,
                 [&](const llvm::StoreInst* store) { return read.contains(argument_of(store->getPointerOperand())); });
  return stores;
}

/// How many threads the grid has in its first dimensions.
Value* thread_count(llvm::IRBuilder<>& builder, llvm::Function& code, unsigned dimensions) {
  Value* count = builder.getInt64(1);
  for (const size_t field : {offsetof(ThreadContext, ntid), offsetof(ThreadContext, nctaid)})
    for (unsigned d = 0; d < dimensions; ++d) {
      Value* size = load_field(builder, context_of(code), field + 4 * d, builder.getInt32Ty(), /*constant=*/true);
      count = builder.CreateMul(count, builder.CreateZExt(size, builder.getInt64Ty()));
    }
  return count;
}

/// The store as it is, or where `is_large` and at the beginning of a line, past the caches.
void make_two_ways(llvm::StoreInst& store, Value* is_large) {
  llvm::IRBuilder<> builder(&store);
  Value* address = builder.CreatePtrToInt(store.getPointerOperand(), builder.getInt64Ty());
  Value* in_line = builder.CreateAnd(address, builder.getInt64(kLine - 1));
  Value* streams = builder.CreateAnd(is_large, builder.CreateICmpEQ(in_line, builder.getInt64(0)));
  llvm::Instruction *past = nullptr, *plain = nullptr;
  llvm::SplitBlockAndInsertIfThenElse(streams, &store, &past, &plain);
  auto* streamed = llvm::cast<llvm::StoreInst>(store.clone());
  streamed->insertBefore(past->getIterator());
  streamed->setAlignment(llvm::Align(kLine));
  auto* one = llvm::ConstantAsMetadata::get(builder.getInt32(1));
  streamed->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(builder.getContext(), {one}));
  store.moveBefore(plain->getIterator());
}

/// What goes past the caches is not fetched into them: by what says of an output whether it does.
void keep_out_of_caches(llvm::Function& code, const llvm::MapVector<const llvm::Argument*, Value*>& is_large) {
  llvm::SmallVector<llvm::IntrinsicInst*, 8> fetches;
  for (llvm::Instruction& instruction : llvm::instructions(code))
    if (llvm::IntrinsicInst* fetch = as_prefetch(instruction))
      if (is_large.contains(argument_of(fetch->getArgOperand(0)))) fetches.push_back(fetch);
  for (llvm::IntrinsicInst* fetch : fetches) {
    Value* stays = llvm::IRBuilder<>(fetch).CreateNot(is_large.lookup(argument_of(fetch->getArgOperand(0))));
    fetch->moveBefore(
        llvm::SplitBlockAndInsertIfThen(stays, fetch->getIterator(), /*Unreachable=*/false)->getIterator());
  }
}

/// What was written past the caches comes before what the thread writes next.
void end_with_fence(llvm::Function& code) {
  if (!code.getParent()->getTargetTriple().isX86()) return;  // elsewhere a release orders such stores as well
  for (llvm::BasicBlock& block : code)
    if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator()))
      llvm::IRBuilder<>(end).CreateIntrinsic(llvm::Type::getVoidTy(code.getContext()), llvm::Intrinsic::x86_sse_sfence,
                                             {});
}

}  // namespace

void stream_large_outputs(llvm::Function& code) {
  const auto stores = outputs_of(code);
  if (stores.empty()) return;
  llvm::MapVector<const llvm::Argument*, uint64_t> bytes;  // that a warp writes, in all its rows and alternatives
  for (const llvm::StoreInst* store : stores) bytes[argument_of(store->getPointerOperand())] += bytes_of(*store);
  llvm::BasicBlock& entry = code.getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  Value *in_row = thread_count(builder, code, 1), *in_all = thread_count(builder, code, 3);
  llvm::MapVector<const llvm::Argument*, Value*> is_large;
  for (const auto& [output, of_warp] : bytes) {
    const auto are_bytes = [&](Value* threads, uint64_t least) {
      return builder.CreateICmpUGE(threads, builder.getInt64(least * kWarp / of_warp));
    };
    is_large[output] = builder.CreateAnd(are_bytes(in_all, kLargeFrom), are_bytes(in_row, kLongFrom));
  }
  for (llvm::StoreInst* store : stores) make_two_ways(*store, is_large[argument_of(store->getPointerOperand())]);
  keep_out_of_caches(code, is_large);
  end_with_fence(code);
}

}  // namespace cupola::cpu::build
