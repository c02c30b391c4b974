#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/kernel_info.h"

// What a trace file holds. It is written by mapping it: what a process wrote is in the file even if the process is
// killed in the next moment. The file is a row of chunks. The first is the FileHeader's; each of the others belongs to
// one thread of one process, which takes the next free number, so that any number of threads, processes and copies of
// this code (libcuda and libcudart each have one) write at the same time without a lock. All numbers are the machine's
// own.

namespace cupola::trace {

inline constexpr uint64_t kFileMagic = 0x3165636172747563;   // "cutrace1"
inline constexpr uint64_t kChunkMagic = 0x6b6e756863727463;  // "ctrchunk"
inline constexpr size_t kChunkBytes = 64 << 10;
inline constexpr uint64_t kMostChunks = 1 << 17;  // 8 GiB; then tracing stops

struct FileHeader {
  std::atomic<uint64_t> magic;
  std::atomic<uint64_t> chunks;  ///< that were taken; the first begins at kChunkBytes
};

struct ChunkHeader {
  uint64_t magic;
  uint32_t process, thread;
  std::atomic<uint64_t> used;  ///< bytes of this header and of whole records
};

enum class Kind : uint32_t { RuntimeCall, DriverCall, Kernel, Copy, Fill, HostFunction };
inline constexpr uint32_t kKinds = 6;

/// A record: this, and the name. Records begin at multiples of 8.
struct Record {
  uint32_t bytes = 0;  ///< of this and the name, a multiple of 8
  Kind kind = Kind::RuntimeCall;
  uint64_t begin = 0, end = 0;  ///< nanoseconds of CLOCK_MONOTONIC
  uint64_t queue = 0;           ///< of commands: which of the process's queues
  uint64_t amount = 0;          ///< of calls the status, of copies and fills the bytes, of kernels the shared bytes
  Dim3 grid{0, 0, 0}, block{0, 0, 0};
  uint32_t name_bytes = 0;
  uint32_t reserved = 0;
};
static_assert(sizeof(Record) == 72 && alignof(Record) == 8);

}  // namespace cupola::trace
