#include "backend/cpu/build/shared_window.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/KnownBits.h>

#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/whole_block.h"
#include "image/cpu_abi.h"

namespace cupola::cpu::build {
namespace {

using image::cpu::kSharedWindow;
using llvm::Instruction;
using llvm::Value;

/// Of the window's address, in the context.
constexpr uint64_t kWindowPlace = offsetof(image::cpu::ThreadContext, shared_window);

/// Whether it only asks where an address lies.
bool is_compared(const Value& number) {
  return llvm::all_of(number.users(), [](const llvm::User* user) {
    if (llvm::isa<llvm::ICmpInst>(user)) return true;
    const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(user);
    return operation && is_compared(*operation);
  });
}

/// Of an access, in bytes: one lane's where each has an address of its own.
uint64_t size_of(llvm::Type& type, bool has_addresses, const llvm::DataLayout& layout) {
  return layout.getTypeStoreSize(has_addresses ? type.getScalarType() : &type).getFixedValue();
}

/// Follows the window's address from the context.
class Window {
 public:
  explicit Window(llvm::Function& code) : layout_(code.getDataLayout()) {
    for (const Instruction& instruction : llvm::instructions(code))
      if (llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction)) is_known_ = false;
    take_context(*context_of(code), 0);
  }

  std::optional<std::vector<WindowAccess>> accesses() {
    if (!is_known_) return std::nullopt;
    return std::move(accesses_);
  }

 private:
  /// Where a pointer, or some of several, may point to: from the first of these bytes to the last.
  using Place = WindowRange;

  /// `place`: of the context, where the pointer points to. The window's address is read there as what it is, or nothing
  /// is known.
  void take_context(Value& pointer, uint64_t place) {
    constexpr uint64_t kEnd = kWindowPlace + sizeof(void*);
    for (llvm::User* user : pointer.users()) {
      if (!is_known_) return;
      llvm::APInt offset(layout_.getIndexSizeInBits(0), place);
      auto* load = llvm::dyn_cast<llvm::LoadInst>(user);
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
      if (auto* sum = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
          sum && sum->getType()->isPointerTy() && sum->accumulateConstantOffset(layout_, offset)) {
        take_context(*sum, offset.getZExtValue());
      } else if (load && load->getType()->isPointerTy() && place == kWindowPlace) {
        follow(*load, std::pair<int64_t, int64_t>(0, 0));
      } else if (load || (store && store->getPointerOperand() == &pointer)) {
        llvm::Type* type = llvm::getLoadStoreType(llvm::cast<Instruction>(user));
        is_known_ = place >= kEnd || place + layout_.getTypeStoreSize(type).getFixedValue() <= kWindowPlace;
      } else {
        is_known_ = false;
      }
    }
  }

  void follow(Value& pointer, const Place& place) {
    for (llvm::Use& use : pointer.uses())
      if (is_known_) take(use, place);
  }

  void take(llvm::Use& use, const Place& place) {
    auto& user = *llvm::cast<Instruction>(use.getUser());
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&user)) return note(*load, place, *load->getType(), false);
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&user)) return take_store(*store, use, place);
    if (auto* sum = llvm::dyn_cast<llvm::GetElementPtrInst>(&user)) return take_sum(*sum, use, place);
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&user)) return take_call(*call, use, place);
    is_known_ = llvm::isa<llvm::ICmpInst>(user) || (llvm::isa<llvm::PtrToIntInst>(user) && is_compared(user));
  }

  void note(Instruction& access, const Place& place, llvm::Type& type, bool writes, bool has_addresses = false) {
    const auto size = static_cast<int64_t>(size_of(type, has_addresses, layout_));
    accesses_.push_back(
        {&access, place ? WindowRange(std::pair(place->first, place->second + size)) : std::nullopt, writes});
  }

  void take_store(llvm::StoreInst& store, const llvm::Use& use, const Place& place) {
    if (use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex() && store.isSimple())
      note(store, place, *store.getValueOperand()->getType(), /*writes=*/true);
    else
      is_known_ = false;
  }

  void take_sum(llvm::GetElementPtrInst& sum, const llvm::Use& use, const Place& place) {
    if (use.getOperandNo() != llvm::GetElementPtrInst::getPointerOperandIndex()) return void(is_known_ = false);
    follow(sum, moved(place, sum));
  }

  /// By what is known of the numbers that are added.
  Place moved(const Place& place, llvm::GetElementPtrInst& sum) const {
    const unsigned bits = layout_.getIndexSizeInBits(0);
    llvm::SmallMapVector<Value*, llvm::APInt, 4> numbers;
    llvm::APInt offset(bits, 0);
    if (!place || !llvm::cast<llvm::GEPOperator>(sum).collectOffset(layout_, bits, numbers, offset))
      return std::nullopt;
    Place all(std::pair(place->first + offset.getSExtValue(), place->second + offset.getSExtValue()));
    for (const auto& [number, size] : numbers) {
      const llvm::KnownBits known = llvm::computeKnownBits(number, layout_);
      if (!known.isNonNegative() || known.getMaxValue().ugt(kSharedWindow) || size.ugt(kSharedWindow))
        return std::nullopt;
      all->first += static_cast<int64_t>(known.getMinValue().getZExtValue() * size.getZExtValue());
      all->second += static_cast<int64_t>(known.getMaxValue().getZExtValue() * size.getZExtValue());
    }
    return all;
  }

  void take_call(llvm::IntrinsicInst& call, const llvm::Use& use, const Place& place) {
    const llvm::Intrinsic::ID which = call.getIntrinsicID();
    const bool has_addresses = which == llvm::Intrinsic::masked_gather || which == llvm::Intrinsic::masked_scatter,
               is_read = which == llvm::Intrinsic::masked_load || which == llvm::Intrinsic::masked_gather,
               is_write = which == llvm::Intrinsic::masked_store || which == llvm::Intrinsic::masked_scatter;
    if (use.getOperandNo() != (is_write ? 1 : 0)) return void(is_known_ = false);  // not as an address
    if (is_read)
      note(call, place, *call.getType(), /*writes=*/false, has_addresses);
    else if (is_write)
      note(call, place, *call.getArgOperand(0)->getType(), /*writes=*/true, has_addresses);
    else
      is_known_ = which == llvm::Intrinsic::prefetch;
  }

  const llvm::DataLayout& layout_;
  bool is_known_ = true;
  std::vector<WindowAccess> accesses_;
};

}  // namespace

bool overlap(const WindowRange& one, const WindowRange& other) {
  return !one || !other || (one->first < other->second && other->first < one->second);
}

bool is_inside(const WindowRange& range) {
  return range && range->first >= 0 && range->second <= static_cast<int64_t>(kSharedWindow);
}

bool is_in_window(const Value& address) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(llvm::getUnderlyingObject(&address));
  return load && reads_window(*load);
}

std::optional<std::vector<WindowAccess>> accesses_of_window(llvm::Function& code) {
  return runs_whole_blocks(code) ? Window(code).accesses() : std::nullopt;
}

}  // namespace cupola::cpu::build
