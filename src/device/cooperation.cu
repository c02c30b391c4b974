#include "device.h"

// What linked code asks of cooperative grids ("CUDA C++ Programming Guide, Cooperative Groups, Grid Synchronization"):
// the functions of the device runtime under the headers of other compilers, by which Numba's kernels wait for their
// grid. Types are written by hand, as in launches.cu.

extern "C" DEVICE void cupola_grid_sync() __asm__("cupola.grid.sync");
extern "C" DEVICE unsigned cupola_grid_is_cooperative() __asm__("cupola.grid.is_cooperative");

namespace {

// cudaCGScope and cudaError_t.
constexpr unsigned kScopeGrid = 1;
constexpr unsigned kInvalidValue = 1;
constexpr unsigned long long kNoHandle = 0, kGridHandle = 1;

LOCAL unsigned threads_of_block() {
  return __nvvm_read_ptx_sreg_ntid_x() * __nvvm_read_ptx_sreg_ntid_y() * __nvvm_read_ptx_sreg_ntid_z();
}

LOCAL unsigned rank_in_block() {
  return (__nvvm_read_ptx_sreg_tid_z() * __nvvm_read_ptx_sreg_ntid_y() + __nvvm_read_ptx_sreg_tid_y()) *
             __nvvm_read_ptx_sreg_ntid_x() +
         __nvvm_read_ptx_sreg_tid_x();
}

LOCAL unsigned rank_of_block() {
  return (__nvvm_read_ptx_sreg_ctaid_z() * __nvvm_read_ptx_sreg_nctaid_y() + __nvvm_read_ptx_sreg_ctaid_y()) *
             __nvvm_read_ptx_sreg_nctaid_x() +
         __nvvm_read_ptx_sreg_ctaid_x();
}

LOCAL unsigned blocks_of_grid() {
  return __nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_nctaid_y() * __nvvm_read_ptx_sreg_nctaid_z();
}

}  // namespace

extern "C" {

/// A handle for the grid of a cooperative launch; none otherwise, and for several grids, which there are not.
DEVICE unsigned long long cudaCGGetIntrinsicHandle(unsigned scope) {
  return scope == kScopeGrid && cupola_grid_is_cooperative() ? kGridHandle : kNoHandle;
}

/// Waits for every thread of the grid.
DEVICE unsigned cudaCGSynchronize(unsigned long long handle, unsigned) {
  if (handle != kGridHandle) return kInvalidValue;
  cupola_grid_sync();
  return 0;
}

DEVICE unsigned cudaCGGetSize(unsigned* threads, unsigned* grids, unsigned long long handle) {
  if (handle != kGridHandle) return kInvalidValue;
  if (threads) *threads = threads_of_block() * blocks_of_grid();
  if (grids) *grids = 1;
  return 0;
}

DEVICE unsigned cudaCGGetRank(unsigned* thread, unsigned* grid, unsigned long long handle) {
  if (handle != kGridHandle) return kInvalidValue;
  if (thread) *thread = rank_of_block() * threads_of_block() + rank_in_block();
  if (grid) *grid = 0;
  return 0;
}
}
