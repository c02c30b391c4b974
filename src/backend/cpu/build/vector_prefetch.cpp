#include "backend/cpu/build/vector_prefetch.h"

#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

#include "backend/cpu/build/vector_lanes.h"

namespace cupola::cpu::build {
namespace {

using llvm::Value;

/// Between lanes, in bytes: with more they touch a few bytes of each line.
constexpr int64_t kMostStride = 16;

/// Calls llvm.prefetch with the arguments that follow the address.
void fetch(llvm::IRBuilderBase& builder, const Lines& lines, llvm::ArrayRef<Value*> how) {
  for (uint64_t offset = 0; offset < lines.bytes; offset += kLine) {
    llvm::SmallVector<Value*, 4> arguments{builder.CreateConstGEP1_64(builder.getInt8Ty(), lines.address, offset)};
    arguments.append(how.begin(), how.end());
    builder.CreateIntrinsic(llvm::Intrinsic::prefetch, {lines.address->getType()}, arguments);
  }
}

}  // namespace

llvm::SmallVector<Lines, 4> lines_of(Lanes& lanes, Value* address) {
  const Shape shape = lanes.shape(address);
  if (shape.is_uniform()) return {{lanes.scalar(address), 1}};
  if (!shape.has_steps() || shape.stride < 0 || shape.stride > kMostStride) return {};
  const auto bytes = std::max<uint64_t>(1, static_cast<uint64_t>(shape.stride) * shape.lanes_in_step(lanes.blocks));
  if (!shape.is_segmented()) return {{lanes.scalar(address), bytes}};
  llvm::SmallVector<Lines, 4> lines;
  for (Value* base : lanes.bases(address)) lines.push_back({base, bytes});
  return lines;
}

void fetch_lines(llvm::IRBuilderBase& builder, Value* address, uint64_t bytes) {
  constexpr int kRead = 0, kSecondLevel = 2, kData = 1;
  fetch(builder, {address, bytes}, {builder.getInt32(kRead), builder.getInt32(kSecondLevel), builder.getInt32(kData)});
}

bool widen_prefetch(Lanes& lanes, const llvm::CallInst& prefetch) {
  if (prefetch.getIntrinsicID() != llvm::Intrinsic::prefetch) return false;
  const auto all = lines_of(lanes, prefetch.getArgOperand(0));
  for (const Lines& lines : all)
    fetch(lanes.builder, lines, {prefetch.getArgOperand(1), prefetch.getArgOperand(2), prefetch.getArgOperand(3)});
  return !all.empty();
}

}  // namespace cupola::cpu::build
