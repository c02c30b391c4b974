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

bool lies_in(size_t field, size_t begin, size_t bytes) {
  return field >= begin && field < begin + bytes;
}

/// What the context holds of the block that goes on alone.
bool is_of_block(size_t field) {
  return field == offsetof(ThreadContext, shared_window) || field == offsetof(ThreadContext, blocks) ||
         field == offsetof(ThreadContext, kept_blocks) || field == offsetof(ThreadContext, keeps_on) ||
         lies_in(field, offsetof(ThreadContext, ctaid), sizeof ThreadContext::ctaid);
}

/// What it holds of its warp.
bool is_of_warp(size_t field) {
  return lies_in(field, offsetof(ThreadContext, tid), sizeof ThreadContext::tid) ||
         lies_in(field, offsetof(ThreadContext, lane), 2 * sizeof ThreadContext::lane) ||
         lies_in(field, offsetof(ThreadContext, lanes), sizeof ThreadContext::lanes) ||
         lies_in(field, offsetof(ThreadContext, places), sizeof ThreadContext::places);
}

using Reads = llvm::MapVector<size_t, llvm::SmallVector<llvm::LoadInst*, 4>>;

Reads reads_of_place(llvm::Function& warp) {
  Reads reads;
  for (llvm::Instruction& instruction : llvm::instructions(warp)) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load) continue;
    if (const std::optional<size_t> field = constant_field(*load); field && (is_of_block(*field) || is_of_warp(*field)))
      reads[*field].push_back(load);
  }
  return reads;
}

}  // namespace

llvm::Argument* PlacedCode::place(size_t field) const {
  const auto index = std::ranges::find(fields, field) - fields.begin();
  return code->getArg(static_cast<unsigned>(code->arg_size() - fields.size() + static_cast<size_t>(index)));
}

llvm::SmallVector<llvm::Value*, 8> PlacedCode::places_in_block() const {
  llvm::SmallVector<llvm::Value*, 8> places;
  for (const size_t field : fields)
    if (is_of_warp(field)) places.push_back(place(field));
  return places;
}

llvm::SmallVector<llvm::Value*, 8> PlacedCode::places_beside() const {
  llvm::SmallVector<llvm::Value*, 8> places = places_in_block();
  for (const size_t field : {offsetof(ThreadContext, ctaid), offsetof(ThreadContext, shared_window)})
    if (llvm::is_contained(fields, field)) places.push_back(place(field));
  return places;
}

PlacedCode give_places_as_arguments(llvm::Function& warp) {
  PlacedCode made;
  llvm::SmallVector<llvm::Type*, 8> types(warp.getFunctionType()->params());
  for (const auto& [field, loads] : reads_of_place(warp)) {
    made.fields.push_back(field);
    types.push_back(loads.front()->getType());
  }
  auto* type = llvm::FunctionType::get(warp.getReturnType(), types, false);
  made.code = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, warp.getName(), warp.getParent());
  llvm::ValueToValueMapTy map;
  for (unsigned i = 0; i < warp.arg_size(); ++i) map[warp.getArg(i)] = made.code->getArg(i);
  llvm::SmallVector<llvm::ReturnInst*, 4> returns;
  llvm::CloneFunctionInto(made.code, &warp, map, llvm::CloneFunctionChangeType::LocalChangesOnly, returns);
  for (const auto& [field, loads] : reads_of_place(*made.code)) {
    for (llvm::LoadInst* load : loads) {
      load->replaceAllUsesWith(made.place(field));
      load->eraseFromParent();
    }
  }
  return made;
}

}  // namespace cupola::cpu::build
