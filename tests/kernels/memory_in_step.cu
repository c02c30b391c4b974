// What threads of a warp that run in step read and write: structures, columns, outputs and streams that no cache holds,
// rows of their own. Expectations follow from the kernels by hand.

#include <sys/mman.h>

#include <algorithm>
#include <cmath>

#include "check.h"

constexpr int kWarp = 32;

// A warp reads and writes its lanes' structures at once, and touches nothing of what no lane asks for: neither the rest
// of the last lane's structure, nor what comes before the first one's, nor structures of lanes that are not there. None
// of them is memory here.
class Fenced {
 public:
  explicit Fenced(int count) : count_(count) {
    void* place = mmap(nullptr, 3 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) std::abort();
    begin_ = static_cast<char*>(place);
    if (mprotect(begin_ + kPage, kPage, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  ~Fenced() { munmap(begin_, 3 * kPage); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  /// Numbers that begin where memory does, or end where it ends.
  int* numbers(bool at_the_end) {
    return reinterpret_cast<int*>(begin_ + (at_the_end ? 2 * kPage - count_ * sizeof(int) : kPage));
  }

 private:
  static constexpr size_t kPage = 65536;
  const int count_;
  char* begin_;
};

template <int kFields>
struct Fields {
  int at[kFields];
};

template <int kFields, int kFirst, int kUsed>
__global__ void moves_fields(const Fields<kFields>* from, Fields<kFields>* to, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, held[kUsed];
  if (i >= count) return;
#pragma unroll
  for (int k = 0; k < kUsed; ++k) held[k] = from[i].at[kFirst + k];
#pragma unroll
  for (int k = 0; k < kUsed; ++k) to[i].at[kFirst + k] = held[k] + k;
}

template <int kFields, int kFirst, int kUsed>
void expect_fields_move(int count) {
  const int numbers = (count - 1) * kFields + kUsed;  // from the first structure's first to the last one's last
  for (const bool at_the_end : {false, true}) {
    Fenced from(numbers), to(numbers);
    int *in = from.numbers(at_the_end), *out = to.numbers(at_the_end);
    for (int i = 0; i < numbers; ++i) in[i] = 1000 + 10 * i, out[i] = -1;
    moves_fields<kFields, kFirst, kUsed><<<(count + 63) / 64, 64>>>(
        reinterpret_cast<Fields<kFields>*>(in - kFirst), reinterpret_cast<Fields<kFields>*>(out - kFirst), count);
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < numbers; ++i)
      EXPECT_EQUAL_AT(i, out[i], i % kFields < kUsed ? 1000 + 10 * i + i % kFields : -1);
  }
}

CASE(structures_at_the_ends_of_memory) {
  int reads_any_memory = 0;
  CUDA_OK(cudaDeviceGetAttribute(&reads_any_memory, cudaDevAttrPageableMemoryAccess, 0));
  if (!reads_any_memory) return check::not_here("kernels do not read memory of the host's");
  for (const int count : {64, 128, 50, 1, 97}) {
    expect_fields_move<2, 0, 1>(count);
    expect_fields_move<2, 1, 1>(count);
    expect_fields_move<3, 0, 2>(count);
    expect_fields_move<3, 0, 3>(count);
    expect_fields_move<3, 1, 1>(count);
    expect_fields_move<4, 0, 1>(count);
    expect_fields_move<4, 1, 3>(count);
    expect_fields_move<4, 0, 4>(count);
    expect_fields_move<8, 2, 5>(count);
  }
}

/// A warp's lanes write where the next ones have read before.
__global__ void hands_on_structures(float4* points, float4* out) {
  __shared__ float4 shared[33];
  int i = threadIdx.x;
  float4 point = points[i];
  __syncwarp();
  point.x += 1, point.y *= 2, point.z += 2, point.w += 3;
  points[i + 1] = point;
  shared[i] = out[i];
  __syncwarp();
  float4 mine = shared[i];
  __syncwarp();
  mine.x += point.x, mine.y += 1, mine.z *= 3, mine.w -= 2;
  shared[i + 1] = mine;
  __syncwarp();
  out[i] = shared[i];
}

CASE(structures_are_handed_on_within_a_warp) {
  check::Managed<float4> points(kWarp + 1), out(kWarp);
  for (int i = 0; i <= kWarp; ++i) points[i] = make_float4(i, i + 1, i + 2, i + 3);
  for (int i = 0; i < kWarp; ++i) out[i] = make_float4(2 * i, 3 * i, 4 * i, 5 * i);
  hands_on_structures<<<1, kWarp>>>(points, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kWarp; ++i) {
    const float4 point = points[i + 1];
    EXPECT_EQUAL_AT(i, point.x == i + 1 && point.y == 2 * (i + 1) && point.z == i + 4 && point.w == i + 6, true);
    const float4 sum = out[i];
    const int k = i - 1;  // whose it is
    if (i == 0)
      EXPECT_EQUAL_AT(i, sum.x == 0 && sum.y == 0 && sum.z == 0 && sum.w == 0, true);
    else
      EXPECT_EQUAL_AT(i, sum.x == 3 * k + 1 && sum.y == 3 * k + 1 && sum.z == 12 * k && sum.w == 5 * k - 2, true);
  }
}

// ---- tables of which each block fills a column ----

/// Sums down columns of `rows` rows, which lie 4 KiB and more apart.
__global__ void sums_into_columns(const int* in, int rows, int pitch, int* out) {
  int sum = 0;
  for (int row = 0; row < rows; ++row) sum += in[row * pitch + blockIdx.x * blockDim.x + threadIdx.x];
  out[threadIdx.x * gridDim.x + blockIdx.x] = sum;
}

/// Of each block's numbers, how many have a digit; in a table for each row of blocks.
__global__ void counts_into_columns(const int* in, int of_block, int* out) {
  __shared__ int mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  int block = blockIdx.y * gridDim.x + blockIdx.x;
  for (int i = threadIdx.x; i < of_block; i += 256) atomicAdd(&mine[in[block * of_block + i] & 255], 1);
  __syncthreads();
  out[(blockIdx.y * 256 + threadIdx.x) * gridDim.x + blockIdx.x] = mine[threadIdx.x];
}

CASE(columns_of_blocks_are_written_in_the_end) {
  constexpr int kRows = 21;
  for (int blocks : {1, 15, 16, 40, 129})
    for (int threads : {32, 256}) {
      const int pitch = blocks * threads + 1024;
      check::Managed<int> in(kRows * pitch), out(blocks * threads + 1);
      for (int i = 0; i < kRows * pitch; ++i) in[i] = i * 2654435 >> 3 & 0xffff;
      out[blocks * threads] = 7;
      sums_into_columns<<<blocks, threads>>>(in, kRows, pitch, out);
      CUDA_OK(cudaDeviceSynchronize());
      for (int i = 0; i < blocks * threads; ++i) {
        int sum = 0;
        for (int row = 0; row < kRows; ++row) sum += in[row * pitch + i % blocks * threads + i / blocks];
        EXPECT_EQUAL_AT(i, out[i], sum);
      }
      EXPECT_EQUAL_AT(0, out[blocks * threads], 7);
    }
}

CASE(counts_of_blocks_are_columns) {
  constexpr int kOfBlock = 1000;
  for (dim3 grid : {dim3(1), dim3(16), dim3(37), dim3(5, 7), dim3(16, 2), dim3(33, 3)}) {
    const int blocks = grid.x * grid.y;
    check::Managed<int> in(blocks * kOfBlock), out(blocks * 256);
    for (int i = 0; i < blocks * kOfBlock; ++i) in[i] = i * 40503 >> 4;
    counts_into_columns<<<grid, 256>>>(in, kOfBlock, out);
    CUDA_OK(cudaDeviceSynchronize());
    std::vector<int> expected(blocks * 256);
    for (int i = 0; i < blocks * kOfBlock; ++i) {
      const int block = i / kOfBlock, x = block % grid.x, y = block / grid.x;
      ++expected[(y * 256 + (in[i] & 255)) * grid.x + x];
    }
    for (int i = 0; i < blocks * 256; ++i) EXPECT_EQUAL_AT(i, out[i], expected[i]);
  }
}

// Turns are 8 KiB or more apart; warps take different numbers of them, some none, and meet after the loop and after
// another one.
__global__ void sums_far_apart(const int* x, const int* turns, int step, int* out) {
  __shared__ int sums[256];
  int i = threadIdx.x, sum = 0, last = -1;
  for (int turn = 0; turn < turns[i]; ++turn) sum += x[turn * step + i];
  sums[i] = sum;
  __syncthreads();
  sum += sums[(i + kWarp) % blockDim.x];
  for (int at = i; at < 40 * step; at += step * gridDim.x) sum ^= last = x[at];
  __syncthreads();
  sums[i] = last;
  __syncthreads();
  out[i] = sum + sums[(i + 3 * kWarp) % blockDim.x];
}

CASE(warps_that_go_far_in_memory_meet_afterwards) {
  constexpr int kThreads = 256, kStep = 2048, kTurns = 40;
  check::Managed<int> x(kTurns * kStep), turns(kThreads), out(kThreads);
  for (int i = 0; i < kTurns * kStep; ++i) x[i] = i * 7 % 1009;
  for (int like_others : {0, 1}) {
    for (int i = 0; i < kThreads; ++i) turns[i] = (i / kWarp * 11 + (like_others ? 0 : i % kWarp * 3)) % (kTurns + 1);
    sums_far_apart<<<1, kThreads>>>(x, turns, kStep, out);
    CUDA_OK(cudaDeviceSynchronize());
    const auto sum_of = [&](int i) {
      int sum = 0;
      for (int turn = 0; turn < turns[i]; ++turn) sum += x[turn * kStep + i];
      return sum;
    };
    for (int i = 0; i < kThreads; ++i) {
      int sum = sum_of(i) + sum_of((i + kWarp) % kThreads);
      for (int turn = 0; turn < kTurns; ++turn) sum ^= x[turn * kStep + i];
      EXPECT_EQUAL_AT(i, out[i], sum + x[(kTurns - 1) * kStep + (i + 3 * kWarp) % kThreads]);
    }
  }
}

// An output that no cache holds, from the beginning of a line of it and from elsewhere.
__global__ void writes_much(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 3;
}

CASE(large_outputs_are_all_there) {
  const int n = (10 << 20) + 77, most = 16;
  check::Managed<int> in(n), out(n + most + 1);
  for (int i = 0; i < n; ++i) in[i] = i;
  for (int first : {0, 1, most}) {
    for (int i = 0; i <= n + most; ++i) out[i] = -1;
    writes_much<<<(n + 255) / 256, 256>>>(in, out + first, n);
    CUDA_OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i <= n + most; ++i) wrong += out[i] != (i < first || i >= first + n ? -1 : i - first + 3);
    EXPECT_EQUAL_AT(first, wrong, 0);
  }
}

// As large, but each thread writes its column of a volume, at the border another way; the rows are not lines where the
// width says so.
__global__ void writes_columns(const long long* in, long long* out, int width, int height, int planes) {
  __shared__ int row[16];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int z = 0; z < planes; ++z) {
    if (threadIdx.x == 0) row[threadIdx.y] = z * height + y;
    __syncthreads();
    int i = row[threadIdx.y] * width + x;
    if (x < width && y < height) {
      if (x == 0 || y == height - 1)
        out[i] = in[i];
      else
        out[i] = in[i] + in[i - 1];
    }
    __syncthreads();
  }
}

CASE(large_outputs_of_columns_are_all_there) {
  for (int width : {256, 250}) {
    const int height = 250, planes = width == 256 ? 68 : 5, n = width * height * planes;
    check::Managed<long long> in(n), out(n);
    for (int i = 0; i < n; ++i) in[i] = i, out[i] = -1;
    writes_columns<<<dim3(16, 16), dim3(16, 16)>>>(in, out, width, height, planes);
    CUDA_OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
      const int x = i % width, y = i / width % height;
      wrong += out[i] != (x == 0 || y == height - 1 ? i : 2 * i - 1);
    }
    EXPECT_EQUAL_AT(width, wrong, 0);
  }
}

