#include "backend/cpu/build/unread_shared_memory.h"

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Local.h>

#include <optional>
#include <utility>

#include "backend/cpu/build/thread_context.h"
#include "image/cpu_abi.h"

namespace cupola::cpu::build {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr const char* kWholeBlocks = "cupola.whole-blocks";

/// Of the window, in bytes; nothing: it may be all of it.
using Range = std::optional<std::pair<int64_t, int64_t>>;

bool overlap(const Range& one, const Range& other) {
  return !one || !other || (one->first < other->second && other->first < one->second);
}

/// Whether it only asks where an address lies.
bool is_compared(const Value& number) {
  return llvm::all_of(number.users(), [](const llvm::User* user) {
    if (llvm::isa<llvm::ICmpInst>(user)) return true;
    const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(user);
    return operation && is_compared(*operation);
  });
}

/// What code does with the window of its blocks.
class Window {
 public:
  explicit Window(llvm::Function& code) : layout_(code.getDataLayout()) {
    for (const Instruction& instruction : llvm::instructions(code))
      if (llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction)) is_known_ = false;
    take_context(*context_of(code), 0);
  }

  /// Nothing reads what they write, and it lies in the window for certain: others fail maybe.
  llvm::SmallVector<Instruction*, 16> unread() const {
    llvm::SmallVector<Instruction*, 16> all;
    if (!is_known_) return all;
    for (const auto& [store, range] : writes_)
      if (range && range->first >= 0 && range->second <= static_cast<int64_t>(image::cpu::kSharedWindow) &&
          llvm::none_of(reads_, [&range](const Range& read) { return overlap(range, read); }))
        all.push_back(store);
    return all;
  }

 private:
  /// `place`: of the context, where the pointer points to. The window's address is read there as what it is, or nothing
  /// is known.
  void take_context(Value& pointer, uint64_t place) {
    constexpr uint64_t kBegin = offsetof(image::cpu::ThreadContext, shared_window), kEnd = kBegin + sizeof(void*);
    for (llvm::User* user : pointer.users()) {
      if (!is_known_) return;
      llvm::APInt offset(layout_.getIndexSizeInBits(0), place);
      auto* load = llvm::dyn_cast<llvm::LoadInst>(user);
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
      if (auto* sum = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
          sum && sum->getType()->isPointerTy() && sum->accumulateConstantOffset(layout_, offset)) {
        take_context(*sum, offset.getZExtValue());
      } else if (load && load->getType()->isPointerTy() && place == kBegin) {
        follow(*load, std::pair<int64_t, int64_t>(0, 0));
      } else if (load || (store && store->getPointerOperand() == &pointer)) {
        llvm::Type* type = llvm::getLoadStoreType(llvm::cast<Instruction>(user));
        is_known_ = place >= kEnd || place + layout_.getTypeStoreSize(type).getFixedValue() <= kBegin;
      } else {
        is_known_ = false;
      }
    }
  }

  Range from(const Range& place, const llvm::Type* type) const {
    if (!place) return place;
    return std::pair(place->first,
                     place->first + static_cast<int64_t>(layout_.getTypeStoreSize(const_cast<llvm::Type*>(type))));
  }

  void follow(Value& pointer, const Range& place) {
    for (llvm::Use& use : pointer.uses())
      if (is_known_) take(use, place);
  }

  /// `place`: where the pointer points to.
  void take(llvm::Use& use, const Range& place) {
    auto& user = *llvm::cast<Instruction>(use.getUser());
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&user)) return void(reads_.push_back(from(place, load->getType())));
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&user)) return take_store(*store, use, place);
    if (auto* sum = llvm::dyn_cast<llvm::GetElementPtrInst>(&user)) return take_sum(*sum, use, place);
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&user)) return take_call(*call, use, place);
    is_known_ = llvm::isa<llvm::ICmpInst>(user) || (llvm::isa<llvm::PtrToIntInst>(user) && is_compared(user));
  }

  void take_store(llvm::StoreInst& store, const llvm::Use& use, const Range& place) {
    if (use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex() && store.isSimple())
      writes_.push_back({&store, from(place, store.getValueOperand()->getType())});
    else
      is_known_ = false;
  }

  void take_sum(llvm::GetElementPtrInst& sum, const llvm::Use& use, const Range& place) {
    llvm::APInt offset(layout_.getIndexSizeInBits(0), 0);
    if (use.getOperandNo() != llvm::GetElementPtrInst::getPointerOperandIndex()) return void(is_known_ = false);
    if (!place || sum.getType()->isVectorTy() || !sum.accumulateConstantOffset(layout_, offset))
      return follow(sum, std::nullopt);
    const int64_t moved = place->first + offset.getSExtValue();
    follow(sum, std::pair(moved, moved));
  }

  void take_call(llvm::IntrinsicInst& call, const llvm::Use& use, const Range& place) {
    const llvm::Intrinsic::ID which = call.getIntrinsicID();
    const bool is_read = which == llvm::Intrinsic::masked_load || which == llvm::Intrinsic::masked_gather,
               is_write = which == llvm::Intrinsic::masked_store || which == llvm::Intrinsic::masked_scatter;
    if (use.getOperandNo() != (is_write ? 1 : 0)) return void(is_known_ = false);  // not as an address
    if (is_read)
      reads_.push_back(from(place, call.getType()));
    else if (is_write)
      writes_.push_back({&call, from(place, call.getArgOperand(0)->getType())});
    else
      is_known_ = which == llvm::Intrinsic::prefetch;
  }

  const llvm::DataLayout& layout_;
  bool is_known_ = true;
  llvm::SmallVector<Range, 8> reads_;
  llvm::SmallVector<std::pair<Instruction*, Range>, 16> writes_;
};

}  // namespace

void mark_whole_blocks(llvm::Function& code) {
  code.addFnAttr(kWholeBlocks);
}

bool runs_whole_blocks(const llvm::Function& code) {
  return code.hasFnAttribute(kWholeBlocks);
}

void drop_unread_shared_stores(llvm::Function& code) {
  if (!runs_whole_blocks(code)) return;
  for (Instruction* store : Window(code).unread()) {
    llvm::SmallVector<llvm::WeakTrackingVH, 4> operands;
    for (Value* operand : store->operands())
      if (llvm::isa<Instruction>(operand)) operands.emplace_back(operand);
    store->eraseFromParent();
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(operands);
  }
}

}  // namespace cupola::cpu::build
