#pragma once

#include <cstdint>

// The kernels that a back-end must be able to run to take the launch tests of the suite, with their parameter blocks.

namespace cupola::hal::cts {

/// "write_index": thread i of the grid, counted x fastest within the block and the blocks x fastest, writes base + i to
/// out[i].
struct WriteIndexParameters {
  uint32_t* out;
  uint32_t base;
};

/// "block_sum": the threads of each block of 128 (x only) put base + threadIdx.x into shared memory (512 bytes static),
/// meet at a barrier, and the last thread writes the sum of all to out[blockIdx.x].
struct BlockSumParameters {
  uint32_t* out;
  uint32_t base;
};

/// "wait_for_flag": every thread waits until *flag is not 0, then adds *flag to *seen atomically.
struct WaitForFlagParameters {
  uint32_t* flag;
  uint32_t* seen;
};

/// "bad_store": the last thread of the last block stores to address 16.
struct BadStoreParameters {
  uint64_t unused;
};

}  // namespace cupola::hal::cts