// Two arrays that no cache holds, added to a third and to one of themselves; the last block is not whole.
__global__ void adds(const int* a, const int* b, int* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = 3 * a[i] + b[i];
}

CASE(large_streams_are_all_there) {
  const int n = (6 << 20) + 77;
  check::Managed<int> a(n), b(n), sum(n + 1);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 7 * i, sum[i] = -1;
  sum[n] = -1;
  for (int threads : {256, 128}) {
    adds<<<(n + threads - 1) / threads, threads>>>(a, b, sum, n);
    adds<<<(n + threads - 1) / threads, threads>>>(a, b, b, n);
    CUDA_OK(cudaDeviceSynchronize());
    int wrong = sum[n] != -1;
    for (int i = 0; i < n; ++i) {
      wrong += sum[i] != 10 * i || b[i] != 10 * i;
      b[i] = 7 * i, sum[i] = -1;
    }
    EXPECT_EQUAL_AT(threads, wrong, 0);
  }
}

// Each thread goes through a row of its own: by numbers and by pointers, a sum in a register and one in memory.
__global__ void goes_through_its_row(const int* in, const long long* wide, int rows, int pitch, int columns, int* sums,
                                     long long* wide_sums, int* out) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int sum = 0;
  for (int i = 0; i < columns; ++i) sum = 3 * sum + in[row * pitch + i];
  sums[row] = sum;
  const long long* numbers = wide + static_cast<size_t>(row) * pitch;
  long long total = 0;
  for (int i = 0; i < columns; ++i) total = 3 * total + numbers[i];
  wide_sums[row] = total;
  for (int i = 0; i < columns; ++i) out[row] = 3 * out[row] + in[row * pitch + i];
}

