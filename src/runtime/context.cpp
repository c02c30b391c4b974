#include "runtime/context.h"

#include "runtime/current_context.h"
#include "runtime/device.h"
#include "runtime/memory_pool.h"
#include "runtime/runtime.h"

namespace cupola::runtime {
namespace {

std::atomic<uint64_t> next_id = 1;

// By CUDA's numbers (CUlimit): stack, printf buffer, malloc heap, sync depth, pending launches, L2 fetch, persisting
// L2, shared, CIG, CIG fallback. What a fresh context on a GPU reports, where that means something here.
constexpr std::array<uint64_t, 10> kLimits = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0, 0, 0, 0};
constexpr int kStack = 0, kMallocHeap = 2, kPendingLaunches = 4, kSettableLimits = 7;
constexpr const char* kUnsettableLimits[] = {"CU_LIMIT_SHMEM_SIZE", "CU_LIMIT_CIG_ENABLED",
                                             "CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED"};
static_assert(kSettableLimits + std::size(kUnsettableLimits) == kLimits.size());
constexpr uint64_t kMostStack = 448 * 1024;

std::shared_ptr<image::DeviceFacts> facts_of(const Device& device) {
  auto facts = std::make_shared<image::DeviceFacts>();
  facts->device = device.ordinal();
  facts->devices = device.count();
  facts->attributes = device.attributes().data();
  return facts;
}

}  // namespace

Context::Context(Device& device, bool primary)
    : device_(device),
      primary_(primary),
      id_(next_id.fetch_add(1)),
      domain_(device.hal().create_domain()),
      facts_(facts_of(device)),
      active_(!primary),
      limits_(kLimits) {
  domain_->set_facts(facts_);
  Lock lock(mutex_);
  for (size_t i = 0; i < kLimits.size(); ++i) take_limit(i, kLimits[i]);
}

Context::~Context() = default;

Result<> Context::check() const {
  if (!active()) return fail(ErrorCode::ContextIsDestroyed, "the context was destroyed");
  if (!domain_->has_fault()) [[likely]]
    return {};
  if (auto error = domain_->fault()) return fail(std::move(*error));
  return {};
}

void Context::retain() {
  Lock lifetime(lifetime_);
  Lock lock(mutex_);
  ++users_;
  active_.store(true, std::memory_order_release);
}

Result<> Context::release() {
  Lock lifetime(lifetime_);
  {
    Lock lock(mutex_);
    if (users_ == 0) return fail(ErrorCode::InvalidContext, "the primary context was not retained");
    if (--users_ != 0) return {};
  }
  if (active()) end();
  return {};
}

void Context::deactivate() {
  Lock lifetime(lifetime_);
  end();
}

void Context::end() {
  active_.store(false, std::memory_order_release);
  id_.store(next_id.fetch_add(1));
  order_->drain();
  device_.hal().flush_output();
  Runtime::get().drop_objects_of(*this);
  std::shared_ptr<Stream> legacy;
  std::unordered_map<uint64_t, std::shared_ptr<Stream>> per_thread;
  {
    Lock lock(mutex_);
    legacy.swap(legacy_);
    per_thread.swap(per_thread_);
    peers_.clear();
    for (size_t i = 0; i < kLimits.size(); ++i) take_limit(i, kLimits[i]);
  }
  domain_->clear_heap();
  domain_->clear_fault();
}

Result<std::shared_ptr<Stream>> Context::legacy_stream() {
  Lock lock(mutex_);
  if (!legacy_) {
    TRY(legacy_, Stream::make(*this, Stream::Kind::Legacy, 0, 0));
  }
  return legacy_;
}

Result<std::shared_ptr<Stream>> Context::per_thread_stream() {
  const uint64_t thread = ThreadState::get().id();
  Lock lock(mutex_);
  std::shared_ptr<Stream>& stream = per_thread_[thread];
  if (!stream) {
    TRY(stream, Stream::make(*this, Stream::Kind::PerThread, 0, 0));
  }
  return stream;
}

