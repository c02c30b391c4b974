#include "backend/cpu/build/vector_prefetch.h"

#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

#include "backend/cpu/build/vector_lanes.h"
#include "backend/cpu/build/vector_shapes.h"

namespace cupola::cpu::build {
namespace {

using llvm::Value;

/// Between lanes, in bytes: with more they touch a few bytes of each line.
constexpr int64_t kMostStride = 16;

/// Calls llvm.prefetch with the arguments that follow the address.
llvm::CallInst* fetch(llvm::IRBuilderBase& builder, Value* address, llvm::ArrayRef<Value*> how) {
  llvm::SmallVector<Value*, 4> arguments{address};
  arguments.append(how.begin(), how.end());
  return builder.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()}, arguments);
}

// LLVM Language Reference, llvm.prefetch.
constexpr int kRead = 0, kWrite = 1, kData = 1;

llvm::CallInst* fetch(llvm::IRBuilderBase& builder, Value* address, int access, Level level) {
  const int locality = level == Level::First ? 3 : 2;
  return fetch(builder, address, {builder.getInt32(access), builder.getInt32(locality), builder.getInt32(kData)});
}

/// A place in each line.
template <typename Body>
void each_line(llvm::IRBuilderBase& builder, const Lines& lines, Body body) {
  for (uint64_t offset = 0; offset < lines.bytes; offset += kLine)
    body(builder.CreateConstGEP1_64(builder.getInt8Ty(), lines.address, offset));
}

}  // namespace

bool are_lines(Shape addresses) {
  return addresses.is_uniform() || (addresses.has_steps() && addresses.stride >= 0 && addresses.stride <= kMostStride);
}

llvm::SmallVector<Lines, 4> lines_of(Lanes& lanes, Value* address) {
  const Shape shape = lanes.shape(address);
  if (!are_lines(shape)) return {};
  if (shape.is_uniform()) return {{lanes.scalar(address), 1}};
  const auto bytes = std::max<uint64_t>(1, static_cast<uint64_t>(shape.stride) * shape.lanes_in_step(lanes.blocks));
  if (!shape.is_segmented()) return {{lanes.scalar(address), bytes}};
  llvm::SmallVector<Lines, 4> lines;
  for (Value* base : lanes.bases(address)) lines.push_back({base, bytes});
  return lines;
}

llvm::CallInst* fetch_line(llvm::IRBuilderBase& builder, Value* address, Level level) {
  return fetch(builder, address, kRead, level);
}

llvm::CallInst* fetch_line_to_write(llvm::IRBuilderBase& builder, Value* address) {
  return fetch(builder, address, kWrite, Level::First);
}

bool is_fetch(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == llvm::Intrinsic::prefetch;
}

void fetch_lines(llvm::IRBuilderBase& builder, Value* address, uint64_t bytes) {
  each_line(builder, {address, bytes}, [&](Value* place) { fetch_line(builder, place, Level::Second); });
}

void add_fetches(Fetches& all, const Fetches& more) {
  const auto place_of = [](const llvm::CallInst* fetch) {
    const auto* further = llvm::dyn_cast<llvm::GetElementPtrInst>(fetch->getArgOperand(0));
    return further ? further->getPointerOperand() : nullptr;
  };
  llvm::SmallPtrSet<const Value*, 8> places;
  for (const llvm::CallInst* fetch : all)
    if (const Value* place = place_of(fetch)) places.insert(place);
  for (llvm::CallInst* fetch : more)
    if (places.contains(place_of(fetch)))
      fetch->eraseFromParent();
    else
      all.push_back(fetch);
}

void keep_fetches_of_rows(const Fetches& fetches, const Shapes& shapes) {
  for (llvm::CallInst* fetch : fetches)
    if (!are_lines(shapes.of(fetch->getArgOperand(0)))) fetch->eraseFromParent();
}

bool widen_prefetch(Lanes& lanes, const llvm::CallInst& prefetch) {
  if (!is_fetch(prefetch)) return false;
  const auto all = lines_of(lanes, prefetch.getArgOperand(0));
  for (const Lines& lines : all)
    each_line(lanes.builder, lines, [&](Value* place) {
      fetch(lanes.builder, place, {prefetch.getArgOperand(1), prefetch.getArgOperand(2), prefetch.getArgOperand(3)});
    });
  return !all.empty();
}

}  // namespace cupola::cpu::build
