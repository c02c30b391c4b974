#include "runtime/virtual_memory.h"

#include <algorithm>
#include <bit>

#include "runtime/runtime.h"

namespace cupola::runtime {

VirtualMemory& VirtualMemory::get() {
  static auto* const instance = new VirtualMemory;  // leaked: used after static destructors
  return *instance;
}

Result<hal::Address> VirtualMemory::reserve(Device& device, uint64_t size, uint64_t alignment) {
  const uint64_t chunk = device.hal().chunk_bytes();
  if (size == 0 || size % chunk)
    return fail(ErrorCode::InvalidValue, "{} bytes of addresses: must be a multiple of the granularity, {}", size,
                chunk);
  if (alignment && !std::has_single_bit(alignment))
    return fail(ErrorCode::InvalidValue, "an alignment of {}: must be a power of two", alignment);
  const uint64_t more = alignment > chunk ? alignment : 0;
  if (more > UINT64_MAX - size) return fail(ErrorCode::OutOfMemory, "{} bytes of addresses were asked for", size);
  TRY(std::shared_ptr<hal::Buffer> buffer, device.hal().reserve(size + more));
  const hal::Address first = buffer->address();
  const hal::Address address = more ? (first + more - 1) / more * more : first;
  Lock lock(mutex_);
  reservations_[address] = {&device, std::move(buffer), address, size, std::vector<Chunk>(size / chunk), {}};
  return address;
}

Result<> VirtualMemory::free(hal::Address address, uint64_t size) {
  Lock lock(mutex_);
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second.size != size)
    return fail(ErrorCode::InvalidValue, "{} bytes at {:#x} are no reservation of cuMemAddressReserve", size, address);
  if (std::ranges::any_of(found->second.chunks, [](const Chunk& chunk) { return chunk.mapping != nullptr; }))
    return fail(ErrorCode::InvalidValue, "memory is mapped at {:#x}: unmap it before its addresses are freed", address);
  reservations_.erase(found);
  return {};
}

const PhysicalMemory* VirtualMemory::add(std::shared_ptr<PhysicalMemory> memory) {
  const PhysicalMemory* handle = memory.get();
  Lock lock(mutex_);
  handles_[handle] = {std::move(memory)};
  return handle;
}

Result<std::shared_ptr<PhysicalMemory>> VirtualMemory::find(const void* handle) const {
  Lock lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return fail(ErrorCode::InvalidValue, "{} is not a live memory handle", handle);
  return found->second.memory;
}

Result<> VirtualMemory::release(const void* handle) {
  std::shared_ptr<PhysicalMemory> last;  // destroyed outside the lock
  Lock lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return fail(ErrorCode::InvalidValue, "{} is not a live memory handle", handle);
  if (--found->second.uses > 0) return {};
  last = std::move(found->second.memory);
  handles_.erase(found);
  return {};
}

Result<const PhysicalMemory*> VirtualMemory::retain(hal::Address address) {
  Lock lock(mutex_);
  TRY(const Chunk* chunk, mapped_chunk(address));
  const std::shared_ptr<PhysicalMemory>& memory = chunk->mapping->memory;
  const auto [entry, is_new] = handles_.try_emplace(memory.get(), Handle{memory});
  if (!is_new) ++entry->second.uses;
  return memory.get();
}

Result<VirtualMemory::Part> VirtualMemory::part_of(hal::Address address, uint64_t size) {
  auto after = reservations_.upper_bound(address);
  if (after == reservations_.begin()) return fail(ErrorCode::InvalidValue, "{:#x} is not in a reservation", address);
  Reservation& home = std::prev(after)->second;
  const uint64_t chunk = home.device->hal().chunk_bytes(), from = address - home.address;
  if (size == 0 || from >= home.size || size > home.size - from)
    return fail(ErrorCode::InvalidValue, "{} bytes at {:#x} are not within a reservation", size, address);
  if (from % chunk || size % chunk)
    return fail(ErrorCode::InvalidValue, "{} bytes at {:#x}: must be multiples of the granularity, {}", size, address,
                chunk);
  return Part{&home, from / chunk, (from + size) / chunk, address - home.buffer->address()};
}

Result<const VirtualMemory::Chunk*> VirtualMemory::mapped_chunk(hal::Address address) const {
  auto after = reservations_.upper_bound(address);
  if (after != reservations_.begin()) {
    const Reservation& home = std::prev(after)->second;
    if (address - home.address < home.size) {
      const Chunk& chunk = home.chunks[(address - home.address) / home.device->hal().chunk_bytes()];
      if (chunk.mapping) return &chunk;
    }
  }
  return fail(ErrorCode::InvalidValue, "no memory is mapped at {:#x}", address);
}