CASE(threads_go_through_rows_of_their_own) {
  for (const int rows : {256, 300})
    for (const int columns : {0, 1, 7, 16, 17, 33, 100}) {
      const int pitch = columns + rows % 7, n = rows * pitch;
      check::Managed<int> in(n + 1), sums(rows), out(rows);
      check::Managed<long long> wide(n + 1), wide_sums(rows);
      for (int i = 0; i < n; ++i) in[i] = i * 7 % 1009, wide[i] = (1LL << 40) + i;
      for (int row = 0; row < rows; ++row) out[row] = row;
      goes_through_its_row<<<(rows + 63) / 64, 64>>>(in, wide, rows, pitch, columns, sums, wide_sums, out);
      CUDA_OK(cudaDeviceSynchronize());
      int wrong = 0;
      for (int row = 0; row < rows; ++row) {
        unsigned sum = 0, output = row;
        unsigned long long total = 0;
        for (int i = row * pitch; i < row * pitch + columns; ++i) {
          sum = 3 * sum + in[i], output = 3 * output + in[i];
          total = 3 * total + wide[i];
        }
        wrong += sums[row] != static_cast<int>(sum) || out[row] != static_cast<int>(output) ||
                 wide_sums[row] != static_cast<long long>(total);
      }
      EXPECT_EQUAL_AT(columns, wrong, 0);
    }
}

