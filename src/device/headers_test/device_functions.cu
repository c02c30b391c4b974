// Warp functions, atomics, cache hints and what device code asks of the system.
#include <cassert>
#include <cstdio>

struct Node {
  int value;
};

__global__ void warp(int* i, unsigned int* u, float* f, double* d, long long* l, unsigned long long* ul) {
  const unsigned int all = 0xffffffffu;
  i[0] = __shfl_sync(all, i[1], 3) + __shfl_up_sync(all, i[1], 1, 16) + __any_sync(all, i[0]) + __all_sync(all, 1);
  u[0] = __ballot_sync(all, 1) + __activemask() + __match_any_sync(all, u[1]) + __reduce_add_sync(all, u[0]) +
         __fns(u[0], 0, 1);
  f[0] = __shfl_xor_sync(all, f[1], 1) + __shfl_down_sync(all, f[1], 2);
  d[0] = __shfl_sync(all, d[1], 3);
  l[0] = __shfl_sync(all, l[1], 3) + __reduce_max_sync(all, i[0]);
  ul[0] = __shfl_down_sync(all, ul[1], 3);
  __syncwarp();
  __syncthreads();
  u[2] = (unsigned int)(__syncthreads_count(1) + __syncthreads_and(1) + __syncthreads_or(0)) + warpSize;
}

__global__ void atomics(int* i, unsigned int* u, float* f, double* d, unsigned long long* ul, unsigned short* us) {
  atomicAdd(i, 1);
  atomicAdd(u, 1u);
  atomicAdd(f, 1.0f);
  atomicAdd(d, 1.0);
  atomicAdd(ul, 1ull);
  atomicAdd_block(f, 1.0f);
  atomicAdd_system(i, 1);
  atomicMax(i, 3);
  atomicMin(ul, 3ull);
  atomicExch(f, 2.0f);
  atomicInc(u, 7u);
  atomicDec_system(u, 7u);
  i[1] = atomicCAS(i, 1, 2) + (int)atomicCAS(us, (unsigned short)1, (unsigned short)2);
  u[1] = atomicAnd(u, 3u) + atomicOr(u, 3u) + atomicXor(u, 3u);
  __nv_atomic_fetch_add(i, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
}

__global__ void memory(float4* v, float* f, int* i, char4* c) {
  extern __shared__ float dynamic[];
  v[0] = __ldg(v + 1);
  __stcs(v + 2, __ldcs(v + 3));
  __stcg(i, __ldcg(i + 1));
  __stwt(f, __ldcv(f + 1));
  c[0] = __ldca(c + 1);
  dynamic[threadIdx.x] = f[0];
  i[2] = (int)__isShared(dynamic) + (int)__isGlobal(f) + (int)__cvta_generic_to_shared(dynamic);
  const dim3 block = blockDim;
  const uint3 thread = threadIdx;
  i[3] = __dp4a(i[0], i[1], 3) + (int)__funnelshift_l(1, 2, 3) + (int)__vadd4(1, 2) + (int)(block.x + thread.x);
}

__global__ void __launch_bounds__(128, 2) services(int* i) {
  printf("%d %s\n", i[0], "text");
  assert(i[0] == 0);
  Node* node = new Node{3};
  i[1] = node->value + (int)clock() + (int)(clock64() & 1);
  delete node;
  void* bytes = malloc(8);
  memset(bytes, 0, 8);
  memcpy(i, bytes, 8);
  free(bytes);
  __nanosleep(100);
  if (i[0]) __trap();
}

int main() {
  services<<<1, 1>>>(nullptr);
}
