#include "runtime/address_map.h"

namespace cupola::runtime {

Result<> AddressMap::add(MemoryRange range) {
  Lock lock(mutex_);
  return insert(std::move(range));
}

Result<> AddressMap::replace(MemoryKind kind, std::span<const hal::Address> old, std::vector<MemoryRange> others) {
  std::vector<std::map<hal::Address, MemoryRange>::node_type> gone;  // what they own ends outside the lock
  gone.reserve(old.size());
  Lock lock(mutex_);
  for (const hal::Address address : old) {
    const auto found = ranges_.find(address);
    if (found != ranges_.end() && found->second.kind == kind) gone.push_back(ranges_.extract(found));
  }
  for (size_t i = 0; i < others.size(); ++i) {
    Result<> inserted = insert(others[i]);
    if (inserted) continue;
    for (size_t added = 0; added < i; ++added) ranges_.erase(others[added].address);
    for (auto& range : gone) ranges_.insert(std::move(range));
    return inserted;
  }
  return {};
}

Result<> AddressMap::insert(MemoryRange range) {
  auto next = ranges_.lower_bound(range.address);
  const bool meets_next = next != ranges_.end() && next->first - range.address < range.size;
  const bool meets_previous = next != ranges_.begin() && std::prev(next)->second.holds(range.address, 1);
  if (meets_next || meets_previous)
    return fail(ErrorCode::HostMemoryAlreadyRegistered, "{} bytes at {:#x} touch memory that is already known",
                range.size, range.address);
  range.id = next_id_++;
  ranges_.emplace(range.address, range);
  return {};
}

std::optional<MemoryRange> AddressMap::find(hal::Address address) const {
  Lock lock(mutex_);
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return std::nullopt;
  const MemoryRange& range = std::prev(after)->second;
  if (!range.holds(address, 1)) return std::nullopt;
  return range;
}

std::vector<MemoryRange> AddressMap::take_all(const Context* context) {
  std::vector<MemoryRange> taken;
  Lock lock(mutex_);
  std::erase_if(ranges_, [&](const auto& entry) {
    if (entry.second.context != context || entry.second.kind == MemoryKind::Mapped) return false;
    taken.push_back(entry.second);
    return true;
  });
  return taken;
}

}  // namespace cupola::runtime
