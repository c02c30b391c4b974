#include "runtime/graph_condition.h"

#include <map>

#include "runtime/device.h"
#include "runtime/memory_pool.h"

namespace cupola::runtime {
namespace {

/// All live conditions by handle. Never destroyed.
struct Known {
  Mutex mutex;
  std::map<uint64_t, std::weak_ptr<GraphCondition>> conditions GUARDED_BY(mutex);

  static Known& get() {
    static auto* const known = new Known;
    return *known;
  }
};

}  // namespace

Result<std::shared_ptr<GraphCondition>> GraphCondition::make(Context& context, uint32_t default_value,
                                                             bool assign_default) {
  Device& device = context.device();
  TRY(memory::Allocation word, allocate_making_room(device, [&] { return device.heap().allocate(sizeof(uint32_t)); }));
  auto condition =
      std::shared_ptr<GraphCondition>(new GraphCondition(context, std::move(word), default_value, assign_default));
  Known& known = Known::get();
  Lock lock(known.mutex);
  known.conditions[condition->handle()] = condition;
  return condition;
}

GraphCondition::~GraphCondition() {
  Known& known = Known::get();
  Lock lock(known.mutex);
  known.conditions.erase(handle());
}

Result<std::shared_ptr<GraphCondition>> GraphCondition::find(uint64_t handle) {
  Known& known = Known::get();
  Lock lock(known.mutex);
  const auto found = known.conditions.find(handle);
  std::shared_ptr<GraphCondition> condition = found == known.conditions.end() ? nullptr : found->second.lock();
  if (!condition) return fail(ErrorCode::InvalidValue, "{:#x} is no conditional handle of a live graph", handle);
  return condition;
}

}  // namespace cupola::runtime
