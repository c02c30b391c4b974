#pragma once

#include "cuda/driver/api.h"
#include "runtime/graph_work.h"

namespace cupola::driver {

/// The copy that the structure describes. Errors: InvalidValue for positions and pitches that do not fit; InvalidHandle
/// for an array that is not there. Where its ends lie is checked when it is made a command.
Result<CopyWork> copy_work(const CUDA_MEMCPY3D& params);

/// What cuMemcpy2D and cuMemcpy2DAsync do, for calls that are made of such copies.
Result<> copy_plane(const CUDA_MEMCPY2D& params, CUstream stream, bool asynchronous);

}  // namespace cupola::driver
