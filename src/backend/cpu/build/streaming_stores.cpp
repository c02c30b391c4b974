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
#include <llvm/Transforms/Utils/Cloning.h>

#include <optional>
#include <utility>

#include "backend/cpu/build/output_turns.h"
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
/// those past the caches wait for it. (With 6 columns of 256 missing the others still take a quarter less time.)
constexpr uint64_t kLongFrom = 1024;

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

const Value* read_address(const llvm::Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->getPointerOperand();
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call || !call->mayReadFromMemory() || call->arg_size() == 0) return nullptr;
  const Value* first = call->getArgOperand(0);
  return first->getType()->isPtrOrPtrVectorTy() ? first : nullptr;
}

/// A store of a row, of which the lanes that a mask lacks may stay as they are.
struct RowStore {
  llvm::Instruction* instruction;
  Value *value, *place;
  Value* mask;  ///< null: all lanes store

  uint64_t bytes() const { return instruction->getDataLayout().getTypeStoreSize(value->getType()).getFixedValue(); }
  const llvm::Argument* output() const { return argument_of(place); }
};

std::optional<RowStore> as_row_store(llvm::Instruction& instruction) {
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    if (!store->getValueOperand()->getType()->isVectorTy()) return std::nullopt;
    return RowStore{store, store->getValueOperand(), store->getPointerOperand(), nullptr};
  }
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call || call->getIntrinsicID() != llvm::Intrinsic::masked_store) return std::nullopt;
  return RowStore{call, call->getArgOperand(0), call->getArgOperand(1), call->getArgOperand(2)};
}

/// Stores one after the other that fill whole lines together, one at most if it can: rows of processors that move less
/// than a line at a time are several.
using LineStores = llvm::SmallVector<RowStore, 2>;

uint64_t bytes_of(const LineStores& stores) {
  uint64_t bytes = 0;
  for (const RowStore& store : stores) bytes += store.bytes();
  return bytes;
}

/// Whether a store writes right behind others, to the same output.
bool follows(const LineStores& before, const RowStore& store) {
  const llvm::DataLayout& layout = store.instruction->getDataLayout();
  const auto place_of = [&](const Value* address) {
    llvm::APInt offset(layout.getIndexTypeSizeInBits(address->getType()), 0);
    const Value* base = address->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
    return std::pair(base, offset);
  };
  const auto [base, offset] = place_of(before.front().place);
  const auto [of_store, behind] = place_of(store.place);
  return base == of_store && behind - offset == bytes_of(before);
}

/// Stores that only write; nothing where the code may tell others.
llvm::SmallVector<LineStores, 8> outputs_of(llvm::Function& code) {
  llvm::SmallVector<LineStores, 8> outputs;
  llvm::SmallPtrSet<const llvm::Argument*, 8> read;
  for (llvm::BasicBlock& block : code) {
    LineStores line;  // of which there is no end yet
    for (llvm::Instruction& instruction : block) {
      if (may_tell_others(instruction)) return {};
      if (is_fetch(instruction) || !instruction.mayReadOrWriteMemory()) continue;
      if (const Value* address = read_address(instruction)) read.insert(argument_of(address));
      const std::optional<RowStore> store = as_row_store(instruction);
      if (line.empty() || !store || !follows(line, *store)) line.clear();
      if (!store || !store->output()) continue;
      line.push_back(*store);
      if (bytes_of(line) % kLine == 0) outputs.push_back(std::exchange(line, {}));
    }
  }
  llvm::erase_if(outputs, [&](const LineStores& stores) { return read.contains(stores.front().output()); });
  return outputs;
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

/// How many bytes a warp writes on each output in all its rows: where all lanes store, or else where some do, which is
/// what the same stores become for warps of which some threads are there.
llvm::MapVector<const llvm::Argument*, uint64_t> bytes_of_warp(llvm::ArrayRef<LineStores> outputs) {
  llvm::MapVector<const llvm::Argument*, uint64_t> of_all, of_some;
  for (const LineStores& stores : outputs)
    for (const RowStore& store : stores) (store.mask ? of_some : of_all)[store.output()] += store.bytes();
  for (const auto& [output, bytes] : of_some) of_all.insert({output, bytes});
  return of_all;
}

/// How often threads of the grid write on the output.
Value* times_turns(llvm::IRBuilder<>& builder, llvm::Function& code, Value* threads, const llvm::Argument& output,
                   llvm::ArrayRef<OutputTurns> turns) {
  const auto* known = llvm::find_if(turns, [&](const OutputTurns& each) { return each.output == output.getArgNo(); });
  if (known == turns.end()) return threads;
  llvm::SmallVector<Value*, 8> arguments;
  for (const llvm::Argument& taken : known->counts->args()) arguments.push_back(code.getArg(taken.getArgNo()));
  llvm::CallInst* count = builder.CreateCall(known->counts, arguments);
  Value* all = builder.CreateMul(threads, count);
  llvm::InlineFunctionInfo info;
  llvm::InlineFunction(*count, info);
  return all;
}

Value* all_lanes(llvm::IRBuilder<>& builder, Value* mask) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  llvm::Type* bits = builder.getIntNTy(lanes);
  return builder.CreateICmpEQ(builder.CreateBitCast(mask, bits), llvm::ConstantInt::getAllOnesValue(bits));
}

