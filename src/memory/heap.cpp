#include "memory/heap.h"

#include <algorithm>

#include "base/log.h"

namespace cupola::memory {
namespace {

uint64_t round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

void Allocation::reset() {
  if (!heap_) return;
  Heap& heap = *heap_;
  if (Result<> freed = heap.free(release().address); !freed) log::line(log::Topic::Error, "{}", freed.error().message);
}

Heap::Heap(hal::Device& device, const Options& options)
    : device_(device),
      options_(options),
      total_(device.properties().memory_bytes),
      chunk_bytes_(device.chunk_bytes()) {}

Heap::~Heap() = default;

Result<Allocation> Heap::allocate(uint64_t bytes) {
  if (bytes == 0) return fail(ErrorCode::InvalidValue, "memory: an allocation of 0 bytes");
  Lock lock(mutex_);
  if (bytes > total_) return out_of_memory(bytes);
  const uint64_t size = round_up(bytes, kAlignment);

  Blocks::iterator place = find_place(size);
  if (place == blocks_.end()) {
    if (free_.lower_bound({size, 0}) != free_.end()) return out_of_memory(bytes);
    TRY(place, reserve(size));
  }
  const hal::Address address = place->first;
  Block& block = place->second;
  const uint64_t rest = block.size - size;
  Reservation& home = *block.home;
  const ChunkSpan span = chunks_of(address, {size, bytes, &home});
  if (Result<> backed = back(home, span); !backed) {
    release_if_idle(place);
    if (backed.error().code == ErrorCode::OutOfMemory) return out_of_memory(bytes);
    return fail(std::move(backed).error());
  }

  free_.erase({block.size, address});
  block.size = size;
  block.asked = bytes;
  if (rest) insert_free(address + size, {rest, 0, &home});
  for (size_t i = span.begin; i < span.end; ++i)
    if (home.chunks[i].allocations++ == 0) ++used_chunks_;
  ++allocations_;
  return Allocation(*this, {address, bytes});
}

Result<> Heap::free(hal::Address address) {
  Lock lock(mutex_);
  auto block = blocks_.find(address);
  if (block == blocks_.end() || block->second.asked == 0)
    return fail(ErrorCode::InvalidValue,
                "memory: no live allocation begins at {:#x} (freed twice, or never allocated?)", address);
  Reservation& home = *block->second.home;
  const ChunkSpan span = chunks_of(address, block->second);
  ChunkSpan idle{span.end, span.end};  // a live neighbour can hold on to the first and the last chunk only
  for (size_t i = span.begin; i < span.end; ++i) {
    if (--home.chunks[i].allocations != 0) continue;
    --used_chunks_;
    idle = {std::min(idle.begin, i), i + 1};
  }
  --allocations_;
  block->second.asked = 0;
  free_.insert({block->second.size, address});
  block = join_with_neighbours(block);
  if (idle.begin < idle.end && (backed_chunks_ - used_chunks_) * chunk_bytes_ > options_.slack) unback(home, idle);
  if (options_.slack != UINT64_MAX) release_if_idle(block);
  return {};
}

std::optional<Range> Heap::find(hal::Address address) const {
  Lock lock(mutex_);
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return std::nullopt;
  const auto& [begin, block] = *std::prev(after);
  const Range range{begin, block.asked};
  return range.contains(address) ? std::optional(range) : std::nullopt;
}

void Heap::trim(uint64_t keep) {
  Lock lock(mutex_);
  if (backed_chunks_ == used_chunks_) return;
  for (size_t i = reservations_.size(); i-- > 0 && backed_chunks_ * chunk_bytes_ > keep;) {
    Reservation& home = *reservations_[i];
    for (size_t end = home.chunks.size(); end > 0 && backed_chunks_ * chunk_bytes_ > keep;) {
      const uint64_t spare = (backed_chunks_ * chunk_bytes_ - keep + chunk_bytes_ - 1) / chunk_bytes_;
      const size_t begin = end - std::min<uint64_t>(end, spare);
      unback(home, {begin, end});
      end = begin;
    }
    release_if_idle(blocks_.find(home.buffer->address()));
  }
}

Result<Heap::Place> Heap::share(hal::Address address) {
  Lock lock(mutex_);
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin() || std::prev(after)->second.asked == 0)
    return fail(ErrorCode::InvalidValue, "memory: no live allocation holds {:#x}", address);
  hal::Buffer& buffer = *std::prev(after)->second.home->buffer;
  TRY(std::shared_ptr<hal::Memory> memory, buffer.share());
  return Place{std::move(memory), address - buffer.address()};
}

Heap::Usage Heap::usage() const {
  Lock lock(mutex_);
  return {total_, used_chunks_ * chunk_bytes_, backed_chunks_ * chunk_bytes_, allocations_};
}

/// The chunks that a block touches.
Heap::ChunkSpan Heap::chunks_of(hal::Address address, const Block& block) const {
  const uint64_t offset = address - block.home->buffer->address();
  return {offset / chunk_bytes_, (offset + block.size + chunk_bytes_ - 1) / chunk_bytes_};
}

/// The smallest free block that is large enough and whose backing the device's memory allows; end when there is none.
Heap::Blocks::iterator Heap::find_place(uint64_t size) {
  const uint64_t left = total_ / chunk_bytes_ - used_chunks_;
  for (auto it = free_.lower_bound({size, 0}); it != free_.end(); ++it) {
    auto block = blocks_.find(it->second);
    const Reservation& home = *block->second.home;
    const ChunkSpan span = chunks_of(it->second, {size, 0, block->second.home});
    // All chunks but the first and the last are idle: free blocks are maximal.
    uint64_t wanted = span.end - span.begin;
    if (home.chunks[span.begin].allocations) --wanted;
    if (span.end - span.begin > 1 && home.chunks[span.end - 1].allocations) --wanted;
    if (wanted <= left) return block;
  }
  return blocks_.end();
}

/// Reserves addresses for `size` bytes or more; the new free block.
Result<Heap::Blocks::iterator> Heap::reserve(uint64_t size) {
  const uint64_t bytes = std::max(round_up(size, chunk_bytes_), options_.reservation);
  if (options_.shared && !reservations_.empty()) return out_of_memory(size);  // one file is what is exported
  TRY(std::unique_ptr<hal::Buffer> buffer, device_.reserve(bytes));
  if (options_.shared) TRY(buffer->share());
  const hal::Address address = buffer->address();
  auto reservation = std::make_unique<Reservation>(std::move(buffer), std::vector<Chunk>(bytes / chunk_bytes_));
  insert_free(address, {bytes, 0, reservation.get()});
  reservations_.push_back(std::move(reservation));
  return blocks_.find(address);
}

/// Backs what is not backed yet of the span, and lets go of slack elsewhere if the device's memory asks for that.
Result<> Heap::back(Reservation& home, ChunkSpan span) {
  auto unbacked = [](const Chunk& chunk) { return !chunk.backed; };
  const uint64_t missing = std::count_if(home.chunks.begin() + span.begin, home.chunks.begin() + span.end, unbacked);
  if ((backed_chunks_ + missing) * chunk_bytes_ > total_) drop_slack();
  for (size_t begin = span.begin; begin < span.end;) {
    if (home.chunks[begin].backed) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < span.end && !home.chunks[end].backed) ++end;
    if ((backed_chunks_ + end - begin) * chunk_bytes_ > total_)
      return fail(ErrorCode::OutOfMemory, "memory: {} bytes are in use", used_chunks_ * chunk_bytes_);
    TRY(home.buffer->commit(begin * chunk_bytes_, (end - begin) * chunk_bytes_));
    for (size_t i = begin; i < end; ++i) home.chunks[i].backed = true;
    backed_chunks_ += end - begin;
    begin = end;
  }
  return {};
}

