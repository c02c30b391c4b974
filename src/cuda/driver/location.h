#pragma once

#include "cuda/driver/api.h"

namespace cupola::driver {

/// A place for memory, as CUmemLocation names it.
struct Location {
  CUmemLocationType type;
  int id;          ///< of the device or the NUMA node; 0 where places have none
  Device* device;  ///< whose memory that is; null on the host
};

/// Errors: InvalidValue for CU_MEM_LOCATION_TYPE_NONE, which is also called INVALID, for what is no type, and for a
/// NUMA node that is not there; InvalidDevice. Which of the places a call takes is its own affair.
Result<Location> location_of(CUmemLocation location);

/// For calls that have one code for all that is wrong with a location.
template <typename Value>
Result<Value> with_code(Result<Value> result, ErrorCode code) {
  if (!result) return fail(code, "{}", result.error().message);
  return result;
}

}  // namespace cupola::driver
