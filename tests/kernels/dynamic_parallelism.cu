// Kernels that launch kernels (-rdc=true). Oracle: "CUDA C++ Programming Guide, CUDA Dynamic Parallelism" (the version
// of CUDA 12 and later): what is ordered, what a launch copies, when a grid is over.

#include <algorithm>
#include <vector>

#include "check.h"

struct Range {
  int first, count;
  int* data;
};

__global__ void fill_range(Range range, int value, char step) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < range.count) range.data[range.first + i] = value + i * step;
}

__global__ void launch_fill(int* data) {
  Range range{10, 300, data};
  int value = 7;
  fill_range<<<3, 128>>>(range, value, 2);
  range = {0, 0, nullptr};  // the parameters were copied
  value = 0;
}

CASE(a_launch_copies_its_parameters) {
  check::Managed<int> data(400);
  launch_fill<<<1, 1>>>(data);
  CUDA_OK(cudaGetLastError());
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 400; ++i) EXPECT_EQUAL_AT(i, data[i], i < 10 || i >= 310 ? 0 : 7 + (i - 10) * 2);
}

struct Wide {
  int numbers[300];
};

__global__ void sum_wide(Wide wide, int* sum) {
  int total = 0;
  for (int each : wide.numbers) total += each;
  *sum = total;
}

__global__ void launch_wide(int* sum) {
  Wide wide;
  for (int i = 0; i < 300; ++i) wide.numbers[i] = i;
  sum_wide<<<1, 1>>>(wide, sum);
}

CASE(parameters_of_many_bytes) {
  check::Managed<int> sum(1);
  launch_wide<<<1, 1>>>(sum);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(sum[0], 299 * 300 / 2);
}

__global__ void double_each(const int* from, int* to, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) to[i] = 2 * from[i];
}

__global__ void write_and_launch(int* from, int* to) {
  from[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(blockIdx.x * 1000 + threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) double_each<<<2, 64>>>(from + blockIdx.x * blockDim.x, to + blockIdx.x * blockDim.x, 96);
}

CASE(a_child_sees_what_the_block_wrote_before) {
  check::Managed<int> from(40 * 96), to(40 * 96);
  write_and_launch<<<40, 96>>>(from, to);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 40 * 96; ++i) EXPECT_EQUAL_AT(i, to[i], 2 * (i / 96 * 1000 + i % 96));
}

__global__ void reverse_in_block(int* data) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

__global__ void launch_reverse(int* data, int count) {
  reverse_in_block<<<1, count, count * sizeof(int)>>>(data);
}

CASE(children_have_shared_memory_and_barriers) {
  check::Managed<int> data(200);
  for (int i = 0; i < 200; ++i) data[i] = i;
  launch_reverse<<<1, 1>>>(data, 200);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 200; ++i) EXPECT_EQUAL_AT(i, data[i], 199 - i);
}

// ---- recursion ----

__global__ void grow_tree(int depth, int fan_out, unsigned long long* nodes) {
  atomicAdd(nodes + depth, 1ull);
  if (depth > 0 && static_cast<int>(threadIdx.x) < fan_out) grow_tree<<<1, fan_out>>>(depth - 1, fan_out, nodes);
}

CASE(a_tree_of_launches) {
  check::Managed<unsigned long long> nodes(7);
  grow_tree<<<1, 3>>>(6, 3, nodes);
  CUDA_OK(cudaDeviceSynchronize());
  unsigned long long launches = 1;  // each grid has three threads, all of which count and launch
  for (int depth = 6; depth >= 0; --depth, launches *= 3) EXPECT_EQUAL_AT(depth, nodes[depth], 3 * launches);
}

/// One thread; the two parts are sorted by grids of their own.
__global__ void quicksort(int* data, int left, int right, int depth) {
  if (depth > 15 || right - left <= 16) {
    for (int i = left + 1; i <= right; ++i)
      for (int j = i; j > left && data[j - 1] > data[j]; --j) {
        const int moved = data[j];
        data[j] = data[j - 1];
        data[j - 1] = moved;
      }
    return;
  }
  int low = left, high = right;
  const int pivot = data[(left + right) / 2];
  while (low <= high) {
    while (data[low] < pivot) ++low;
    while (data[high] > pivot) --high;
    if (low > high) break;
    const int moved = data[low];
    data[low++] = data[high];
    data[high--] = moved;
  }
  cudaStream_t stream;
  if (left < high) {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, stream>>>(data, left, high, depth + 1);
    cudaStreamDestroy(stream);
  }
  if (low < right) {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, stream>>>(data, low, right, depth + 1);
    cudaStreamDestroy(stream);
  }
}

CASE(quicksort_in_streams_of_the_device) {
  constexpr int kCount = 5000;
  check::Managed<int> data(kCount);
  std::vector<int> expected(kCount);
  unsigned state = 1;
  for (int i = 0; i < kCount; ++i)
    data[i] = expected[i] = static_cast<int>((state = state * 1664525u + 1013904223u) >> 12);
  std::sort(expected.begin(), expected.end());
  quicksort<<<1, 1>>>(data, 0, kCount - 1, 0);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) EXPECT_EQUAL_AT(i, data[i], expected[i]);
}

