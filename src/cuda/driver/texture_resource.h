#pragma once

#include "cuda/driver/texel_format.h"

namespace cupola::driver {

/// Fills in where the object's texels are and what they are made of, the parts that a view leaves (null: all).
/// Errors: InvalidValue, InvalidHandle, NotSupported for compressed views.
Result<> describe_resource(ImageObject& object, const CUDA_RESOURCE_DESC& resource,
                           const CUDA_RESOURCE_VIEW_DESC* view);

}  // namespace cupola::driver
