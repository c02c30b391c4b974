#include "backend/cpu/build/place_arguments.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "backend/cpu/build/thread_context.h"
#include "image/cpu_abi.h"

namespace cupola::cpu::build {
namespace {

using image::cpu::ThreadContext;

/// What the context holds of its warp, or of the block that goes on, alone.
bool is_of_place(size_t field) {
  const auto lies_in = [&](size_t begin, size_t bytes) { return field >= begin && field < begin + bytes; };
  return lies_in(offsetof(ThreadContext, tid), sizeof ThreadContext::tid) ||
         lies_in(offsetof(ThreadContext, ctaid), sizeof ThreadContext::ctaid) ||
         lies_in(offsetof(ThreadContext, lane), 2 * sizeof ThreadContext::lane) ||
         lies_in(offsetof(ThreadContext, lanes), sizeof ThreadContext::lanes) ||
         lies_in(offsetof(ThreadContext, places), sizeof ThreadContext::places);
}

using Reads = llvm::MapVector<size_t, llvm::SmallVector<llvm::LoadInst*, 4>>;

Reads reads_of_place(llvm::Function& warp, bool with_window) {
  Reads reads;
  for (llvm::Instruction& instruction : llvm::instructions(warp)) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load) continue;
    if (const std::optional<size_t> field = constant_field(*load);
        field && (is_of_place(*field) || (with_window && *field == offsetof(ThreadContext, shared_window))))
      reads[*field].push_back(load);
  }
  return reads;
}

}  // namespace

PlacedCode give_places_as_arguments(llvm::Function& warp, bool with_window) {
  PlacedCode made;
  llvm::SmallVector<llvm::Type*, 8> types(warp.getFunctionType()->params());
  for (const auto& [field, loads] : reads_of_place(warp, with_window)) {
    made.fields.push_back(field);
    types.push_back(loads.front()->getType());
  }
  auto* type = llvm::FunctionType::get(warp.getReturnType(), types, false);
  made.code = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, warp.getName(), warp.getParent());
  llvm::ValueToValueMapTy map;
  for (unsigned i = 0; i < warp.arg_size(); ++i) map[warp.getArg(i)] = made.code->getArg(i);
  llvm::SmallVector<llvm::ReturnInst*, 4> returns;
  llvm::CloneFunctionInto(made.code, &warp, map, llvm::CloneFunctionChangeType::LocalChangesOnly, returns);
  for (const auto& [field, loads] : reads_of_place(*made.code, with_window)) {
    const auto place = std::ranges::find(made.fields, field) - made.fields.begin();
    llvm::Value* argument = made.code->getArg(static_cast<unsigned>(warp.arg_size() + place));
    for (llvm::LoadInst* load : loads) {
      load->replaceAllUsesWith(argument);
      load->eraseFromParent();
    }
  }
  return made;
}

}  // namespace cupola::cpu::build
