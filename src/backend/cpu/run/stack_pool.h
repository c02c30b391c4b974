#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cupola::cpu {

/// A local window (image::cpu::kLocalWindow bytes, aligned to as much), used as the stack of one fibre at a time.
struct Stack {
  std::byte* window = nullptr;
  std::byte* top = nullptr;         ///< where the user's frames begin: the window's end less a stagger
  void* sanitizer_fibre = nullptr;  ///< ThreadSanitizer's name for what runs here
  uint32_t uses = 0;                ///< of sanitizer_fibre

  std::byte* bottom() const;  ///< the lowest byte above the guard
  bool guards(uint64_t address) const;
};

/// Local windows of one worker; not thread-safe.
///
/// Windows come in slabs of kSlabWindows, reserved without commitment, so that only touched pages cost memory. The
/// lowest kGuardBytes of a window fault, which is how a stack overflow is noticed. Where the kernel has guard regions
/// (MADV_GUARD_INSTALL, Linux 6.13) a slab stays one mapping; elsewhere each guard splits it, two mappings a window:
/// with vm.max_map_count at its usual 65530, about 30 resident blocks of 1024 threads. Past that `acquire` gives null.
///
/// Windows repeat at a power of two, so equal offsets in them share cache sets: tops are staggered.
class StackPool {
 public:
  static constexpr size_t kSlabWindows = 64;
  static constexpr size_t kGuardBytes = 32 * 1024;

  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();

  Stack* acquire();  ///< the most recently released one, else a fresh one; null when the system has no more
  void release(Stack* stack);

 private:
  struct Slab;
  bool add_slab();

  std::vector<Slab*> slabs_;
  std::vector<Stack*> free_;
};

}  // namespace cupola::cpu
