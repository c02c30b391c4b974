// Groups of every kind and what they offer.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
template <unsigned N>
__device__ float tsum(const cg::thread_block_tile<N>& t, float v) {
  for (int i = t.size() / 2; i > 0; i /= 2) v += t.shfl_down(v, i);
  return v;
}
__device__ int reduce_sum(cg::thread_group g, int* temp, int v) {
  int l = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    temp[l] = v;
    g.sync();
    if (l < i) v += temp[l + i];
    g.sync();
  }
  return v;
}
__global__ void k(float* out, int* in) {
  extern __shared__ int sm[];
  cg::thread_block b = cg::this_thread_block();
  auto g = cg::this_grid();
  auto t32 = cg::tiled_partition<32>(b);
  cg::thread_block_tile<16> t16 = cg::tiled_partition<16>(t32);
  auto a = cg::coalesced_threads();
  out[g.thread_rank()] = tsum<16>(t16, 1.f) + cg::reduce(t32, 2.0, cg::plus<double>()) +
                         cg::reduce(a, 3, cg::greater<int>()) + cg::inclusive_scan(a, 2) + cg::exclusive_scan(t16, 2.f);
  reduce_sum(cg::tiled_partition(b, 16), sm, 1);
  reduce_sum(b, sm, 1);
  auto l = cg::labeled_partition(a, threadIdx.x % 3);
  auto bp = cg::binary_partition(t16, threadIdx.x & 1);
  out[0] = l.size() + bp.thread_rank() + l.meta_group_rank();
  cg::memcpy_async(b, sm, in, 64);
  cg::wait(b);
  cg::sync(g);
  g.sync();
  if (g.is_valid()) out[1] = 0;
  cg::thread_group tg = t32;
  tg.sync();
  out[2] = cg::invoke_one_broadcast(a, [&] { return atomicAdd(in, (int)a.size()); });
  auto s = cg::tiled_partition<4>(t16);
  out[3] = s.meta_group_size();
  __shared__ cg::block_tile_memory<256> memory;
  cg::thread_block_tile<128, cg::thread_block> wide = cg::tiled_partition<128>(cg::this_thread_block(memory));
  cg::thread_block_tile<64> narrower = cg::tiled_partition<64>(wide);
  out[4] = cg::reduce(wide, 1, cg::plus<float>()) + cg::exclusive_scan(narrower, 2) + wide.shfl(3.0, 5) + wide.any(1);
  dim3 x = b.group_index();
  out[x.x] = b.thread_index().x;
}
int main() {
  k<<<1, 32>>>(0, 0);
}
