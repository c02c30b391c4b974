#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "doubles/msl/msl_program.h"

namespace cupola::doubles {

struct KernelSignature {
  MslFunction function;
  std::vector<std::string> types;  ///< of the arguments, as written: "constant Launch&"
};

/// The kernels of MSL source, by their declarations: `kernel void NAME(TYPE NAME [[ATTRIBUTE]], ...)`. Error:
/// InvalidSource for an argument without an attribute that is known here.
Result<std::vector<KernelSignature>> kernel_signatures(const std::string& source);

/// C++ that calls each kernel with arguments from tables, `extern "C" void call_NAME(void* const* buffers, void* const*
/// threadgroups, const ThreadPlace*)`, to stand behind the source.
std::string callers(const std::vector<KernelSignature>& kernels);

}  // namespace cupola::doubles
