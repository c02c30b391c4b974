// Copies in stages and split barriers: cuda_pipeline.h, cuda_awbarrier.h and their primitives.
// Oracle: "CUDA C++ Programming Guide", Asynchronous Data Copies and Asynchronous Barriers: what each phase must have
// seen, computed on the host.

#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>

#include "check.h"

template <typename T>
__global__ void staged_kernel(const T* in, T* out, int tiles) {
  __shared__ T stage[2][64];
  const int me = static_cast<int>(threadIdx.x);
  __pipeline_memcpy_async(&stage[0][me], &in[me], sizeof(T));
  __pipeline_commit();
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) __pipeline_memcpy_async(&stage[(tile + 1) % 2][me], &in[(tile + 1) * 64 + me], sizeof(T));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[tile * 64 + me] = stage[tile % 2][63 - me];
    __syncthreads();
  }
}

template <typename T>
static void check_stages(T (*value)(int)) {
  check::Managed<T> in(320), out(320);
  for (int i = 0; i < 320; ++i) in[i] = value(i);
  staged_kernel<T><<<1, 64>>>(in, out, 5);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 320; ++i) EXPECT(std::memcmp(&out[i], &in[i / 64 * 64 + 63 - i % 64], sizeof(T)) == 0);
}
CASE(stages_arrive_in_order) {
  check_stages<int>([](int i) { return i * 7; });
  check_stages<double>([](int i) { return i * 0.5; });
  check_stages<int4>([](int i) { return int4{i, -i, i * i, 5}; });
}

__global__ void fill_kernel(const unsigned char* in, unsigned char* out) {
  __shared__ __align__(16) unsigned char bytes[48];
  for (int i = 0; i < 48; ++i) bytes[i] = 0xee;
  __pipeline_memcpy_async(bytes, in, 16, 5);
  __pipeline_memcpy_async(bytes + 16, in + 16, 8, 8);
  __pipeline_memcpy_async(bytes + 24, in + 24, 4, 1);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (int i = 0; i < 48; ++i) out[i] = bytes[i];
}
CASE(what_is_not_copied_is_zero) {
  check::Managed<unsigned char> in(48), out(48);
  for (int i = 0; i < 48; ++i) in[i] = static_cast<unsigned char>(i + 1);
  fill_kernel<<<1, 1>>>(in, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 48; ++i) {
    const int expected = i < 11 ? i + 1 : i < 24 ? 0 : i < 27 ? i + 1 : i < 28 ? 0 : 0xee;
    EXPECT_EQUAL_AT(i, out[i], expected);
  }
}

// Half of the block produces, half consumes; two barriers a buffer. Each pass the values grow.
__global__ void producers_kernel(int* out, int passes) {
  __shared__ __mbarrier_t ready, taken;
  __shared__ int buffer[32];
  const int me = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) {
    __mbarrier_init(&ready, 64);
    __mbarrier_init(&taken, 64);
  }
  __syncthreads();
  for (int pass = 0; pass < passes; ++pass) {
    if (threadIdx.x < 32) {
      buffer[me] = pass * 100 + me;
      __mbarrier_arrive(&ready);
      const __mbarrier_token_t token = __mbarrier_arrive(&taken);
      while (!__mbarrier_test_wait(&taken, token)) __nanosleep(20);
    } else {
      const __mbarrier_token_t token = __mbarrier_arrive(&ready);
      while (!__mbarrier_try_wait(&ready, token, 1000)) {
      }
      out[pass * 32 + me] = buffer[31 - me];
      __mbarrier_arrive(&taken);
    }
  }
}
CASE(producers_and_consumers) {
  check::Managed<int> out(320);
  producers_kernel<<<1, 64>>>(out, 10);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 320; ++i) EXPECT_EQUAL_AT(i, out[i], i / 32 * 100 + 31 - i % 32);
}

__global__ void counts_kernel(unsigned* out) {
  __shared__ __mbarrier_t barrier;
  __mbarrier_init(&barrier, 3);
  const __mbarrier_token_t first = __mbarrier_arrive(&barrier);
  out[0] = __mbarrier_token_pending_count(first);
  out[1] = __mbarrier_test_wait(&barrier, first);
  out[2] = __mbarrier_test_wait_parity(&barrier, false);
  out[3] = __mbarrier_token_pending_count(__mbarrier_arrive_and_drop(&barrier));
  __mbarrier_arrive(&barrier);
  out[4] = __mbarrier_test_wait(&barrier, first);
  out[5] = __mbarrier_test_wait_parity(&barrier, false);
  out[6] = __mbarrier_try_wait_parity(&barrier, true, 1000);
  // One dropped out: two arrivals end the second phase.
  const __mbarrier_token_t second = __mbarrier_arrive(&barrier);
  out[7] = __mbarrier_token_pending_count(second);
  __mbarrier_arrive(&barrier);
  out[8] = __mbarrier_test_wait(&barrier, second);
  __mbarrier_inval(&barrier);
}
CASE(phases_count_arrivals) {
  check::Managed<unsigned> out(9);
  counts_kernel<<<1, 1>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  const unsigned expected[] = {3, 0, 0, 2, 1, 1, 0, 2, 1};
  for (int i = 0; i < 9; ++i) EXPECT_EQUAL_AT(i, out[i], expected[i]);
}

namespace nve = nvcuda::experimental;

__global__ void classes_kernel(const int* in, int* out) {
  __shared__ nve::awbarrier barrier;
  __shared__ int buffer[64], single;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  nve::pipeline pipe;
  nve::memcpy_async(buffer[threadIdx.x], in[threadIdx.x], pipe);
#ifdef __CUPOLA__  // NVIDIA's header has no copy of so many bytes
  if (threadIdx.x == 0) nve::memcpy_async(&single, in, 4, 0, pipe);
#else
  if (threadIdx.x == 0) nve::memcpy_async(single, in[0], pipe);
#endif
  pipe.commit();
  pipe.arrive_on(barrier);
  pipe.wait_prior<0>();
  nve::awbarrier::arrival_token token = barrier.arrive();
  barrier.wait(token);
  out[threadIdx.x] = buffer[63 - threadIdx.x] + single;
  barrier.arrive_and_wait();
}
CASE(the_older_classes) {
  check::Managed<int> in(64), out(64);
  for (int i = 0; i < 64; ++i) in[i] = i * 3 + 1000;
  classes_kernel<<<1, 64>>>(in, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i) EXPECT_EQUAL_AT(i, out[i], (63 - i) * 3 + 2000);
}

CHECK_MAIN()
