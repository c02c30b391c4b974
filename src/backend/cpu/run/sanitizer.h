#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define CUPOLA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUPOLA_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define CUPOLA_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CUPOLA_TSAN 1
#endif
#endif

#if CUPOLA_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if CUPOLA_TSAN
#include <sanitizer/tsan_interface.h>
#endif

// What the sanitizers must be told when a thread changes stacks; nothing in other builds.
namespace cupola::cpu::sanitizer {

#if CUPOLA_ASAN || CUPOLA_TSAN
inline constexpr bool kWatches = true;
#else
inline constexpr bool kWatches = false;
#endif

inline void* create_fibre() {
#if CUPOLA_TSAN
  return __tsan_create_fiber(0);
#else
  return nullptr;
#endif
}

inline void destroy_fibre([[maybe_unused]] void* fibre) {
#if CUPOLA_TSAN
  if (fibre) __tsan_destroy_fiber(fibre);
#endif
}

inline void* current_fibre() {
#if CUPOLA_TSAN
  return __tsan_get_current_fiber();
#else
  return nullptr;
#endif
}

/// Before the jump. `saved` keeps the stack being left; null when it is left for good.
inline void leave([[maybe_unused]] void** saved, [[maybe_unused]] const void* bottom, [[maybe_unused]] size_t size,
                  [[maybe_unused]] void* to_fibre) {
#if CUPOLA_ASAN
  __sanitizer_start_switch_fiber(saved, bottom, size);
#endif
#if CUPOLA_TSAN
  __tsan_switch_to_fiber(to_fibre, 0);
#endif
}

/// After the jump, on the stack that was entered.
inline void enter([[maybe_unused]] void* saved, [[maybe_unused]] const void** from_bottom,
                  [[maybe_unused]] size_t* from_size) {
#if CUPOLA_ASAN
  __sanitizer_finish_switch_fiber(saved, from_bottom, from_size);
#endif
}

/// Forgets what the frames of an abandoned stack poisoned.
inline void unpoison([[maybe_unused]] const void* begin, [[maybe_unused]] size_t size) {
#if CUPOLA_ASAN
  __asan_unpoison_memory_region(begin, size);
#endif
}

}  // namespace cupola::cpu::sanitizer
