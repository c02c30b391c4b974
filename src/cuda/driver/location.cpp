#include "cuda/driver/location.h"

#include <unistd.h>

namespace cupola::driver {
namespace {

/// Linux numbers nodes from 0. Where it tells nothing of them, there is one.
Result<> check_node(int node) {
  const std::string folder = formatted("/sys/devices/system/node/node{}", node);
  if (node == 0 || (node > 0 && access(folder.c_str(), F_OK) == 0)) return {};
  return fail(ErrorCode::InvalidValue, "there is no NUMA node {}", node);
}

}  // namespace

Result<Location> location_of(CUmemLocation location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: {
      TRY(Device * device, Runtime::get().device(location.id));
      return Location{location.type, location.id, device};
    }
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      TRY(check_node(location.id));
      return Location{location.type, location.id, nullptr};
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return Location{location.type, 0, nullptr};
    case CU_MEM_LOCATION_TYPE_NONE:
    case CU_MEM_LOCATION_TYPE_MAX:
      break;
  }
  return fail(ErrorCode::InvalidValue, "location type {} is no place for memory", static_cast<int>(location.type));
}

}  // namespace cupola::driver
