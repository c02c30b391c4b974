#pragma once

#include <span>

#include "hal/command.h"
#include "runtime/stream.h"

// Copies and fills. Both check that each end lies within what the API knows. Memory that the API does not know is
// pageable host memory; a copy that touches it is done when the call returns, asynchronous or not, as "CUDA Driver API,
// API synchronization behavior" allows.

namespace cupola::runtime {

/// What the caller says an end of a copy is.
enum class End {
  Host,     ///< any memory: an address tells what it is, as on a GPU with unified addresses
  Device,   ///< must be memory that the API knows
  Unified,  ///< either
};

/// The copy, or fill, with what keeps its memory; for commands that run later, and not empty ones. Errors: those of
/// copy() and fill() that are not the context's fault.
Result<hal::Copy> checked(const hal::Copy& command, End destination, End source);
Result<hal::Fill> checked(const hal::Fill& command);

/// Errors: InvalidValue for an end that is not what the caller says or too small; the context's fault.
/// A captured stream gets a node; StreamCaptureUnsupported when it is not asynchronous.
Result<> copy(Stream& stream, const hal::Copy& command, End destination, End source, bool asynchronous);

/// When the source of one copy of a batch may be read, by CUDA's numbers: CUmemcpySrcAccessOrder.
enum class SourceAccess {
  Stream = 1,      ///< when the stream gets there
  DuringCall = 2,  ///< before the call returns, at any time until then
  Any = 3,         ///< at any time
};

struct BatchedCopy {
  hal::Copy command;
  End destination = End::Unified, source = End::Unified;
  SourceAccess access = SourceAccess::Stream;
};

/// Copies that depend on nothing of each other, as one piece of the stream's work: all are enqueued or none. Only a
/// DuringCall source that the host cannot read makes the call wait. Errors: as copy(), with the copy's index in
/// `failed`.
Result<> copy_batch(Stream& stream, std::span<const BatchedCopy> batch, size_t& failed);

/// Errors: InvalidValue for an unknown, too small or misaligned destination; the context's fault.
Result<> fill(Stream& stream, const hal::Fill& command, bool asynchronous);

}  // namespace cupola::runtime
