#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backend/cpu/run/cpu_executable.h"
#include "backend/cpu/run/watch.h"
#include "base/mutex.h"
#include "image/block_class.h"

namespace cupola::cpu {

/// The code that there is of a kernel: for classes of blocks, and for a few shapes. A shape's code is its own or its
/// class's at first; both are there soon. Hot code takes its place for good. Any thread.
class KernelVersions {
 public:
  /// Shapes that may have code of their own.
  static constexpr size_t kMostShapes = 4;

  /// `hot`: whether there may come to be hot code.
  explicit KernelVersions(bool hot) : hot_(hot) { say_places(); }

  /// Null: not there.
  const KernelCode* code(image::BlockClass blocks, const Dim3& block) const {
    const Shape* shape = find(blocks, block);
    return shape ? shape->now.load(std::memory_order_acquire) : code_of_class(blocks);
  }
  const KernelCode* code_of_class(image::BlockClass blocks) const {
    return found_[blocks].load(std::memory_order_acquire);
  }

  /// There is code for such blocks, and nothing to be done for the sake of their shape.
  bool is_ready(image::BlockClass blocks, const Dim3& block) const {
    return find(blocks, block) || (code_of_class(blocks) && !may_add(blocks));
  }

  /// There is code for some blocks.
  bool has_code() const;

  /// Whose code blocks get.
  enum class Of { Class, Shape, FirstShape };

  /// What is to be made for such blocks. The shape that comes first gets code of its own, as most kernels know only
  /// one, but for blocks that are no whole warps: their sizes may come from the data (min(n, 256) threads), and a cache
  /// would get the code of one after the other. Others get that of their class, and a place for hot code as long as
  /// there is one.
  Of claim(image::BlockClass blocks, const Dim3& block) EXCLUDES(mutex_);

  // What comes second is dropped.

  void take(image::BlockClass blocks, const KernelCode& code) EXCLUDES(mutex_);

  /// After claim() said so. `enough`, if it is something, is called once, as Watch has it, when the code has run for
  /// `enough_nanoseconds`.
  void take(image::BlockClass blocks, const Dim3& block, const KernelCode& code, uint64_t enough_nanoseconds = 0,
            std::function<void(bool)> enough = nullptr) EXCLUDES(mutex_);

  /// Launches from now on run `code`, and so do blocks that have not begun of those that go on. False if it waits in
  /// other ways than the code before, or there is none.
  bool take_hot(image::BlockClass blocks, const Dim3& block, const KernelCode& code) EXCLUDES(mutex_);

 private:
  struct Shape final : Watch {
    Shape(const Dim3& block, const KernelCode& code, uint64_t enough_nanoseconds, std::function<void(bool)> told);
    void enough(bool goes_on) override { tell(goes_on); }

    const Dim3 block;
    const std::function<void(bool)> tell;
    KernelCode first, hot_code;  ///< hot_code: written once, under the lock
    std::atomic<const KernelCode*> now;

    void become_hot(const KernelCode& code);
  };

  Shape* find(image::BlockClass blocks, const Dim3& block) const {
    if (blocks == image::BlockClass::One) return nullptr;
    const size_t count = count_.load(std::memory_order_acquire);
    for (size_t i = 0; i < count; ++i)
      if (shapes_[i]->block == block) return shapes_[i].get();
    return nullptr;
  }
  bool may_add(image::BlockClass blocks) const {
    return blocks != image::BlockClass::One && has_place_[may_be_partial(blocks)].load(std::memory_order_relaxed);
  }
  bool has_place(bool may_be_partial) const REQUIRES(mutex_);
  void say_places();

  const bool hot_;
  image::ByBlockClass<std::atomic<const KernelCode*>> found_;
  std::atomic<size_t> count_ = 0;                           ///< of shapes_, which are there
  std::array<std::unique_ptr<Shape>, kMostShapes> shapes_;  ///< each written once, under the lock
  std::array<std::atomic<bool>, 2> has_place_;              ///< for one more shape, of blocks that may be partial
  Mutex mutex_;
  image::ByBlockClass<KernelCode> codes_;               ///< written once each, under the lock
  std::vector<Dim3> claimed_ GUARDED_BY(mutex_);        ///< shapes that have a place, or will
  std::optional<Dim3> first_shape_ GUARDED_BY(mutex_);  ///< the one of them that gets code of its own at first
};

}  // namespace cupola::cpu
