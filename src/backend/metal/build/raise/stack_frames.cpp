#include "backend/metal/build/raise/stack_frames.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MathExtras.h>

#include "backend/metal/build/raise/metal_intrinsics.h"

namespace cupola::metal::build {
namespace {

constexpr uint64_t kFrameAlignment = 16;

bool uses_stack(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto known = metal_intrinsic_of(instruction);
      if (known == MetalIntrinsic::StackOffset || known == MetalIntrinsic::StackAt) return true;
    }
  return false;
}

llvm::SmallVector<llvm::Function*, 4> callees_of(llvm::Function& function) {
  llvm::SmallVector<llvm::Function*, 4> callees;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      if (llvm::Function* callee = call->getCalledFunction(); callee && !callee->isDeclaration())
        callees.push_back(callee);
  return callees;
}

/// The function's variables, from 0 on: their places, and where they end.
struct Frame {
  llvm::SmallVector<std::pair<llvm::AllocaInst*, uint64_t>, 8> places;
  uint64_t end = 0;
};

Frame frame_of(llvm::Function& function) {
  Frame frame;
  const llvm::DataLayout& layout = function.getDataLayout();
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    const auto size = local ? local->getAllocationSize(layout) : std::nullopt;
    if (!size) continue;  // of a size that varies: the printer refuses it
    frame.end = llvm::alignTo(frame.end, local->getAlign());
    frame.places.push_back({local, frame.end});
    frame.end += std::max<uint64_t>(size->getFixedValue(), 1);
  }
  frame.end = llvm::alignTo(frame.end, kFrameAlignment);
  return frame;
}

}  // namespace

llvm::DenseMap<const llvm::Function*, uint64_t> place_in_stack(llvm::Module& module) {
  llvm::DenseMap<const llvm::Function*, uint64_t> reach;
  if (!uses_stack(module)) return reach;
  llvm::SetVector<llvm::Function*> callees_first;
  const auto visit = [&](auto& self, llvm::Function& function) -> void {
    if (function.isDeclaration() || callees_first.contains(&function)) return;
    for (llvm::Function* callee : callees_of(function)) self(self, *callee);
    callees_first.insert(&function);
  };
  for (llvm::Function& function : module) visit(visit, function);

  llvm::DenseMap<const llvm::Function*, Frame> frames;
  llvm::DenseMap<const llvm::Function*, uint64_t> begins;
  for (llvm::Function* function : llvm::reverse(callees_first)) {
    const Frame& frame = frames[function] = frame_of(*function);
    for (llvm::Function* callee : callees_of(*function))
      begins[callee] = std::max(begins.lookup(callee), begins.lookup(function) + frame.end);
  }
  for (llvm::Function* function : callees_first) {
    const uint64_t begin = begins.lookup(function);
    uint64_t& end = reach[function] = begin + frames[function].end;
    for (llvm::Function* callee : callees_of(*function)) end = std::max(end, reach.lookup(callee));
    for (const auto& [local, place] : frames[function].places) {
      llvm::IRBuilder<> b(local);
      local->replaceAllUsesWith(call(b, MetalIntrinsic::StackAt, {b.getInt32(static_cast<uint32_t>(begin + place))}));
      local->eraseFromParent();
    }
  }
  return reach;
}

}  // namespace cupola::metal::build
