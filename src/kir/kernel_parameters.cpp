#include "kir/kernel_parameters.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Function.h>

#include <algorithm>

#include "kir/kir.h"

namespace cupola::kir {

llvm::Type* stored_type(const llvm::Argument& argument) {
  return argument.hasByValAttr() ? argument.getParamByValType() : argument.getType();
}

uint64_t stored_alignment(const llvm::Argument& argument) {
  if (argument.hasByValAttr())
    if (llvm::MaybeAlign explicit_alignment = argument.getParamAlign()) return explicit_alignment->value();
  return argument.getParent()->getDataLayout().getABITypeAlign(stored_type(argument)).value();
}

std::vector<KernelInfo::Parameter> places_of(const llvm::Function& kernel, unsigned hidden) {
  const llvm::DataLayout& layout = kernel.getDataLayout();
  std::vector<KernelInfo::Parameter> places;
  uint64_t end = 0;
  for (const llvm::Argument& argument : llvm::drop_begin(kernel.args(), hidden)) {
    const uint64_t offset = llvm::alignTo(end, stored_alignment(argument));
    const uint64_t size = layout.getTypeAllocSize(stored_type(argument));
    places.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(size)});
    end = offset + size;
  }
  return places;
}

Result<> lay_out_parameters(const llvm::Function& kernel, unsigned hidden, KernelInfo& info) {
  if (!kernel.getReturnType()->isVoidTy())
    return fail(ErrorCode::InvalidSource, "kernel '{}' returns a value", info.name);
  info.parameters = places_of(kernel, hidden);
  const auto end = [](const KernelInfo::Parameter& last) { return last.offset + last.size; };
  info.parameter_bytes = info.parameters.empty() ? 0 : end(info.parameters.back());
  return {};
}

void take_launch_bounds(const LaunchBounds& bounds, KernelInfo& info) {
  const uint64_t most = bounds.required_block.count() ? bounds.required_block.count() : bounds.max_block.count();
  if (most != 0) info.max_threads_per_block = static_cast<uint32_t>(std::min<uint64_t>(1024, most));
  info.required_block = bounds.required_block;
}

}  // namespace cupola::kir
