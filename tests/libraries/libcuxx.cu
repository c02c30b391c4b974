// libcu++ of a CCCL that the user brings (cmake -DCUPOLA_CCCL=FOLDER): cuda::std, atomics, barriers, pipelines.
// Oracle: what the C++ standard and "CUDA C++ Programming Guide" say of them, computed on the host.

#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/tuple>

#include "../kernels/check.h"

namespace cg = cooperative_groups;

__global__ void standard_kernel(double* out) {
  const cuda::std::tuple<int, float> pair(static_cast<int>(threadIdx.x), 0.5f);
  const cuda::std::array<double, 3> list{1, 2, 3};
  const cuda::std::complex<double> z(list[1], cuda::std::get<1>(pair));
  out[threadIdx.x] = (z * z).real() + cuda::std::get<0>(pair) + cuda::std::norm(z);
}
CASE(tuples_arrays_complex) {
  check::Managed<double> out(32);
  standard_kernel<<<1, 32>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) EXPECT_EQUAL_AT(i, out[i], 3.75 + i + 4.25);
}

__global__ void atomics_kernel(int* sum, unsigned* most, float* real) {
  cuda::atomic_ref<int, cuda::thread_scope_device>(*sum).fetch_add(static_cast<int>(threadIdx.x),
                                                                   cuda::memory_order_relaxed);
  cuda::atomic_ref<unsigned, cuda::thread_scope_system>(*most).fetch_max(threadIdx.x * 7 % 128);
  cuda::atomic_ref<float, cuda::thread_scope_block> r(*real);
  float before = r.load();
  while (!r.compare_exchange_weak(before, before + 0.25f)) {
  }
}
CASE(atomic_references) {
  check::Managed<int> sum(1);
  check::Managed<unsigned> most(1);
  check::Managed<float> real(1);
  atomics_kernel<<<1, 128>>>(sum, most, real);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(sum[0], 127 * 64);
  EXPECT_EQUAL(most[0], 127u);
  EXPECT_EQUAL(real[0], 32.0f);
}

// Clang lets no class with a constructor be shared, so that the objects' memory is.
template <typename T>
struct alignas(T) Memory {
  char bytes[sizeof(T)];
  __device__ T& object() { return reinterpret_cast<T&>(bytes); }
};

__global__ void stages_kernel(const int* in, int* out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  using State = cuda::pipeline_shared_state<cuda::thread_scope_block, 2>;
  __shared__ Memory<Barrier> barrier_memory;
  __shared__ Memory<State> state_memory;
  __shared__ alignas(16) int buffer[256];
  Barrier& barrier = barrier_memory.object();
  const cg::thread_block block = cg::this_thread_block();
  const unsigned me = threadIdx.x;
  if (me == 0) init(&barrier, blockDim.x);
  block.sync();
  cuda::memcpy_async(block, buffer, in, cuda::aligned_size_t<16>(sizeof buffer), barrier);
  barrier.arrive_and_wait();
  out[me] = buffer[255 - me];
  Barrier::arrival_token token = barrier.arrive();
  barrier.wait(cuda::std::move(token));

  auto pipeline = cuda::make_pipeline(block, &state_memory.object());
  pipeline.producer_acquire();
  cuda::memcpy_async(block, buffer, in + 256, sizeof buffer, pipeline);
  pipeline.producer_commit();
  pipeline.consumer_wait();
  out[me] += 1000 * buffer[(me + 1) % 256];
  pipeline.consumer_release();
  block.sync();

  auto own = cuda::make_pipeline();
  own.producer_acquire();
  cuda::memcpy_async(buffer + me, in + me, sizeof(int), own);
  own.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(own);
  out[me] += 1000000 * buffer[me];
}
CASE(barriers_and_pipelines) {
  check::Managed<int> in(512), out(256);
  for (int i = 0; i < 512; ++i) in[i] = i % 100;
  stages_kernel<<<1, 256>>>(in, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 256; ++i)
    EXPECT_EQUAL_AT(i, out[i], in[255 - i] + 1000 * in[256 + (i + 1) % 256] + 1000000 * in[i]);
}

CHECK_MAIN()
