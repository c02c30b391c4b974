#include "backend/cpu/run/kernel_versions.h"

#include <algorithm>
#include <utility>

namespace cupola::cpu {

using image::BlockClass;

KernelVersions::Shape::Shape(const Dim3& block, const KernelCode& code, uint64_t enough_nanoseconds,
                             std::function<void(bool)> told)
    : Watch(enough_nanoseconds), block(block), tell(std::move(told)), first(code), now(&first) {
  first.watch = tell ? this : nullptr;
}

void KernelVersions::Shape::become_hot(const KernelCode& code) {
  hot_code = code;
  now.store(&hot_code, std::memory_order_release);
  Watch::take(hot_code);
}

bool KernelVersions::has_code() const {
  return count_.load(std::memory_order_acquire) != 0 ||
         std::ranges::any_of(image::kAllBlockClasses, [&](BlockClass blocks) { return code_of_class(blocks); });
}

/// One is for the first shape, whenever that comes.
bool KernelVersions::has_place(bool may_be_partial) const {
  if (!first_shape_ && !may_be_partial) return true;
  return hot_ && claimed_.size() + (first_shape_ ? 0 : 1) < kMostShapes;
}

void KernelVersions::say_places() {
  Lock lock(mutex_);
  for (const bool partial : {false, true}) has_place_[partial].store(has_place(partial), std::memory_order_relaxed);
}

KernelVersions::Of KernelVersions::claim(BlockClass blocks, const Dim3& block) {
  if (blocks == BlockClass::One) return Of::Class;
  const bool partial = image::may_be_partial(blocks);
  bool is_claimed = false, is_first = false;
  {
    Lock lock(mutex_);
    is_claimed = std::ranges::find(claimed_, block) != claimed_.end();
    if (!is_claimed && has_place(partial)) {
      claimed_.push_back(block);
      if (!partial && !first_shape_) first_shape_ = block;
      is_claimed = true;
    }
    is_first = first_shape_ == block;
  }
  say_places();
  return is_first ? Of::FirstShape : is_claimed ? Of::Shape : Of::Class;
}

void KernelVersions::take(BlockClass blocks, const KernelCode& code) {
  Lock lock(mutex_);
  if (code_of_class(blocks)) return;
  codes_[blocks] = code;
  found_[blocks].store(&codes_[blocks], std::memory_order_release);
}

void KernelVersions::take(BlockClass blocks, const Dim3& block, const KernelCode& code, uint64_t enough_nanoseconds,
                          std::function<void(bool)> enough) {
  Lock lock(mutex_);
  if (find(blocks, block)) return;
  const size_t count = count_.load(std::memory_order_relaxed);
  shapes_[count] = std::make_unique<Shape>(block, code, enough_nanoseconds, std::move(enough));
  count_.store(count + 1, std::memory_order_release);
}

bool KernelVersions::take_hot(BlockClass blocks, const Dim3& block, const KernelCode& code) {
  Lock lock(mutex_);
  Shape* const shape = find(blocks, block);
  if (!shape || shape->hot() || code.polls != shape->first.polls) return false;
  shape->become_hot(code);
  return true;
}

}  // namespace cupola::cpu
