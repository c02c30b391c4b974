#pragma once

#include <cstdint>
#include <functional>

#include "base/kernel_info.h"
#include "base/result.h"

namespace cupola::doubles {

/// Where a thread is in its grid.
struct ThreadPlace {
  uint32_t thread[3], threads[3];  ///< in its threadgroup, and how many there are
  uint32_t group[3], groups[3];
  uint32_t lane, simdgroup, simdgroups;
};

/// What lanes that run together gave. metal_stdlib has the same.
struct Gathered {
  uint64_t values[32];
  uint32_t active;
};

/// The functions that compiled MSL calls; the struct is metal_stdlib's.
struct Machine {
  void (*barrier)(void* frame);  ///< `frame`: of the function that calls it; frames of compiled MSL are chained
  const Gathered* (*gather)(void* frame, uint64_t value);
  void (*yield)();
};
extern Machine machine;

/// Where the code of a program lies.
struct CodeRange {
  uintptr_t begin = 0, end = 0;
};

/// Runs a threadgroup: `run` once for each thread, on fibres. A SIMD function completes when no lane of its group can
/// go on, for those lanes that stand at the earliest place in the code, which lets lanes that are behind catch up.
/// Errors: LaunchFailed for threads at different barriers, or gone before one; IllegalAddress where a thread faults.
/// One group at a time on a host thread.
Result<> run_threadgroup(const Dim3& group, const Dim3& groups, const Dim3& threads, const CodeRange& code,
                         const std::function<void(const ThreadPlace&)>& run);

}  // namespace cupola::doubles
