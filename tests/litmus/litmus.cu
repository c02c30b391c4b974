// The hard cases of thread scheduling: each must finish, on every device, or be refused. Oracle: forward progress as
// the CUDA C++ Programming Guide gives it since compute capability 7.0 ("Independent Thread Scheduling"), and block
// residency. A hang is caught by the test's time limit.

#include "../kernels/check.h"

__global__ void lock_kernel(int* lock, int* count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *reinterpret_cast<volatile int*>(count) = *reinterpret_cast<volatile int*>(count) + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

CASE(a_lock_inside_a_warp) {
  check::Managed<int> lock(1), count(1);
  lock_kernel<<<4, 64>>>(lock, count);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(count[0], 256);
}

__global__ void spin_lock_kernel(int* lock, int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }  // without a branch around the critical section: the naive form, which hangs on old GPUs
  __threadfence();
  *reinterpret_cast<volatile int*>(count) = *reinterpret_cast<volatile int*>(count) + 1;
  __threadfence();
  atomicExch(lock, 0);
}

CASE(a_naive_spin_lock_inside_a_warp) {
  check::Managed<int> lock(1), count(1);
  spin_lock_kernel<<<2, 32>>>(lock, count);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(count[0], 64);
}

__global__ void arms_kernel(int* out) {
  __shared__ int values[32];
  int lane = threadIdx.x;
  values[lane] = lane;
  if (lane < 16) {
    __syncwarp(0x0000ffffu);
    out[lane] = values[15 - lane];
    __syncwarp();
  } else {
    __syncwarp(0xffff0000u);
    out[lane] = values[47 - lane];
    __syncwarp();
  }
}

CASE(warp_barriers_in_both_arms) {
  check::Managed<int> out(32);
  arms_kernel<<<1, 32>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int lane = 0; lane < 32; ++lane) EXPECT_EQUAL_AT(lane, out[lane], lane < 16 ? 15 - lane : 47 - lane);
}

__global__ void two_points_kernel(int* out) {
  __shared__ int value;
  if (threadIdx.x == 0) {
    value = 17;
    __syncthreads();  // meets the barrier of the other arm
  } else {
    __syncthreads();
    out[threadIdx.x] = value;
  }
}

CASE(block_barriers_at_two_program_points) {
  check::Managed<int> out(96);
  two_points_kernel<<<1, 96>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 1; i < 96; ++i) EXPECT_EQUAL_AT(i, out[i], 17);
}

__global__ void chain_kernel(volatile int* flags, int* order, bool upwards) {
  int block = blockIdx.x, last = gridDim.x - 1;
  int before = upwards ? block - 1 : block + 1;
  if (threadIdx.x == 0) {
    if (upwards ? block > 0 : block < last)
      while (flags[before] == 0) {
      }
    __threadfence();
    order[block] = upwards ? (block > 0 ? order[before] + 1 : 0) : (block < last ? order[before] + 1 : 0);
    __threadfence();
    flags[block] = 1;
  }
}

CASE(flags_from_earlier_blocks) {
  const int n = 500;
  check::Managed<int> flags(n), order(n);
  chain_kernel<<<n, 32>>>(flags, order, true);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT_EQUAL_AT(i, order[i], i);
}

CASE(flags_from_later_blocks_that_are_resident_together) {
  const int n = 16;
  check::Managed<int> flags(n), order(n);
  chain_kernel<<<n, 32>>>(flags, order, false);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT_EQUAL_AT(i, order[i], n - 1 - i);
}

__global__ void wait_kernel(volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  __threadfence();
  *out = *flag * 2;
}

/// Two labels that jump to each other, entered at either: no natural loop. A pair of threads meets here; without a way
/// to let each other run, the first would look for ever.
__global__ void irreducible_kernel(volatile int* stage, int* looks) {
  int me = blockIdx.x * blockDim.x + threadIdx.x, other = me ^ 1, wanted = me & 1 ? 2 : 1, n = 0;
  if (me & 1) {
    stage[me] = 1;
    goto second;
  }
first:
  n += 1;
  if (stage[other] >= wanted) goto done;
second:
  n += 2;
  if (stage[other] < wanted) goto first;
done:
  stage[me] = 2;
  looks[me] = n;
}

CASE(an_irreducible_spin_wait) {
  const int n = 128;
  check::Managed<int> stage(n), looks(n);
  irreducible_kernel<<<4, n / 4>>>(stage, looks);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT_EQUAL_AT(i, looks[i] > 0, true);
}

__global__ void set_kernel(volatile int* flag) {
  *flag = 21;
}

CASE(flags_between_streams) {
  check::Managed<int> flag(1), out(8);
  cudaStream_t waiting[8], setting;
  for (cudaStream_t& stream : waiting) CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamCreateWithFlags(&setting, cudaStreamNonBlocking));
  set_kernel<<<1, 1, 0, setting>>>(flag);  // both once with the flag set: loading a kernel may wait for those that run
  CUDA_OK(cudaStreamSynchronize(setting));
  for (int i = 0; i < 8; ++i) wait_kernel<<<1, 1, 0, waiting[i]>>>(flag, out + i);
  CUDA_OK(cudaDeviceSynchronize());
  flag[0] = 0;
  for (size_t i = 0; i < 8; ++i) out[i] = 0;
  for (int i = 0; i < 8; ++i) wait_kernel<<<1, 1, 0, waiting[i]>>>(flag, out + i);
  set_kernel<<<1, 1, 0, setting>>>(flag);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 8; ++i) EXPECT_EQUAL_AT(i, out[i], 42);
  for (cudaStream_t stream : waiting) CUDA_OK(cudaStreamDestroy(stream));
  CUDA_OK(cudaStreamDestroy(setting));
}

CASE(flags_from_the_host) {
  int* flag;
  CUDA_OK(cudaMallocHost(&flag, sizeof(int)));
  *flag = 0;
  check::Managed<int> out(1);
  wait_kernel<<<1, 1>>>(flag, out);
  EXPECT_CUDA(cudaStreamQuery(nullptr), cudaErrorNotReady);
  *static_cast<volatile int*>(flag) = 5;
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(out[0], 10);
  CUDA_OK(cudaFreeHost(flag));
}

__global__ void producer_consumer_kernel(volatile int* slots, int rounds, int* sum) {
  __shared__ volatile int full, value;
  if (threadIdx.x == 0) full = 0;
  __syncthreads();
  if (threadIdx.x == 0) {  // a warp that feeds another through shared memory
    for (int i = 0; i < rounds; ++i) {
      while (full) {
      }
      value = slots[i];
      __threadfence_block();
      full = 1;
    }
  } else if (threadIdx.x == 32) {
    int total = 0;
    for (int i = 0; i < rounds; ++i) {
      while (!full) {
      }
      total += value;
      __threadfence_block();
      full = 0;
    }
    *sum = total;
  }
}

CASE(polling_on_shared_memory) {
  const int rounds = 200;
  check::Managed<int> slots(rounds), sum(1);
  int expected = 0;
  for (int i = 0; i < rounds; ++i) expected += slots[i] = i * i;
  producer_consumer_kernel<<<1, 64>>>(slots, rounds, sum);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(sum[0], expected);
}

CHECK_MAIN()
