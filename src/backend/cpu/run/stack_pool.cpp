#include "backend/cpu/run/stack_pool.h"

#include <sys/mman.h>

#include <memory>
#include <new>

#include "backend/cpu/run/aligned_mapping.h"
#include "backend/cpu/run/sanitizer.h"
#include "image/cpu_abi.h"

namespace cupola::cpu {
namespace {

using image::cpu::kLocalWindow;

constexpr int kGuardInstall = 102;  // MADV_GUARD_INSTALL; Debian 12's headers are older than it
// ThreadSanitizer notes each function entered until it returns, 65536 at most, which it does not check. Fibres end
// without returning.
constexpr uint32_t kUsesOfSanitizerFibre = 64;
constexpr size_t kStaggers = 61, kStaggerBytes = 192;

bool guard(std::byte* window) {
  return madvise(window, StackPool::kGuardBytes, kGuardInstall) == 0 ||
         mprotect(window, StackPool::kGuardBytes, PROT_NONE) == 0;
}

}  // namespace

struct StackPool::Slab {
  AlignedMapping memory;
  Stack stacks[kSlabWindows];
};

std::byte* Stack::bottom() const {
  return window + StackPool::kGuardBytes;
}

bool Stack::guards(uint64_t address) const {
  return address - reinterpret_cast<uint64_t>(window) < StackPool::kGuardBytes;
}

StackPool::~StackPool() {
  for (Slab* slab : slabs_) {
    for (Stack& stack : slab->stacks) sanitizer::destroy_fibre(stack.sanitizer_fibre);
    std::unique_ptr<Slab> owned(slab);
  }
}

Stack* StackPool::acquire() {
  if (free_.empty() && !add_slab()) return nullptr;
  Stack* stack = free_.back();
  free_.pop_back();
  return stack;
}

void StackPool::release(Stack* stack) {
  if (stack->sanitizer_fibre && ++stack->uses == kUsesOfSanitizerFibre) {
    sanitizer::destroy_fibre(stack->sanitizer_fibre);
    stack->sanitizer_fibre = sanitizer::create_fibre();
    stack->uses = 0;
  }
  free_.push_back(stack);
}

bool StackPool::add_slab() try {
  slabs_.reserve(slabs_.size() + 1);
  free_.reserve((slabs_.size() + 1) * kSlabWindows);  // so that release() takes no memory
  auto slab = std::make_unique<Slab>();
  slab->memory = AlignedMapping::reserve(kSlabWindows * kLocalWindow, kLocalWindow, PROT_READ | PROT_WRITE);
  if (!slab->memory.data()) return false;
#if defined(MADV_NOHUGEPAGE)  // a huge page would make every touched stack cost 2 MiB
  madvise(slab->memory.data(), slab->memory.size(), MADV_NOHUGEPAGE);
#endif
  for (size_t i = 0; i < kSlabWindows; ++i)
    if (!guard(slab->memory.data() + i * kLocalWindow)) return false;
  const size_t first = slabs_.size() * kSlabWindows;
  for (size_t i = kSlabWindows; i-- > 0;) {
    Stack& stack = slab->stacks[i];
    stack.window = slab->memory.data() + i * kLocalWindow;
    stack.top = stack.window + kLocalWindow - ((first + i) % kStaggers) * kStaggerBytes;
    stack.sanitizer_fibre = sanitizer::create_fibre();
    free_.push_back(&stack);
  }
  slabs_.push_back(slab.release());
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace cupola::cpu
