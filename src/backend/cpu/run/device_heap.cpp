#include "backend/cpu/run/device_heap.h"

#include <algorithm>
#include <bit>

namespace cupola::cpu {
namespace {

constexpr uint64_t kPage = 64 << 10, kSystemPage = 4096, kStep = 2 << 20;
constexpr uint32_t kNone = UINT32_MAX;
constexpr uint32_t kSizes[] = {16,  32,   48,   64,   96,   128,  192,  256,  384,   512,
                               768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384};
constexpr uint32_t kWords = kPage / 16 / 64;
// From here on the memory of a freed block goes back to the system.
constexpr uint32_t kReturnFrom = 16;

constexpr uint64_t round_up(uint64_t value, uint64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

/// Zero, as the system gives it, is a free page.
struct DeviceHeap::Page {
  uint32_t slot_bytes;      ///< 0 when not divided into slots
  uint32_t run;             ///< pages of the block that begins here; kNone within a block
  uint32_t size_class;      ///< with slots: the place of slot_bytes in the table
  uint32_t live;            ///< slots in use
  uint32_t previous, next;  ///< pages of the same size with a free slot; kNone at the ends
  uint64_t taken[kWords];   ///< by slot; those past the last are taken for ever

  bool is_free() const { return slot_bytes == 0 && run == 0; }
  uint32_t slots() const { return static_cast<uint32_t>(kPage / slot_bytes); }
};

DeviceHeap::DeviceHeap(uint64_t reach_bytes) : page_count_(std::min<uint64_t>(reach_bytes / kPage, kNone - 1)) {
  static_assert(std::size(kSizes) == kSlotSizes);
  open_.fill(kNone);
}

DeviceHeap::~DeviceHeap() = default;

void DeviceHeap::set_limit(uint64_t bytes) {
  Lock lock(mutex_);
  limit_ = bytes;
}

uint64_t DeviceHeap::used() const {
  Lock lock(mutex_);
  return used_;
}

void DeviceHeap::clear() {
  Lock lock(mutex_);
  memory_ = {};
  pages_ = {};
  used_ = committed_ = 0;
  top_ = first_free_ = 0;
  open_.fill(kNone);
}

DeviceHeap::Page& DeviceHeap::page(uint32_t index) const {
  return reinterpret_cast<Page*>(pages_.data())[index];
}

bool DeviceHeap::map() {
  if (memory_.data()) return true;
  const uint64_t bookkeeping = round_up(page_count_ * sizeof(Page), kSystemPage);
  if (page_count_ == 0) return false;
  AlignedMapping memory = AlignedMapping::reserve(page_count_ * kPage, kStep, PROT_NONE);
  AlignedMapping pages = AlignedMapping::reserve(bookkeeping, kSystemPage, PROT_READ | PROT_WRITE);
  if (!memory.data() || !pages.data()) return false;
  memory_ = std::move(memory);
  pages_ = std::move(pages);
  return true;
}

/// Makes the first `pages` pages accessible.
bool DeviceHeap::commit(uint64_t pages) {
  if (pages <= committed_) return true;
  const uint64_t wanted = std::min(round_up(pages * kPage, kStep), page_count_ * kPage);
  const uint64_t before = committed_ * kPage;
  if (mprotect(memory_.data() + before, wanted - before, PROT_READ | PROT_WRITE) != 0) return false;
  committed_ = wanted / kPage;
  return true;
}

void* DeviceHeap::allocate(uint64_t bytes) {
  if (bytes == 0) return nullptr;
  Lock lock(mutex_);
  const uint64_t left = limit_ > used_ ? limit_ - used_ : 0;
  if (bytes > left || !map()) return nullptr;
  const auto* size = std::ranges::lower_bound(kSizes, bytes);
  if (size != std::end(kSizes)) {
    if (*size > left) return nullptr;
    void* slot = take_slot(static_cast<uint32_t>(size - kSizes));
    if (slot) used_ += *size;
    return slot;
  }
  const uint64_t count = round_up(bytes, kPage) / kPage;
  if (count * kPage > left) return nullptr;
  const uint32_t first = take_pages(count);
  if (first == kNone) return nullptr;
  page(first).run = static_cast<uint32_t>(count);
  for (uint32_t i = 1; i < count; ++i) page(first + i).run = kNone;
  used_ += count * kPage;
  return memory_.data() + first * kPage;
}

bool DeviceHeap::release(void* pointer) {
  if (!pointer) return true;
  Lock lock(mutex_);
  const uint64_t offset = reinterpret_cast<uint64_t>(pointer) - reinterpret_cast<uint64_t>(memory_.data());
  if (!memory_.data() || offset >= top_ * kPage) return false;
  const auto index = static_cast<uint32_t>(offset / kPage);
  const Page& found = page(index);
  if (found.slot_bytes != 0) return release_slot(index, offset % kPage);
  if (offset % kPage != 0 || found.run == 0 || found.run == kNone) return false;
  used_ -= found.run * kPage;
  give_pages(index, found.run);
  return true;
}

/// Pages in a row, the first place that is large enough; kNone when there is none.
uint32_t DeviceHeap::take_pages(uint64_t count) {
  uint32_t begin = first_free_;
  for (uint32_t i = begin; i < top_ && i - begin < count;) {
    const Page& at = page(i);
    i += at.run && at.run != kNone ? at.run : 1;
    if (!at.is_free()) begin = i;
  }
  const uint64_t end = begin + count;
  if (end > page_count_ || !commit(end)) return kNone;
  if (begin == first_free_) first_free_ = static_cast<uint32_t>(end);
  top_ = std::max(top_, static_cast<uint32_t>(end));
  return begin;
}

void DeviceHeap::give_pages(uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) page(first + i).slot_bytes = page(first + i).run = 0;
  first_free_ = std::min(first_free_, first);
  if (count >= kReturnFrom) madvise(memory_.data() + first * kPage, count * kPage, MADV_DONTNEED);
}

void* DeviceHeap::take_slot(uint32_t size_class) {
  uint32_t index = open_[size_class];
  if (index == kNone) {
    index = take_pages(1);
    if (index == kNone) return nullptr;
    Page& fresh = page(index);
    fresh.slot_bytes = kSizes[size_class];
    fresh.size_class = size_class;
    fresh.live = 0;
    for (uint32_t i = 0; i < kWords; ++i) {
      const uint32_t slots = fresh.slots(), begin = i * 64;
      fresh.taken[i] = slots >= begin + 64 ? 0 : slots <= begin ? ~uint64_t{0} : ~uint64_t{0} << (slots - begin);
    }
    link(index);
  }
  Page& from = page(index);
  uint32_t word = 0;
  while (from.taken[word] == ~uint64_t{0}) ++word;
  const auto bit = static_cast<uint32_t>(std::countr_one(from.taken[word]));
  from.taken[word] |= uint64_t{1} << bit;
  if (++from.live == from.slots()) unlink(index);
  return memory_.data() + index * kPage + uint64_t{word * 64 + bit} * from.slot_bytes;
}

bool DeviceHeap::release_slot(uint32_t index, uint64_t within) {
  Page& home = page(index);
  const uint64_t slot = within / home.slot_bytes, bit = uint64_t{1} << slot % 64;
  if (within % home.slot_bytes != 0 || slot >= home.slots() || !(home.taken[slot / 64] & bit)) return false;
  home.taken[slot / 64] &= ~bit;
  used_ -= home.slot_bytes;
  if (home.live-- == home.slots()) link(index);
  if (home.live != 0) return true;
  unlink(index);
  give_pages(index, 1);
  return true;
}

void DeviceHeap::link(uint32_t index) {
  Page& added = page(index);
  uint32_t& first = open_[added.size_class];
  added.previous = kNone;
  added.next = first;
  if (first != kNone) page(first).previous = index;
  first = index;
}

void DeviceHeap::unlink(uint32_t index) {
  const Page& removed = page(index);
  if (removed.next != kNone) page(removed.next).previous = removed.previous;
  (removed.previous != kNone ? page(removed.previous).next : open_[removed.size_class]) = removed.next;
}

}  // namespace cupola::cpu
