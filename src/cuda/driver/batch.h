#pragma once

#include "cuda/driver/api.h"

namespace cupola::driver {

/// The stream of a batch: "must not be legacy NULL stream". Errors: usable_stream's, without ending
/// a capture; InvalidValue for that one.
Result<std::shared_ptr<Stream>> batch_stream(CUstream handle);

/// Batches say once what holds for a run of operations, by the index of each run's first. Errors: InvalidValue when
/// `firsts` does not begin with 0, does not grow, or has more than `count` entries or an index past the last.
Result<> check_runs(const size_t* firsts, size_t runs, size_t count);

}  // namespace cupola::driver
