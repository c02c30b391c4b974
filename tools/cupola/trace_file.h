#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/trace_format.h"

namespace cupola::tool {

struct TraceEvent {
  trace::Kind kind;
  uint32_t process, thread;
  uint64_t begin, end;  ///< nanoseconds
  uint64_t queue, amount;
  Dim3 grid, block;
  std::string name;
  bool nested = false;  ///< a call that the runtime made of the driver

  /// Of a thread of the program's or the driver's; the others are commands of a stream.
  bool on_thread() const {
    return kind == trace::Kind::RuntimeCall || kind == trace::Kind::DriverCall || kind == trace::Kind::HostFunction;
  }
  uint64_t duration() const { return end - begin; }
};

/// What the file of CUPOLA_TRACE holds, by process, thread and beginning; calls of the driver that the runtime made are
/// marked. Errors: FileNotFound; InvalidValue for what is no trace. What does not make sense within a trace is left
/// out: its writers may have been killed at any moment.
Result<std::vector<TraceEvent>> read_trace(const std::filesystem::path& path);

}  // namespace cupola::tool
