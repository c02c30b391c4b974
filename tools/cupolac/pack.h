#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "cupolac/options.h"

namespace cupola::cupolac {

/// The steps that turn kernel code, the one input, into what the goal names: a fat binary with kir and the PTX made
/// from it (none where PTX cannot say what the code does), PTX text, or a unit for the device link. Errors:
/// FileNotFound, OperatingSystem, what the compiler says.
Result<> pack(const Options& options);

/// Writes the fat binary of kernel code, for options.architecture.
Result<> write_fatbin(const Options& options, std::span<const std::byte> kir, const std::string& path);

}  // namespace cupola::cupolac
