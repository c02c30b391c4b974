#pragma once

#include "base/result.h"
#include "cupolac/options.h"

namespace cupola::cupolac {

/// The step that puts kernel code into a fat binary: the kir itself, which Cupola's devices take, and PTX made from it,
/// for drivers of GPUs. Code from which no PTX can be made is packed without; `-v` says why.
Result<> pack(const Options& options);

}  // namespace cupola::cupolac