// ---- which kernel ----

template <typename T>
__global__ void store(T* to, T value) {
  *to = value;
}

__global__ void add_one(int* to) {
  *to += 1;
}
__global__ void times_ten(int* to) {
  *to *= 10;
}

using Step = void (*)(int*);

__global__ void launch_by_pointer(int* to, const char* program) {
  for (; *program; ++program) {
    Step step = *program == '+' ? add_one : times_ten;
    step<<<1, 1>>>(to);
  }
}

__global__ void launch_templates(int* a, double* b) {
  store<<<1, 1>>>(a, 42);
  store<<<1, 1>>>(b, 2.5);
}

CASE(kernels_by_pointer_and_of_templates) {
  check::Managed<int> number(2);
  check::Managed<double> real(1);
  check::Managed<char> program(8);
  std::memcpy(program, "++*+*", 6);
  launch_by_pointer<<<1, 1>>>(number, program);
  launch_templates<<<1, 1>>>(number + 1, real);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(number[0], ((0 + 1 + 1) * 10 + 1) * 10);
  EXPECT_EQUAL(number[1], 42);
  EXPECT_EQUAL(real[0], 2.5);
}

// ---- order ----

/// `list[0]` counts what follows. Plain accesses: what is not ordered would be lost.
__global__ void append(volatile int* list, int value) {
  const int count = list[0];
  list[1 + count] = value;
  list[0] = count + 1;
}

__global__ void append_by_each_thread(int* list) {
  for (int turn = 0; turn < static_cast<int>(blockDim.x); ++turn) {
    if (turn == static_cast<int>(threadIdx.x)) append<<<1, 1>>>(list, turn);
    __syncthreads();
  }
}

CASE(launches_of_a_block_into_its_null_stream_run_in_order) {
  check::Managed<int> list(101);
  append_by_each_thread<<<1, 100>>>(list);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(list[0], 100);
  for (int i = 0; i < 100; ++i) EXPECT_EQUAL_AT(i, list[1 + i], i);
}

__global__ void append_in_streams(int* lists, int streams, int launches) {
  for (int s = 0; s < streams; ++s) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int i = 0; i < launches; ++i) append<<<1, 1, 0, stream>>>(lists + s * (launches + 1), 100 * s + i);
    cudaStreamDestroy(stream);  // what is in it goes on
  }
}

CASE(launches_into_a_stream_of_the_device_run_in_order) {
  check::Managed<int> lists(8 * 51);
  append_in_streams<<<1, 1>>>(lists, 8, 50);
  CUDA_OK(cudaDeviceSynchronize());
  for (int s = 0; s < 8; ++s) {
    EXPECT_EQUAL_AT(s, lists[s * 51], 50);
    for (int i = 0; i < 50; ++i) EXPECT_EQUAL_AT(i, lists[s * 51 + 1 + i], 100 * s + i);
  }
}

__global__ void append_across_streams(int* list, int rounds, int* errors) {
  cudaStream_t streams[2];
  cudaEvent_t event;
  for (cudaStream_t& stream : streams) *errors |= cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  *errors |= cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  for (int i = 0; i < rounds; ++i) {
    append<<<1, 1, 0, streams[i % 2]>>>(list, i);
    *errors |= cudaEventRecord(event, streams[i % 2]);
    *errors |= cudaStreamWaitEvent(streams[(i + 1) % 2], event, 0);
  }
  *errors |= cudaEventDestroy(event);
  for (cudaStream_t stream : streams) *errors |= cudaStreamDestroy(stream);
}

CASE(events_order_streams_of_the_device) {
  check::Managed<int> list(41), errors(1);
  append_across_streams<<<1, 1>>>(list, 40, errors);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(errors[0], 0);
  EXPECT_EQUAL(list[0], 40);
  for (int i = 0; i < 40; ++i) EXPECT_EQUAL_AT(i, list[1 + i], i);
}

__global__ void count_up(unsigned* counter) {
  atomicAdd(counter, 1u);
}

__global__ void fire_and_forget(unsigned* counter, int launches, int* errors) {
  for (int i = 0; i < launches; ++i) {
    count_up<<<1, 32, 0, cudaStreamFireAndForget>>>(counter);
    *errors |= cudaGetLastError();
  }
}

CASE(three_thousand_fire_and_forget_launches) {
  check::Managed<unsigned> counter(1);
  check::Managed<int> errors(1);
  CUDA_OK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096));
  fire_and_forget<<<1, 1>>>(counter, 3000, errors);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(errors[0], 0);
  EXPECT_EQUAL(counter[0], 3000u * 32);
}

__global__ void slow_count(unsigned* counter) {
  const long long begin = clock64();
  while (clock64() - begin < 200000) {
  }
  atomicAdd(counter, 1u);
}

