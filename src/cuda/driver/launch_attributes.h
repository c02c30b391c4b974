#pragma once

#include "cuda/driver/api.h"
#include "runtime/launch_attributes.h"

// Attributes of launches, kernel nodes and streams. "CUDA Driver API, CUlaunchAttributeID". What is no more than a hint
// for caches, waiting and scheduling is kept and reported.

namespace cupola::driver {

enum class AttributeOf : unsigned { Launch = 1, KernelNode = 2, Stream = 4 };

/// Errors: InvalidValue for an attribute that such an object does not have, or a value out of range; InvalidClusterSize
/// for a cluster of several blocks; NotSupported.
Result<> check_attribute(AttributeOf object, CUlaunchAttributeID id, const CUlaunchAttributeValue& value);

/// What was set, or what an object has of which nothing was set. Error: InvalidValue for one that it does not have.
Result<CUlaunchAttributeValue> attribute_value(AttributeOf object, const LaunchAttributes& attributes,
                                               CUlaunchAttributeID id);

/// As check_attribute; a priority is brought into the range first.
Result<> set_attribute(AttributeOf object, LaunchAttributes& attributes, CUlaunchAttributeID id,
                       CUlaunchAttributeValue value);

}  // namespace cupola::driver
