#pragma once

#include <cstddef>
#include <cstdint>

// The contract between code that backend/cpu/build generates and backend/cpu/run, which executes it. A change of
// anything here raises image::kFormatVersion.
//
// A kernel's entry and every device function take a ThreadContext* as their first argument. Addresses in global,
// constant and generic space are host addresses; an address in shared space is a byte offset into the block's shared
// window. A thread's stack is its local window.

namespace cupola::image::cpu {

/// Threads of a warp, which are its lanes.
inline constexpr uint32_t kWarp = 32;

/// Size and alignment of the shared window, so that `address & ~(kSharedWindow - 1)` is its base.
inline constexpr uint64_t kSharedWindow = 256 * 1024;
/// How much of it launches may have. What lies behind is the generated code's own.
inline constexpr uint64_t kSharedOfLaunch = 240 * 1024;

/// Size and alignment of a thread's local window, which is its stack. Frames above it fault.
inline constexpr uint64_t kLocalWindow = 512 * 1024;

/// Dynamic shared memory begins at the end of static shared memory, rounded up to this. Where a dynamic array is
/// aligned to more, the generated code's static size is rounded up already.
inline constexpr uint32_t kDynamicSharedAlignment = 16;

struct ThreadContext;

/// Functions of the run half that generated code calls through the context; order is the table's.
struct Services {
#define CUPOLA_SERVICE(name, result, parameters, flags) result(*name) parameters;
#include "image/cpu_services.def"
#undef CUPOLA_SERVICE
};

/// What one CUDA thread knows of itself, or a warp of its first thread. One of these lies at the top of each thread's
/// or warp's local window.
struct ThreadContext {
  const Services* services;
  std::byte* module_data;    ///< base of the executable's data segment
  std::byte* shared_window;  ///< base; offset 0 is the first byte of static shared memory
  uint32_t tid[3];
  uint32_t ctaid[3];
  uint32_t ntid[3];
  uint32_t nctaid[3];
  uint32_t lane;                   ///< 0 to 31
  uint32_t warp;                   ///< within the block
  uint32_t dynamic_shared_offset;  ///< where dynamic shared memory begins in the window
  uint32_t dynamic_shared_bytes;
  uint32_t total_shared_bytes;
  int32_t fuel;  ///< generated polling loops count it down and call services->poll at zero
  uint64_t grid_id;
  void* executor;       ///< the run half's own
  uint32_t last_error;  ///< of the thread's calls of the device runtime; 0 when it begins
  // Of a warp:
  uint32_t lanes;             ///< those that begin, as a mask
  const uint32_t* places[3];  ///< threadIdx.x, y and z of its 32 threads; what is not there is 0
  uint32_t calling_lane;      ///< for which a service is called that is for one thread
  // Of code that runs whole blocks, which has them for its barriers: votes and voters of the phase that goes on, and of
  // the one before it.
  uint32_t votes, voters, last_votes, last_voters;
  uint32_t blocks;       ///< that it is to run yet, from ctaid on, that one included; both follow as it goes on
  uint32_t blocks_left;  ///< of these, the last ones, which other code will run; 0 between the code's calls
  // Of code that keeps what a block's threads write last for the blocks after it: the loop over blocks gives it others
  // in registers. Nobody writes these: 0, each block writes at once.
  uint32_t kept_blocks;  ///< the blocks before this one whose words are kept yet
  uint32_t keeps_on;     ///< 1: this one's are kept too; 0: all are written
};

static_assert(offsetof(ThreadContext, tid) == 24);
static_assert(offsetof(ThreadContext, lane) == 72);
static_assert(offsetof(ThreadContext, fuel) == 92);
static_assert(offsetof(ThreadContext, executor) == 104);
static_assert(offsetof(ThreadContext, last_error) == 112);
static_assert(offsetof(ThreadContext, places) == 120);
static_assert(sizeof(ThreadContext) == 184, "raise image::kFormatVersion");

/// A kernel's code for one thread, for a warp, or for all threads of some blocks: runs it from its first instruction to
/// its return, given the first thread's context. `parameters` is the launch's parameter block, which the code only
/// reads.
using KernelEntry = void (*)(ThreadContext*, const std::byte* parameters);

/// What a device function's address points at, in module data. The loader fills the entry in; kernels copy and compare
/// the descriptor's address, and call through it.
struct FunctionDescriptor {
  const void* scalar_entry;  ///< f(ThreadContext*, arguments...), for one thread
};

/// What a kernel's address points at, in module data, where code takes it to launch the kernel. Kernels may write over
/// it, so it is checked before it is used.
struct KernelDescriptor {
  static constexpr uint64_t kMark = 0x6c656e72656b7063;
  uint64_t mark;
  uint64_t kernel;  ///< its place in the image
};

}  // namespace cupola::image::cpu
