#include "runtime/memory_pool.h"

#include <algorithm>

#include "base/log.h"
#include "runtime/runtime.h"

namespace cupola::runtime {
namespace {

memory::Heap::Options options_of(const Device& device, const MemoryPool::Properties& properties) {
  memory::Heap::Options options{.slack = UINT64_MAX};
  if (!properties.exportable) return options;
  const uint64_t chunk = device.hal().chunk_bytes();
  const uint64_t most = properties.most_bytes ? properties.most_bytes : device.properties().memory_bytes;
  options.reservation = (most + chunk - 1) / chunk * chunk;
  options.shared = true;
  return options;
}

}  // namespace

MemoryPool::MemoryPool(Device& device, const Properties& properties, const memory::Heap::Options& options)
    : device_(device), properties_(properties), heap_(device.hal(), options) {}

Result<std::shared_ptr<MemoryPool>> MemoryPool::make(Device& device, const Properties& properties) {
  std::shared_ptr<MemoryPool> pool(new MemoryPool(device, properties, options_of(device, properties)));
  if (!properties.exportable) return pool;
  TRY(const memory::Allocation first, pool->heap_.allocate(1));  // so that there is a file to export
  TRY(memory::Heap::Place place, pool->heap_.share(first.address()));
  pool->memory_ = std::move(place.memory);
  return pool;
}

Result<std::shared_ptr<MemoryPool>> MemoryPool::import(Device& device, int descriptor) {
  TRY(std::shared_ptr<hal::Memory> memory, device.hal().import_memory(descriptor));
  TRY(std::unique_ptr<hal::Buffer> window, device.hal().reserve(memory->size()));
  TRY(window->map(0, *memory, 0, memory->size()));
  TRY(window->protect(0, memory->size(), hal::Access::ReadWrite));
  std::shared_ptr<MemoryPool> pool(new MemoryPool(device, {}, {}));
  pool->memory_ = std::move(memory);
  pool->window_ = std::move(window);
  return pool;
}

Result<hal::Address> MemoryPool::allocate(Context& context, uint64_t bytes) {
  if (bytes == 0) return fail(ErrorCode::InvalidValue, "0 bytes were asked for");
  if (window_) return fail(ErrorCode::InvalidValue, "nothing can be allocated from an imported pool");
  TRY(take(bytes));
  auto allocated = allocate_taken(context, bytes);
  Lock lock(mutex_);
  if (allocated) {
    most_used_ = std::max(most_used_, used_);
    note_held();
  } else {
    used_ -= bytes;
  }
  return allocated;
}

Result<> MemoryPool::take(uint64_t bytes) {
  Lock lock(mutex_);
  if (properties_.most_bytes && bytes > properties_.most_bytes - std::min(used_, properties_.most_bytes))
    return fail(ErrorCode::OutOfMemory, "{} bytes were asked for; {} of the pool's {} are in use", bytes, used_,
                properties_.most_bytes);
  used_ += bytes;
  return {};
}

Result<hal::Address> MemoryPool::allocate_taken(Context& context, uint64_t bytes) {
  TRY(memory::Allocation block, heap_.allocate(bytes));
  MemoryRange range{block.address(), bytes, properties_.kind, &context};
  range.pool = shared_from_this();
  TRY(Runtime::get().addresses.add(std::move(range)));
  log::line(log::Topic::Memory, "allocated {} bytes of a pool at {:#x}", bytes, block.address());
  return block.release().address;
}

void MemoryPool::take_back(hal::Address address, uint64_t bytes) {
  if (!window_) {
    if (auto freed = heap_.free(address); !freed) log::line(log::Topic::Memory, "{}", freed.error().message);
  }
  Lock lock(mutex_);
  used_ -= std::min(used_, bytes);
}

void MemoryPool::note_held() {
  most_held_ = std::max(most_held_, heap_.usage().backed);
}

void MemoryPool::trim(uint64_t keep) {
  heap_.trim(keep);
}

MemoryPool::Usage MemoryPool::usage() const {
  PendingFrees::get().reclaim();
  const uint64_t held = heap_.usage().backed;
  Lock lock(mutex_);
  return {held, std::max(most_held_, held), used_, most_used_};
}

void MemoryPool::restart_most_held() {
  Lock lock(mutex_);
  most_held_ = heap_.usage().backed;
}

void MemoryPool::restart_most_used() {
  Lock lock(mutex_);
  most_used_ = used_;
}

Result<int> MemoryPool::descriptor() const {
  if (!memory_ || window_) return fail(ErrorCode::InvalidValue, "the pool was not made to be exported");
  return memory_->descriptor();
}

Result<uint64_t> MemoryPool::offset_of(hal::Address address) {
  TRY(descriptor());
  TRY(memory::Heap::Place place, heap_.share(address));
  return place.offset;
}

Result<hal::Address> MemoryPool::import_pointer(Context& context, uint64_t offset, uint64_t bytes) {
  if (!window_) return fail(ErrorCode::InvalidValue, "the pool was not imported");
  if (bytes == 0 || offset > window_->size() || bytes > window_->size() - offset)
    return fail(ErrorCode::InvalidValue, "{} bytes at offset {} are no allocation of the pool", bytes, offset);
  MemoryRange range{window_->address() + offset, bytes, MemoryKind::Device, &context};
  range.pool = shared_from_this();
  if (!Runtime::get().addresses.add(std::move(range)))
    return fail(ErrorCode::InvalidValue, "the allocation at offset {} of the pool is imported already", offset);
  Lock lock(mutex_);
  used_ += bytes;
  most_used_ = std::max(most_used_, used_);
  return window_->address() + offset;
}

MemoryPools& MemoryPools::get() {
  static auto* const instance = new MemoryPools;  // leaked: used after static destructors
  return *instance;
}

std::shared_ptr<MemoryPool> MemoryPools::add(std::shared_ptr<MemoryPool> pool) {
  handles_.add(pool);
  Lock lock(mutex_);
  std::erase_if(all_, [](const auto& each) { return each.expired(); });
  all_.push_back(pool);
  any_ = true;
  return pool;
}

Result<std::shared_ptr<MemoryPool>> MemoryPools::find(const void* handle) const {
  if (auto pool = handles_.find(handle)) return pool;
  return fail(ErrorCode::InvalidValue, "{} is not a live memory pool", handle);
}

Result<> MemoryPools::remove(const void* handle) {
  TRY(std::shared_ptr<MemoryPool> pool, find(handle));
  Lock lock(mutex_);
  for (const auto& [place, each] : defaults_)
    if (each == pool) return fail(ErrorCode::InvalidValue, "a device's default memory pool cannot be destroyed");
  std::erase_if(current_, [&](const auto& entry) { return entry.second == pool; });  // the default one again
  handles_.remove(handle);
  return {};
}

Result<std::shared_ptr<MemoryPool>> MemoryPools::default_of(Device& device, MemoryKind kind) {
  {
    Lock lock(mutex_);
    if (auto found = defaults_.find({&device, kind}); found != defaults_.end()) return found->second;
  }
  TRY(std::shared_ptr<MemoryPool> made, MemoryPool::make(device, {.kind = kind}));
  Lock lock(mutex_);
  const auto [place, is_new] = defaults_.try_emplace({&device, kind}, made);
  if (is_new) {
    handles_.add(made);
    all_.push_back(made);
    any_ = true;
  }
  return place->second;
}

Result<std::shared_ptr<MemoryPool>> MemoryPools::current_of(Device& device, MemoryKind kind) {
  {
    Lock lock(mutex_);
    if (auto found = current_.find({&device, kind}); found != current_.end()) return found->second;
  }
  return default_of(device, kind);
}

Result<> MemoryPools::set_current(Device& device, MemoryKind kind, std::shared_ptr<MemoryPool> pool) {
  if (&pool->device() != &device || pool->properties().kind != kind)
    return fail(ErrorCode::InvalidValue, "the pool is for another device or another kind of memory");
  Lock lock(mutex_);
  current_[{&device, kind}] = std::move(pool);
  return {};
}

std::vector<std::shared_ptr<MemoryPool>> MemoryPools::of(const Device& device) const {
  std::vector<std::shared_ptr<MemoryPool>> found;
  if (!any_) return found;
  Lock lock(mutex_);
  for (const auto& each : all_)
    if (auto pool = each.lock(); pool && &pool->device() == &device) found.push_back(std::move(pool));
  return found;
}

void MemoryPools::synchronised(const Device& device) {
  const auto pools = of(device);
  if (!pools.empty()) PendingFrees::get().reclaim();
  for (const auto& pool : pools) pool->trim(pool->release_threshold());
}

void MemoryPools::release_all(Device& device) {
  for (const auto& pool : of(device)) pool->trim(0);
  device.heap().trim(0);
}

}  // namespace cupola::runtime