// What a thread writes to its row's number is what it reads in a later turn.
__global__ void reads_what_it_writes(int* numbers, int pitch, int columns, int at) {
  int thread = threadIdx.x;
  int* out = numbers + thread * pitch + at;
  for (int i = 0; i < columns; ++i) *out += numbers[thread * pitch + i];
}

CASE(threads_read_what_they_wrote_in_their_row) {
  const int threads = 64, pitch = 60;
  for (const int at : {0, 3, 16, 31, 45, 50}) {
    check::Managed<int> numbers(threads * pitch);
    for (int i = 0; i < threads * pitch; ++i) numbers[i] = i % 101;
    reads_what_it_writes<<<1, threads>>>(numbers, pitch, 50, at);
    CUDA_OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int thread = 0; thread < threads; ++thread) {
      int row[60];
      for (int i = 0; i < pitch; ++i) row[i] = (thread * pitch + i) % 101;
      for (int i = 0; i < 50; ++i) row[at] += row[i];
      for (int i = 0; i < pitch; ++i) wrong += numbers[thread * pitch + i] != row[i];
    }
    EXPECT_EQUAL_AT(at, wrong, 0);
  }
}

// Threads read their rows in some turns, or with an end in the midst of a turn, or write before they read.
__global__ void reads_some_of_its_row(const int* in, int pitch, int columns, int padded, int other, int* sums) {
  int row = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (int i = 0; i < padded; ++i) sum = 3 * sum + (i < columns ? in[row * pitch + i] : 7);
  for (int i = 0; i < padded; ++i) sum = 3 * sum + (i % 4 != other ? in[row * pitch + i % columns] : in[i % columns]);
  const int* numbers = in + static_cast<size_t>(row) * pitch;
  for (size_t i = 0;;) {
    sum += numbers[i];
    if (++i == static_cast<size_t>(columns)) break;
    sum *= 3;
  }
  sums[row] = sum;
}

