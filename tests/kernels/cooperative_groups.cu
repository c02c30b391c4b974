// Cooperative groups: the block, tiles of it, the lanes at one place, the grid of a cooperative launch.
// Oracle: "CUDA C++ Programming Guide", Cooperative Groups; what each thread must see is computed on the host.

#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void block_kernel(unsigned* out) {
  __shared__ unsigned values[64];
  cg::thread_block block = cg::this_thread_block();
  const unsigned rank = block.thread_rank();
  values[rank] = rank * 3;
  block.sync();
  out[rank] = values[block.size() - 1 - rank];
}

CASE(block) {
  check::Managed<unsigned> out(64);
  block_kernel<<<1, dim3(8, 4, 2)>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQUAL_AT(i, out[i], (63 - i) * 3);
}

template <unsigned Size>
__global__ void tile_kernel(unsigned* out) {
  auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  const unsigned me = threadIdx.x;
  unsigned* at = out + me * 7;
  at[0] = tile.thread_rank();
  at[1] = tile.meta_group_rank();
  at[2] = tile.shfl(me, 1);
  at[3] = tile.shfl_down(me, 1);
  at[4] = tile.shfl_xor(me, Size / 2);
  at[5] = tile.ballot(me % 3 == 0);
  at[6] = static_cast<unsigned>(tile.any(me == 5)) * 2 + static_cast<unsigned>(tile.all(me < 32));
}

template <unsigned Size>
static void check_tiles() {
  check::Managed<unsigned> out(64 * 7);
  tile_kernel<Size><<<1, 64>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (unsigned me = 0; me < 64; ++me) {
    const unsigned rank = me % Size, start = me - rank;
    unsigned ballot = 0, any = 0, all = 1;
    for (unsigned i = 0; i < Size; ++i) {
      if ((start + i) % 3 == 0) ballot |= 1u << i;
      any |= start + i == 5;
      all &= start + i < 32;
    }
    const unsigned expected[] = {
        rank, me / Size, start + 1, rank + 1 < Size ? me + 1 : me, start + (rank ^ (Size / 2)), ballot, any * 2 + all};
    for (unsigned i = 0; i < 7; ++i) EXPECT_EQUAL_AT(me * 7 + i, out[me * 7 + i], expected[i]);
  }
}

CASE(tiles_of_every_size) {
  check_tiles<32>();
  check_tiles<16>();
  check_tiles<8>();
  check_tiles<4>();
  check_tiles<2>();
}

__global__ void coalesced_kernel(unsigned* out) {
  out[threadIdx.x] = 0;
  if (threadIdx.x % 4 == 1) {
    cg::coalesced_group group = cg::coalesced_threads();
    out[threadIdx.x] = group.size() * 100 + group.thread_rank();
  }
}

CASE(lanes_at_one_place) {
  check::Managed<unsigned> out(32);
  coalesced_kernel<<<1, 32>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQUAL_AT(i, out[i], i % 4 == 1 ? 800 + i / 4 : 0);
}

__global__ void grid_kernel(unsigned* values, unsigned* out) {
  cg::grid_group grid = cg::this_grid();
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x, count = static_cast<unsigned>(grid.size());
  values[me] = me + 1;
  grid.sync();
  out[me] = values[count - 1 - me];
  grid.sync();
  if (me == 0) out[0] = out[count - 1] * 1000;
}

CASE(grid) {
  check::Managed<unsigned> values(128), out(128);
  unsigned *in = values, *to = out;
  void* arguments[] = {&in, &to};
  CUDA_OK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(grid_kernel), dim3(2), dim3(64), arguments, 0,
                                      nullptr));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(out[0], 1000u);
  for (unsigned i = 1; i < 128; ++i) EXPECT_EQUAL_AT(i, out[i], 128 - i);
}

CHECK_MAIN()
