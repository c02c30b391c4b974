#include "cuda/driver/launch_attributes.h"

#include <algorithm>
#include <bit>

namespace cupola::driver {
namespace {

using Value = CUlaunchAttributeValue;

Result<> any(const Value&) {
  return {};
}

Result<> window(const Value& value) {
  const CUaccessPolicyWindow& given = value.accessPolicyWindow;
  if (given.hitRatio >= 0 && given.hitRatio <= 1 && given.missProp != CU_ACCESS_PROPERTY_PERSISTING) return {};
  return fail(ErrorCode::InvalidValue, "an access policy has a hit ratio of 0 to 1, and misses do not persist");
}

Result<> within(int64_t value, int64_t least, int64_t most, const char* what) {
  if (value >= least && value <= most) return {};
  return fail(ErrorCode::InvalidValue, "{} is {}; it may be {} to {}", what, value, least, most);
}

Result<> synchronization(const Value& value) {
  return within(value.syncPolicy, CU_SYNC_POLICY_AUTO, CU_SYNC_POLICY_BLOCKING_SYNC, "the synchronisation policy");
}

Result<> cluster(const Value& value) {
  const auto& [x, y, z] = value.clusterDim;
  if (x <= 1 && y <= 1 && z <= 1) return {};
  TRY(const std::shared_ptr<Context> context, current_context());
  const auto reported = [&](CUdevice_attribute number) { return context->device().attribute(number).value_or(0); };
  return fail(ErrorCode::InvalidClusterSize,
              "a cluster of {} x {} x {} blocks was asked for; the device reports compute capability {}.{}, which has "
              "none",
              x, y, z, reported(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
              reported(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}

Result<> cluster_policy(const Value& value) {
  return within(value.clusterSchedulingPolicyPreference, CU_CLUSTER_SCHEDULING_POLICY_DEFAULT,
                CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING, "the cluster scheduling policy");
}

Result<> domain(const Value& value) {
  return within(value.memSyncDomain, CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE,
                "the memory synchronisation domain");
}

Result<> domain_map(const Value& value) {
  constexpr int kDomains = 4;  // CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT of devices that have any
  TRY(within(value.memSyncDomainMap.default_, 0, kDomains - 1, "the default memory synchronisation domain"));
  return within(value.memSyncDomainMap.remote, 0, kDomains - 1, "the remote memory synchronisation domain");
}

Result<> updatable(const Value& value) {
  if (!value.deviceUpdatableKernelNode.deviceUpdatable) return {};
  return fail(ErrorCode::NotSupported, "kernel nodes cannot be updated by the device");
}

Result<> carveout(const Value& value) {
  return within(static_cast<int>(value.sharedMemCarveout), CU_SHAREDMEM_CARVEOUT_DEFAULT,
                CU_SHAREDMEM_CARVEOUT_MAX_SHARED, "the carve-out of shared memory in percent");
}

Result<> nvlink(const Value& value) {
  return within(value.nvlinkUtilCentricScheduling, 0, 1, "the scheduling for NVLink");
}

constexpr unsigned kLaunch = static_cast<unsigned>(AttributeOf::Launch),
                   kNode = static_cast<unsigned>(AttributeOf::KernelNode),
                   kStream = static_cast<unsigned>(AttributeOf::Stream);

/// What has an attribute, and its values: the documentation, and an H200 (driver 580) where that is silent.
struct Row {
  CUlaunchAttributeID id;
  unsigned objects;
  Result<> (*check)(const Value&);
};
constexpr Row kRows[] = {
    {CU_LAUNCH_ATTRIBUTE_IGNORE, kLaunch, any},
    {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, kLaunch | kNode | kStream, window},
    {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, kLaunch | kNode, any},
    {CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, kStream, synchronization},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, kLaunch | kNode, cluster},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, kLaunch | kNode, cluster_policy},
    {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, kLaunch, any},
    {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, kLaunch, any},
    {CU_LAUNCH_ATTRIBUTE_PRIORITY, kLaunch | kNode | kStream, any},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, kLaunch | kNode | kStream, domain_map},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, kLaunch | kNode | kStream, domain},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, kLaunch, cluster},
    {CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, kLaunch, any},
    {CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, kLaunch | kNode, updatable},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, kLaunch | kNode, carveout},
    {CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, kLaunch | kNode, nvlink},
};

Result<const Row*> row_of(AttributeOf object, CUlaunchAttributeID id) {
  const auto* const row = std::ranges::find(kRows, id, &Row::id);
  if (row != std::end(kRows) && row->objects & static_cast<unsigned>(object)) return row;
  return fail(ErrorCode::InvalidValue, "{} has no attribute {}",
              object == AttributeOf::Launch       ? "a launch"
              : object == AttributeOf::KernelNode ? "a kernel node"
                                                  : "a stream",
              static_cast<int>(id));
}

Value initial_value(CUlaunchAttributeID id) {
  Value value{};
  if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) value.syncPolicy = CU_SYNC_POLICY_AUTO;
  if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) value.memSyncDomainMap = {0, 1};
  return value;
}

}  // namespace

Result<> check_attribute(AttributeOf object, CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
  TRY(const Row* const row, row_of(object, id));
  return row->check(value);
}

Result<CUlaunchAttributeValue> attribute_value(AttributeOf object, const LaunchAttributes& attributes,
                                               CUlaunchAttributeID id) {
  TRY(row_of(object, id));
  const LaunchAttributes::Value* const set = attributes.find(id);
  return set ? std::bit_cast<Value>(*set) : initial_value(id);
}

Result<> set_attribute(AttributeOf object, LaunchAttributes& attributes, CUlaunchAttributeID id,
                       CUlaunchAttributeValue value) {
  TRY(check_attribute(object, id, value));
  if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
    value.priority = std::clamp(value.priority, kGreatestPriority, kLeastPriority);
  attributes.set(id, std::bit_cast<LaunchAttributes::Value>(value));
  return {};
}

}  // namespace cupola::driver
