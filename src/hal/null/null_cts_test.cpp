#include "hal/cts/suite.h"
#include "hal/null/null_device.h"

// The null device in hal's conformance suite.

namespace cupola::hal {
namespace {

[[maybe_unused]] const bool registered =
    cts::register_backend({.name = "null",
                           .make = make_null_device,
                           .make_kernels = {},
                           .no_kernels_reason = "the null device runs no kernels",
                           .unsupported = {{"Queue.LongChainsNeedNoStack", "each queue is a thread"}}});

}  // namespace
}  // namespace cupola::hal