CASE(threads_read_some_of_their_row) {
  const int rows = 64;
  for (const int columns : {1, 5, 16, 31, 50}) {
    const int pitch = columns, padded = columns + 20;
    check::Managed<int> in(rows * pitch), sums(rows);
    for (int i = 0; i < rows * pitch; ++i) in[i] = i * 7 % 1009;
    reads_some_of_its_row<<<1, rows>>>(in, pitch, columns, padded, 2, sums);
    CUDA_OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int row = 0; row < rows; ++row) {
      const int* numbers = &in[row * pitch];
      unsigned sum = 0;
      for (int i = 0; i < padded; ++i) sum = 3 * sum + (i < columns ? numbers[i] : 7);
      for (int i = 0; i < padded; ++i) sum = 3 * sum + (i % 4 != 2 ? numbers[i % columns] : in[i % columns]);
      for (int i = 0; i < columns; ++i) sum = (i > 0 ? 3 * sum : sum) + numbers[i];
      wrong += sums[row] != static_cast<int>(sum);
    }
    EXPECT_EQUAL_AT(columns, wrong, 0);
  }
}

__global__ void writes_its_row(int* numbers, int columns, int* sums) {
  int* row = numbers + static_cast<size_t>(threadIdx.x) * columns;
  int sum = threadIdx.x;
  for (size_t i = 0; i < columns; ++i) {
    row[i] = 5 * sum + i;
    sums[threadIdx.x] = sum;
    sum += row[i] % 1000;
  }
  sums[threadIdx.x] = sum;
}

// A warp's threads read what the next thread wrote turns ago.
__global__ void hands_on_rows(int* numbers, int columns, int turns) {
  int* row = numbers + static_cast<size_t>(threadIdx.x) * columns;
  for (size_t i = 0; i < turns; ++i) {
    int number = row[i];
    __syncwarp();
    row[i] = number + 1000;
    __syncwarp();
  }
}

CASE(threads_write_their_rows) {
  const int threads = 32, columns = 40;
  check::Managed<int> numbers(threads * columns), sums(threads);
  writes_its_row<<<1, threads>>>(numbers, columns, sums);
  CUDA_OK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int thread = 0; thread < threads; ++thread) {
    int sum = thread;
    for (int i = 0; i < columns; ++i) {
      wrong += numbers[thread * columns + i] != 5 * sum + i;
      sum += (5 * sum + i) % 1000;
    }
    wrong += sums[thread] != sum;
  }
  EXPECT_EQUAL(wrong, 0);
  for (const int pitch : {7, 16, 20}) {
    const int turns = 30, count = (threads - 1) * pitch + turns;
    std::vector<int> expected(count);
    for (int i = 0; i < count; ++i) numbers[i] = expected[i] = i;
    hands_on_rows<<<1, threads>>>(numbers, pitch, turns);
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < turns; ++i)
      for (int thread = 0; thread < threads; ++thread) expected[thread * pitch + i] += 1000;
    int different = 0;
    for (int i = 0; i < count; ++i) different += numbers[i] != expected[i];
    EXPECT_EQUAL_AT(pitch, different, 0);
  }
}