Result<> VirtualMemory::map(hal::Address address, uint64_t size, uint64_t offset, const void* handle) {
  TRY(std::shared_ptr<PhysicalMemory> memory, find(handle));
  Lock lock(mutex_);
  TRY(const Part part, part_of(address, size));
  const uint64_t chunk = size / (part.end - part.begin), whole = memory->memory->size();
  if (offset % chunk || offset > whole || size > whole - offset)
    return fail(ErrorCode::NotSupported, "{} bytes at offset {} are not within memory of {} bytes", size, offset,
                whole);
  for (uint64_t i = part.begin; i < part.end; ++i)
    if (part.home->chunks[i].mapping)
      return fail(ErrorCode::InvalidValue, "memory is mapped at {:#x} already", address);
  TRY(part.home->buffer->map(part.offset, *memory->memory, offset, size));
  const auto mapping = std::make_shared<const Mapping>(std::move(memory), part.begin, part.end - part.begin);
  for (uint64_t i = part.begin; i < part.end; ++i) part.home->chunks[i] = {mapping, hal::Access::None};
  return {};
}

Result<> VirtualMemory::unmap(hal::Address address, uint64_t size) {
  std::vector<Chunk> gone;  // memory is given back outside the lock
  Lock lock(mutex_);
  TRY(const Part part, part_of(address, size));
  std::vector<Chunk>& chunks = part.home->chunks;
  for (uint64_t i = part.begin; i < part.end; ++i) {
    const Mapping* mapping = chunks[i].mapping.get();
    if (!mapping || mapping->first_chunk < part.begin || mapping->first_chunk + mapping->chunks > part.end)
      return fail(ErrorCode::InvalidValue, "{} bytes at {:#x} are not whole mappings of cuMemMap", size, address);
  }
  TRY(part.home->buffer->unmap(part.offset, size));
  for (uint64_t i = part.begin; i < part.end; ++i) gone.push_back(std::exchange(chunks[i], {}));
  return announce(part, false);
}

Result<> VirtualMemory::set_access(hal::Address address, uint64_t size, hal::Access access) {
  Lock lock(mutex_);
  TRY(const Part part, part_of(address, size));
  for (uint64_t i = part.begin; i < part.end; ++i)
    if (!part.home->chunks[i].mapping)
      return fail(ErrorCode::InvalidValue, "{} bytes at {:#x} are not mapped throughout", size, address);
  TRY(part.home->buffer->protect(part.offset, size, access));
  for (uint64_t i = part.begin; i < part.end; ++i) part.home->chunks[i].access = access;
  return announce(part, access != hal::Access::None);
}

Result<hal::Access> VirtualMemory::access(hal::Address address) const {
  Lock lock(mutex_);
  TRY(const Chunk* chunk, mapped_chunk(address));
  return chunk->access;
}

Result<std::shared_ptr<const PhysicalMemory>> VirtualMemory::memory_at(hal::Address address) const {
  Lock lock(mutex_);
  TRY(const Chunk* chunk, mapped_chunk(address));
  return chunk->mapping->memory;
}

/// Makes known to the API whether the part can be reached. Parts side by side are one range.
Result<> VirtualMemory::announce(const Part& part, bool reached) {
  Reservation& home = *part.home;
  const uint64_t chunk = home.device->hal().chunk_bytes();
  uint64_t first = part.begin, end = part.end;
  std::vector<hal::Address> old;
  auto met = home.known.upper_bound(part.begin);
  if (met != home.known.begin() && std::prev(met)->second >= part.begin) --met;
  while (met != home.known.end() && met->first <= part.end) {
    first = std::min(first, met->first);
    end = std::max(end, met->second);
    old.push_back(home.address + met->first * chunk);
    met = home.known.erase(met);
  }
  std::vector<MemoryRange> ranges;
  const auto add = [&](uint64_t from, uint64_t to) {
    if (from == to) return;
    home.known[from] = to;
    MemoryRange range{home.address + from * chunk, (to - from) * chunk, MemoryKind::Mapped, &home.device->primary()};
    range.owner = home.buffer;
    ranges.push_back(std::move(range));
  };
  if (reached) {
    add(first, end);
  } else {
    add(first, part.begin);
    add(part.end, end);
  }
  return Runtime::get().addresses.replace(MemoryKind::Mapped, old, std::move(ranges));
}

}  // namespace cupola::runtime