__global__ void note_count(const volatile unsigned* counter, volatile unsigned* notes, int place) {
  notes[place] = counter[0] + 1000 * counter[1];
}

__global__ void launch_tails(unsigned* counter, unsigned* notes) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    note_count<<<1, 1, 0, cudaStreamTailLaunch>>>(counter, notes, 0);
    slow_count<<<1, 1, 0, cudaStreamTailLaunch>>>(counter);
    note_count<<<1, 1, 0, cudaStreamTailLaunch>>>(counter, notes, 1);
  }
  if (threadIdx.x == 0) {
    slow_count<<<1, 2>>>(counter);
    slow_count<<<1, 2, 0, cudaStreamFireAndForget>>>(counter);
  }
  atomicAdd(counter + 1, 1u);
}

CASE(tail_launches_come_after_the_grid_and_its_children_in_order) {
  check::Managed<unsigned> counter(2), notes(2);
  launch_tails<<<10, 8>>>(counter, notes);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(notes[0], 10u * 4 + 1000 * 80);
  EXPECT_EQUAL(notes[1], 10u * 4 + 1 + 1000 * 80);
}

__global__ void append_with_tail(int* list, int value, int depth) {
  append<<<1, 1>>>(list, value);
  if (depth > 0) append_with_tail<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 10 * value, depth - 1);
}

__global__ void launch_nested_tails(int* list) {
  append_with_tail<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 1, 2);
  append_with_tail<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 2, 2);
}

CASE(tail_launches_of_a_tail_launch_come_before_the_next_one) {
  check::Managed<int> list(7);
  launch_nested_tails<<<1, 1>>>(list);
  CUDA_OK(cudaDeviceSynchronize());
  const int expected[] = {6, 1, 10, 100, 2, 20, 200};
  for (int i = 0; i < 7; ++i) EXPECT_EQUAL_AT(i, list[i], expected[i]);
}

__global__ void copy_in_order(int* from, int* to, int count) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMemsetAsync(from, 1, count * sizeof(int), stream);
  add_one<<<1, 1, 0, stream>>>(from + 5);
  cudaMemcpyAsync(to, from, count * sizeof(int), cudaMemcpyDeviceToDevice, stream);
  add_one<<<1, 1, 0, stream>>>(from + 5);
  // A 2 x 3 corner of rows of 16 ints.
  cudaMemcpy2DAsync(to + 100, 64, from, 32, 8, 3, cudaMemcpyDeviceToDevice, stream);
  cudaStreamDestroy(stream);
}

CASE(copies_and_fills_are_in_the_stream_s_order) {
  constexpr int kCount = 90, kOne = 0x01010101;
  check::Managed<int> from(kCount), to(200);
  copy_in_order<<<1, 1>>>(from, to, kCount);
  CUDA_OK(cudaDeviceSynchronize());
  const check::Unrecorded because("CUDA's copies are not there yet");
  for (int i = 0; i < kCount; ++i) EXPECT_EQUAL_AT(i, from[i], i == 5 ? kOne + 2 : kOne);
  for (int i = 0; i < 200; ++i) {
    const bool corner = i >= 100 && i < 148 && (i - 100) % 16 < 2;
    EXPECT_EQUAL_AT(i, to[i], i < kCount ? (i == 5 ? kOne + 1 : kOne) : corner ? kOne : 0);
  }
}

// ---- when a grid is over ----

__global__ void launch_slow(unsigned* counter, int depth) {
  if (depth == 0)
    slow_count<<<4, 1, 0, cudaStreamFireAndForget>>>(counter);
  else
    launch_slow<<<2, 1, 0, cudaStreamFireAndForget>>>(counter, depth - 1);
}

__global__ void read_counter(const unsigned* counter, unsigned* seen) {
  *seen = *counter;
}

CASE(a_grid_is_over_when_all_that_it_launched_is) {
  check::Managed<unsigned> counter(1), seen(2);
  cudaStream_t first, second;
  cudaEvent_t event;
  CUDA_OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CUDA_OK(cudaEventCreate(&event));
  launch_slow<<<2, 1, 0, first>>>(counter, 3);
  CUDA_OK(cudaEventRecord(event, first));
  CUDA_OK(cudaStreamWaitEvent(second, event, 0));
  read_counter<<<1, 1, 0, second>>>(counter, seen);
  read_counter<<<1, 1, 0, first>>>(counter, seen + 1);
  CUDA_OK(cudaEventSynchronize(event));
  EXPECT_EQUAL(*static_cast<volatile unsigned*>(&counter[0]), 2u * 2 * 2 * 2 * 4);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(seen[0], 64u);
  EXPECT_EQUAL(seen[1], 64u);
  CUDA_OK(cudaEventDestroy(event));
  CUDA_OK(cudaStreamDestroy(first));
  CUDA_OK(cudaStreamDestroy(second));
}

CHECK_MAIN()