// ---- a thread after the other, several turns at once ----

/// Each thread sums its row, and moves it on by `ahead` numbers: one number waits for another that was just written.
__global__ void moves_its_row_on(int* numbers, int pitch, int columns, int ahead, int* sums) {
  __shared__ int totals[64];
  int* row = numbers + threadIdx.x * pitch;
  int total = 0, most = -1000000;
  for (int i = 0; i < columns; ++i) total += row[i];
  totals[threadIdx.x] = total;
  __syncthreads();
  int other = totals[threadIdx.x ^ 1];
  for (int i = 0; i < columns; ++i) row[i + ahead] = 3 * row[i] + other;
  __syncthreads();
  for (int i = 0; i < columns; ++i) most = max(most, row[i]);
  sums[threadIdx.x] = most + other;
}

CASE(threads_move_their_rows_on) {
  const int threads = 64;
  for (const int columns : {0, 1, 15, 16, 17, 65, 300})
    for (const int ahead : {0, 1, 3, 70}) {
      const int pitch = columns + ahead + 5;
      check::Managed<int> numbers(threads * pitch), sums(threads);
      std::vector<int> expected(threads * pitch);
      for (int i = 0; i < threads * pitch; ++i) numbers[i] = expected[i] = i * 7919 % 1000 - 300;
      moves_its_row_on<<<1, threads>>>(numbers, pitch, columns, ahead, sums);
      CUDA_OK(cudaDeviceSynchronize());
      int totals[threads] = {}, wrong = 0;
      for (int thread = 0; thread < threads; ++thread)
        for (int i = 0; i < columns; ++i) totals[thread] += expected[thread * pitch + i];
      for (int thread = 0; thread < threads; ++thread) {
        int *row = &expected[thread * pitch], most = -1000000;
        for (int i = 0; i < columns; ++i)
          row[i + ahead] = static_cast<int>(3u * static_cast<unsigned>(row[i]) + totals[thread ^ 1]);
        for (int i = 0; i < columns; ++i) most = max(most, row[i]);
        wrong += sums[thread] != static_cast<int>(static_cast<unsigned>(most) + totals[thread ^ 1]);
      }
      for (int i = 0; i < threads * pitch; ++i) wrong += numbers[i] != expected[i];
      EXPECT_EQUAL_AT(columns * 100 + ahead, wrong, 0);
    }
}

/// Rows that begin and end anywhere. Floats are added in order.
__global__ void sums_ragged_rows(const int* numbers, const int* begins, int rows, int* sums, float* floats) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int sum = 0;
  float of_floats = 0;
  for (int i = begins[row]; i < begins[row + 1]; ++i) sum += numbers[i];
  for (int i = begins[row]; i < begins[row + 1]; ++i) of_floats += numbers[i] * 0.1f;
  sums[row] = sum;
  floats[row] = of_floats;
}

/// Of the upper halves of products.
__global__ void sums_ragged_products(const short* numbers, const int* begins, int rows, short* sums) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  short sum = 0, factor = static_cast<short>(row);
  for (int i = begins[row]; i < begins[row + 1]; ++i) sum = static_cast<short>(sum + __mulhi(numbers[i], factor));
  sums[row] = sum;
}

/// The least of each row, of zeros of both signs.
__global__ void least_of_ragged_rows(const float* numbers, const int* begins, int rows, float* least) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float found = 1e30f;
  for (int i = begins[row]; i < begins[row + 1]; ++i) found = fminf(found, numbers[i] * numbers[i] * numbers[i]);
  least[row] = found;
}

