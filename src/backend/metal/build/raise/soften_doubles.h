#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace llvm {
class Module;
}

namespace cupola::metal::build {

/// Makes a prepared module compute with doubles in integers, for GPUs that have none: afterwards it has no value, no
/// memory and no function of doubles, but 64-bit integers of the same bits, size and alignment. Results are IEEE 754's
/// to the last bit; NaNs that are made are quiet, and what moves or changes single bits (copies, fneg, fabs, copysign)
/// keeps a NaN's. Atomic sums, minima and maxima of doubles become loops around a compare-and-swap of 64 bits. What is
/// left of the C library (library_calls.def, llvm.sin and its kin, frem), of floats too, is linked.
///
/// `library` is lib/cupola/metal.bc; of it only what is called is linked. Errors: NotSupported, naming the function,
/// what it holds that is not there for doubles, and the source line; InvalidImage, when `library` is not bitcode.
Result<> soften_doubles(llvm::Module& module, std::span<const std::byte> library);

}  // namespace cupola::metal::build
