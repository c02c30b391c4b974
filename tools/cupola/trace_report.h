#pragma once

#include <span>
#include <string>

#include "cupola/trace_file.h"

namespace cupola::tool {

/// As JSON that https://ui.perfetto.dev and chrome://tracing open ("Trace Event Format", complete events): a row for
/// each thread that made calls, and one for each stream. `with_nested`: also the driver's calls within the runtime's.
std::string trace_json(std::span<const TraceEvent> events, bool with_nested);

/// Tables of calls, kernels and copies with number, total, mean and longest time, the longest total first.
std::string trace_summary(std::span<const TraceEvent> events);

}  // namespace cupola::tool
