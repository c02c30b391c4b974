#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "hal/types.h"

// Device memory of another process: "CUDA Driver API, cuIpcGetMemHandle" and relatives. A handle names an open file of
// the process that exports; the system lets processes of the same user open it. What was opened stays, whatever becomes
// of the process that it came from.

namespace cupola::runtime {

class Context;

/// What the 64 bytes of a handle hold.
struct MemoryTicket {
  std::array<char, 8> mark;
  int32_t process, descriptor;
  uint64_t file_system, file;  ///< so that a descriptor that means something else by now is told from ours
  uint64_t offset, bytes;      ///< of the allocation in the file
};
static_assert(sizeof(MemoryTicket) <= 64);

/// For the allocation of cuMemAlloc that holds the address. Errors: InvalidValue for other memory, NotSupported.
Result<MemoryTicket> export_memory(hal::Address address);

/// Where the allocation lies in this process; opening it again in the same context gives the same address. Errors:
/// InvalidValue for what is no ticket, or when the other process is gone or its file cannot be opened; InvalidContext
/// for this process's own.
Result<hal::Address> open_memory(Context& context, const MemoryTicket& ticket);

/// Undoes one open_memory; the last waits for the context's work first. Error: InvalidValue.
Result<> close_memory(hal::Address address);

}  // namespace cupola::runtime
