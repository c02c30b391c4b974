// Attributes of streams. "CUDA Driver API, Stream Management": cuStreamSetAttribute and relatives. All are hints for
// caches, waiting and scheduling that the device has no use for: they are kept and reported.

#include <map>
#include <memory>

#include "cuda/driver/api.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

using Attributes = std::map<CUlaunchAttributeID, CUlaunchAttributeValue>;

struct Kept {
  std::weak_ptr<Stream> stream;
  Attributes attributes;
};

struct Table {
  Mutex mutex;
  std::map<uint64_t, Kept> by_id GUARDED_BY(mutex);  ///< of streams for which something was set
};

Table& table() {
  static auto* const instance = new Table;  // leaked: used after static destructors
  return *instance;
}

Result<> check(CUstreamAttrID attribute, const CUstreamAttrValue& value) {
  switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      if (value.accessPolicyWindow.hitRatio >= 0 && value.accessPolicyWindow.hitRatio <= 1 &&
          value.accessPolicyWindow.missProp != CU_ACCESS_PROPERTY_PERSISTING)
        return {};
      return fail(ErrorCode::InvalidValue, "an access policy has a hit ratio of 0 to 1, and misses do not persist");
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      if (value.syncPolicy >= CU_SYNC_POLICY_AUTO && value.syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC) return {};
      return fail(ErrorCode::InvalidValue, "{} is no synchronisation policy", static_cast<int>(value.syncPolicy));
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      if (value.priority >= kGreatestPriority && value.priority <= kLeastPriority) return {};
      return fail(ErrorCode::InvalidValue, "the priority {} is not within {} to {}", value.priority, kGreatestPriority,
                  kLeastPriority);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      if (value.memSyncDomain <= CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE) return {};
      return fail(ErrorCode::InvalidValue, "{} is no domain of memory", static_cast<int>(value.memSyncDomain));
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      return {};
    default:  // attributes of launches alone, and numbers from outside
      return fail(ErrorCode::InvalidValue, "attribute {} is none of streams", static_cast<int>(attribute));
  }
}

/// What a stream has of which nothing was set.
CUstreamAttrValue initial(const Stream& stream, CUstreamAttrID attribute) {
  CUstreamAttrValue value{};
  if (attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) value.syncPolicy = CU_SYNC_POLICY_AUTO;
  if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) value.priority = stream.priority();
  if (attribute == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) value.memSyncDomainMap = {0, 1};
  return value;
}

Attributes& attributes_of(Table& all, const std::shared_ptr<Stream>& stream) REQUIRES(all.mutex) {
  std::erase_if(all.by_id, [](const auto& entry) { return entry.second.stream.expired(); });
  Kept& kept = all.by_id[stream->id()];
  if (kept.stream.lock() != stream) kept = {stream, {}};
  return kept.attributes;
}

}  // namespace

CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue* value) {
  return api_call([&]() -> Result<> {
    TRY(given(value, "value"));
    TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(hStream));
    TRY(check(attr, *value));
    Table& all = table();
    Lock lock(all.mutex);
    attributes_of(all, stream)[attr] = *value;
    return {};
  });
}

CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue* value_out) {
  return api_call([&]() -> Result<> {
    TRY(given(value_out, "value_out"));
    TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(hStream));
    TRY(check(attr, initial(*stream, attr)));
    Table& all = table();
    Lock lock(all.mutex);
    const Attributes& attributes = attributes_of(all, stream);
    const auto set = attributes.find(attr);
    *value_out = set != attributes.end() ? set->second : initial(*stream, attr);
    return {};
  });
}

CUresult cuStreamCopyAttributes(CUstream dst, CUstream src) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Stream> to, Runtime::get().stream(dst));
    TRY(std::shared_ptr<Stream> from, Runtime::get().stream(src));
    Table& all = table();
    Lock lock(all.mutex);
    Attributes copied = attributes_of(all, from);
    copied.erase(CU_LAUNCH_ATTRIBUTE_PRIORITY);  // a stream keeps its own
    for (const auto& [attribute, value] : copied) attributes_of(all, to)[attribute] = value;
    return {};
  });
}
