// <cuda/atomic> and <cuda/barrier> in each version of C++.
#include <cuda/barrier>
struct Pair {
  short a, b;
};
__global__ void k(cuda::atomic<int, cuda::thread_scope_block>* counter, Pair* pair) {
  counter->fetch_add(1, cuda::memory_order_relaxed);
  cuda::atomic_ref<Pair, cuda::thread_scope_device> both(*pair);
  Pair old = both.load(cuda::std::memory_order_acquire);
  both.compare_exchange_weak(old, Pair{old.b, old.a}, cuda::memory_order_release, cuda::memory_order_relaxed);
  cuda::atomic_signal_fence(cuda::memory_order_seq_cst);
}
__global__ void b() {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, 32);
  __syncthreads();
  barrier.wait(barrier.arrive());
}
int main() {
  b<<<1, 32>>>();
  cuda::std::atomic<unsigned> value(3);
  k<<<1, 1>>>(nullptr, nullptr);
  return static_cast<int>(value++);
}