/// Gives back the backing of the span's idle chunks. One that the device keeps stays slack.
void Heap::unback(Reservation& home, ChunkSpan span) {
  auto idle = [&](size_t i) { return home.chunks[i].backed && home.chunks[i].allocations == 0; };
  for (size_t begin = span.begin; begin < span.end; ++begin) {
    if (!idle(begin)) continue;
    size_t end = begin;
    while (end < span.end && idle(end)) ++end;
    if (home.buffer->decommit(begin * chunk_bytes_, (end - begin) * chunk_bytes_)) {
      for (size_t i = begin; i < end; ++i) home.chunks[i].backed = false;
      backed_chunks_ -= end - begin;
    }
    begin = end - 1;
  }
}

void Heap::drop_slack() {
  if (backed_chunks_ == used_chunks_) return;
  for (const std::unique_ptr<Reservation>& each : reservations_) unback(*each, {0, each->chunks.size()});
}

/// Returns the reservation that `block` fills alone, unless it is the last one, which the next allocation would want
/// again.
void Heap::release_if_idle(Blocks::iterator block) {
  Reservation* home = block->second.home;
  const uint64_t bytes = home->chunks.size() * chunk_bytes_;
  const bool idle = block->second.asked == 0 && block->second.size == bytes;
  if (!idle || (reservations_.size() == 1 && bytes == options_.reservation)) return;
  backed_chunks_ -= std::ranges::count_if(home->chunks, &Chunk::backed);
  free_.erase({block->second.size, block->first});
  blocks_.erase(block);
  std::erase_if(reservations_, [&](const auto& each) { return each.get() == home; });
}

void Heap::insert_free(hal::Address address, Block block) {
  blocks_.insert({address, block});
  free_.insert({block.size, address});
}

/// Joins a free block with the free blocks beside it in its reservation; the joined block.
Heap::Blocks::iterator Heap::join_with_neighbours(Blocks::iterator block) {
  auto joins = [](Blocks::iterator left, Blocks::iterator right) {
    return left->second.home == right->second.home && left->second.asked == 0 && right->second.asked == 0;
  };
  auto absorb_next = [&](Blocks::iterator left) REQUIRES(mutex_) {
    auto right = std::next(left);
    free_.erase({left->second.size, left->first});
    free_.erase({right->second.size, right->first});
    left->second.size += right->second.size;
    free_.insert({left->second.size, left->first});
    blocks_.erase(right);
  };
  if (auto next = std::next(block); next != blocks_.end() && joins(block, next)) absorb_next(block);
  if (block == blocks_.begin()) return block;
  auto previous = std::prev(block);
  if (!joins(previous, block)) return block;
  absorb_next(previous);
  return previous;
}

std::unexpected<Error> Heap::out_of_memory(uint64_t bytes) const {
  const uint64_t used = used_chunks_ * chunk_bytes_;
  return fail(ErrorCode::OutOfMemory, "memory: {} bytes asked for, {} of the device's {} are left (in {} allocations)",
              bytes, total_ > used ? total_ - used : 0, total_, allocations_);
}

}  // namespace cupola::memory
