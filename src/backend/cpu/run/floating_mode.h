#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cupola::cpu {

/// While it lives, the thread rounds to nearest, traps nothing, and flushes denormals as asked; then what was is
/// restored. Fibres that start meanwhile inherit it. Elsewhere than on x86-64: nothing, code flushes explicitly.
class FloatingMode {
 public:
#if defined(__x86_64__)
  explicit FloatingMode(bool flush_denormals) : before_(_mm_getcsr()) {
    constexpr uint32_t kMaskedNearest = 0x1F80, kFlushToZero = 0x8000, kDenormalsAreZero = 0x40;
    const uint32_t wanted = kMaskedNearest | (flush_denormals ? kFlushToZero | kDenormalsAreZero : 0);
    changed_ = (before_ & ~0x3Fu) != wanted;  // the low bits are flags
    if (changed_) _mm_setcsr(wanted);
  }
  ~FloatingMode() {
    if (changed_) _mm_setcsr(before_);
  }
#else
  explicit FloatingMode(bool) {}
#endif
  FloatingMode(const FloatingMode&) = delete;
  FloatingMode& operator=(const FloatingMode&) = delete;

 private:
  [[maybe_unused]] uint32_t before_ = 0;
  [[maybe_unused]] bool changed_ = false;
};

}  // namespace cupola::cpu