/// The stores as they are, or where `is_large`, from the beginning of a line on and of all lanes, past the caches.
void make_two_ways(const LineStores& stores, Value* is_large) {
  llvm::Instruction* const last = stores.back().instruction;
  llvm::IRBuilder<> builder(last);
  Value* address = builder.CreatePtrToInt(stores.front().place, builder.getInt64Ty());
  Value* in_line = builder.CreateAnd(address, builder.getInt64(kLine - 1));
  Value* streams = builder.CreateAnd(is_large, builder.CreateICmpEQ(in_line, builder.getInt64(0)));
  for (const RowStore& store : stores)
    if (store.mask) streams = builder.CreateAnd(streams, all_lanes(builder, store.mask));
  llvm::Instruction *past = nullptr, *plain = nullptr;
  llvm::SplitBlockAndInsertIfThenElse(streams, last, &past, &plain);
  auto* one = llvm::ConstantAsMetadata::get(builder.getInt32(1));
  uint64_t before = 0;
  for (const RowStore& store : stores) {
    const llvm::Align alignment = llvm::commonAlignment(llvm::Align(kLine), before);
    before += store.bytes();
    auto* streamed =
        new llvm::StoreInst(store.value, store.place, /*isVolatile=*/false, alignment, past->getIterator());
    streamed->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(builder.getContext(), {one}));
    streamed->setDebugLoc(store.instruction->getDebugLoc());
    store.instruction->moveBefore(plain->getIterator());
  }
}

/// What goes past the caches is not fetched into them: by what says of an output whether it does.
void keep_out_of_caches(llvm::Function& code, const llvm::MapVector<const llvm::Argument*, Value*>& is_large) {
  llvm::SmallVector<llvm::CallInst*, 8> fetches;
  for (llvm::Instruction& instruction : llvm::instructions(code))
    if (is_fetch(instruction))
      if (auto& fetch = llvm::cast<llvm::CallInst>(instruction); is_large.contains(argument_of(fetch.getArgOperand(0))))
        fetches.push_back(&fetch);
  for (llvm::CallInst* fetch : fetches) {
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

void stream_large_outputs(llvm::Function& code, llvm::ArrayRef<OutputTurns> turns, llvm::Function* of_warp) {
  const auto outputs = outputs_of(code);
  if (outputs.empty()) return;
  auto bytes = bytes_of_warp(outputs);
  if (of_warp)
    for (const auto& [output, of_one_way] : bytes_of_warp(outputs_of(*of_warp)))
      if (auto known = bytes.find(code.getArg(output->getArgNo())); known != bytes.end()) known->second = of_one_way;
  llvm::BasicBlock& entry = code.getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  Value *in_row = thread_count(builder, code, 1), *in_grid = thread_count(builder, code, 3);
  llvm::MapVector<const llvm::Argument*, Value*> is_large;
  for (const auto& [output, written] : bytes) {
    const auto are_bytes = [&, by_warp = written](Value* threads, uint64_t least) {
      return builder.CreateICmpUGE(threads, builder.getInt64(least * kWarp / by_warp));
    };
    Value* in_all = times_turns(builder, code, in_grid, *output, turns);
    is_large[output] = builder.CreateAnd(are_bytes(in_all, kLargeFrom), are_bytes(in_row, kLongFrom));
  }
  for (const LineStores& stores : outputs) make_two_ways(stores, is_large[stores.front().output()]);
  keep_out_of_caches(code, is_large);
  end_with_fence(code);
}

}  // namespace cupola::cpu::build