void Context::drop_per_thread_stream(uint64_t thread) {
  std::shared_ptr<Stream> dropped;
  Lock lock(mutex_);
  auto found = per_thread_.find(thread);
  if (found == per_thread_.end()) return;
  dropped = std::move(found->second);
  per_thread_.erase(found);
}

Result<> Context::synchronize() {
  Result<> result;
  for (const Ticket& ticket : order_->unfinished()) {
    if (auto waited = ticket.wait(); !waited && result) result = std::move(waited);
  }
  device_.hal().flush_output();
  MemoryPools::get().synchronised(device_);
  TRY(std::move(result));
  return check();
}

namespace {

/// As an H200 (driver 580) answers: no limit at all is an invalid value, not an unsupported limit.
Result<> check_limit(int which) {
  if (which >= 0 && static_cast<size_t>(which) < kLimits.size()) return {};
  return fail(ErrorCode::InvalidValue, "limit {} is not one of CUlimit", which);
}

}  // namespace

Result<uint64_t> Context::limit(int which) const {
  TRY(check_limit(which));
  Lock lock(mutex_);
  return limits_[static_cast<size_t>(which)];
}

Result<> Context::set_limit(int which, uint64_t value) {
  TRY(check_limit(which));
  Lock lock(mutex_);
  if (which >= kSettableLimits)
    return fail(ErrorCode::UnsupportedLimit,
                "{} cannot be set: it is of contexts that share a GPU with graphics, which this device has not; limits "
                "0 (CU_LIMIT_STACK_SIZE) to {} can be",
                kUnsettableLimits[which - kSettableLimits], kSettableLimits - 1);
  if (which == kStack && value > kMostStack)
    return fail(ErrorCode::InvalidValue, "a stack of {} bytes a thread was asked for; the most is {}", value,
                kMostStack);
  if (const uint64_t most = device_.properties().memory_bytes; which == kMallocHeap && value > most)
    return fail(ErrorCode::OutOfMemory, "a malloc heap of {} bytes was asked for; the device has {}", value, most);
  take_limit(static_cast<size_t>(which), value);
  return {};
}

Result<> Context::enable_peer(const Context& peer) {
  if (&peer.device() == &device_)
    return fail(ErrorCode::PeerAccessUnsupported, "contexts of one device need no peer access");
  Lock lock(mutex_);
  if (!peers_.insert(peer.id()).second)
    return fail(ErrorCode::PeerAccessAlreadyEnabled, "peer access to device {} is enabled", peer.device().ordinal());
  return {};
}

Result<> Context::disable_peer(const Context& peer) {
  Lock lock(mutex_);
  if (peers_.erase(peer.id()) == 0) return fail(ErrorCode::PeerAccessNotEnabled, "peer access was not enabled");
  return {};
}

void Context::take_limit(size_t which, uint64_t value) {
  static_assert(std::tuple_size_v<decltype(limits_)> == image::DeviceFacts::kLimits);
  if (which == kMallocHeap) domain_->limit_heap(value);
  if (which == kPendingLaunches) domain_->limit_pending_launches(value);
  limits_[which] = value;
  std::atomic_ref(facts_->limits[which]).store(value, std::memory_order_relaxed);
}

Result<> destroy_context(const void* handle) {
  auto context = Runtime::get().contexts.remove(handle);
  if (!context) return fail(ErrorCode::InvalidContext, "{} is not a live context of cuCtxCreate", handle);
  context->deactivate();
  // Kept: another thread may be using a stream or function of it, and those refer to their context.
  static auto* const mutex = new Mutex;
  static auto* const destroyed = new std::vector<std::shared_ptr<Context>>;
  Lock lock(*mutex);
  destroyed->push_back(std::move(context));
  return {};
}

}  // namespace cupola::runtime
