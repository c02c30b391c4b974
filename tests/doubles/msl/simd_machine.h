#pragma once

#include <cstdint>
#include <functional>
#include <span>

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

struct Grid {
  Dim3 groups, threads;                              ///< threadgroups, and threads in each
  std::span<const uint32_t> threadgroup_bytes = {};  ///< of a group's memory, by argument; it has no contents at first
  CodeRange code;
  uint64_t patience = 0;  ///< how often threads may be taken up since one last ended, or a group passed a barrier
};

/// Runs a grid: `run` once for each thread, on fibres, with the addresses of its group's memory. Several groups run at
/// the same time, as many as a small GPU holds; the next begins when one has ended. Threads take turns at atomic
/// operations, so that those who wait for others get on. A SIMD function completes when no lane of its group can go on,
/// for those lanes that stand at the earliest place in the code, which lets lanes that are behind catch up. Errors:
/// LaunchFailed for threads at different barriers, or gone before one; IllegalAddress where a thread faults;
/// LaunchTimeout where patience ends. One grid at a time on a host thread.
Result<> run_grid(const Grid& grid, const std::function<void(const ThreadPlace&, const uint64_t* memory)>& run);

}  // namespace cupola::doubles