CASE(threads_sum_ragged_rows) {
  const int rows = 500;
  check::Managed<int> begins(rows + 1), sums(rows);
  check::Managed<float> floats(rows);
  begins[0] = 0;
  for (int row = 0; row < rows; ++row) begins[row + 1] = begins[row] + (row % 7 == 0 ? 0 : row * 37 % 150);
  check::Managed<int> numbers(begins[rows]);
  for (int i = 0; i < begins[rows]; ++i) numbers[i] = i * 7919 % 1000;
  check::Managed<short> factors(begins[rows]), products(rows);
  for (int i = 0; i < begins[rows]; ++i) factors[i] = static_cast<short>(numbers[i] - 500);
  sums_ragged_rows<<<(rows + 63) / 64, 64>>>(numbers, begins, rows, sums, floats);
  sums_ragged_products<<<(rows + 63) / 64, 64>>>(factors, begins, rows, products);
  CUDA_OK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int row = 0; row < rows; ++row) {
    int sum = 0;
    float of_floats = 0;
    for (int i = begins[row]; i < begins[row + 1]; ++i)
      sum += numbers[i], of_floats = fmaf(numbers[i], 0.1f, of_floats);
    int of_products = 0;
    for (int i = begins[row]; i < begins[row + 1]; ++i) of_products += factors[i] * row < 0 ? -1 : 0;
    wrong += sums[row] != sum || floats[row] != of_floats || products[row] != of_products;
  }
  EXPECT_EQUAL(wrong, 0);
  check::Managed<float> zeros(begins[rows]), least(rows);
  for (int i = 0; i < begins[rows]; ++i) zeros[i] = i % 41 == 40 ? -0.0f : 0.0f;
  least_of_ragged_rows<<<(rows + 63) / 64, 64>>>(zeros, begins, rows, least);
  CUDA_OK(cudaDeviceSynchronize());
  for (int row = 0; row < rows; ++row) {
    bool is_negative = false;
    for (int i = begins[row]; i < begins[row + 1]; ++i) is_negative |= i % 41 == 40;
    EXPECT_EQUAL_AT(row, least[row], begins[row] == begins[row + 1] ? 1e30f : 0);
    EXPECT_EQUAL_AT(row, std::signbit(least[row]), is_negative);
  }
}

// ---- counts of what lies over the grid ----

/// Each block counts its bytes, and gives every one a ticket among those like it.
__global__ void counts_over_the_grid(const unsigned char* bytes, int n, int* bins, int* tickets) {
  __shared__ int mine[256], next[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = next[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[bytes[i]], 1);
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    tickets[i] = atomicAdd(&next[bytes[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    atomicAdd(&bins[i], mine[i]);
    atomicAdd(&bins[256 + i], next[i]);
  }
}

CASE(blocks_count_over_the_grid) {
  const int most = 60000;
  check::Managed<unsigned char> bytes(most);
  check::Managed<int> tickets(most), bins(512);
  for (int i = 0; i < most; ++i) bytes[i] = i * 2654435u >> 9 & i >> 3 & 255;
  for (const int threads : {64, 256})
    for (const int blocks : {1, 3, 40})
      for (const int n : {1, 255, blocks * threads * 4, std::min(most, blocks * threads * 9 - 1), most}) {
        for (int i = 0; i < 512; ++i) bins[i] = 0;
        counts_over_the_grid<<<blocks, threads>>>(bytes, n, bins, tickets);
        CUDA_OK(cudaDeviceSynchronize());
        std::vector<int> counts(blocks * 256), seen(n);
        int wrong = 0;
        for (int i = 0; i < n; ++i) ++counts[i / threads % blocks * 256 + bytes[i]];
        std::vector<int> begins(blocks * 256 + 1);
        for (int i = 0; i < blocks * 256; ++i) begins[i + 1] = begins[i] + counts[i];
        for (int i = 0; i < n; ++i) {
          const int kind = i / threads % blocks * 256 + bytes[i];
          if (tickets[i] < 0 || tickets[i] >= counts[kind] || seen[begins[kind] + tickets[i]]++) ++wrong;
        }
        for (int bin = 0; bin < 256; ++bin) {
          int count = 0;
          for (int block = 0; block < blocks; ++block) count += counts[block * 256 + bin];
          wrong += bins[bin] != count || bins[256 + bin] != count;
        }
        EXPECT_EQUAL_AT(n, wrong, 0);
      }
}

CHECK_MAIN()
