#pragma once

#include "cuda/driver/api.h"
#include "runtime/memory_watch.h"

// Between operations on values in memory as cuda.h has them and the runtime's.

namespace cupola::driver {

/// Errors: InvalidValue for a number of operations, an operation or flags that there are not; NotSupported.
Result<std::vector<MemoryOp>> memory_ops(const CUstreamBatchMemOpParams* params, unsigned count, unsigned flags);

CUstreamBatchMemOpParams params_of(const MemoryOp& op);

}  // namespace cupola::driver
