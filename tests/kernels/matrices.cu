// Warp matrix functions of mma.h. Oracle: the product of whole matrices, summed on the host in double; the factors are
// small integers, so that every sum is exact in every type.
#include <mma.h>

#include <vector>

#include "check.h"

using namespace nvcuda;

/// D = A B + 2 C, the second C element by element.
template <int m, int n, int k, typename Factor, typename Memory, typename Sum, typename LayoutA, typename LayoutB>
__global__ void multiply(const Memory* a, const Memory* b, const Sum* c, Sum* d, int stride_a, int stride_b) {
  wmma::fragment<wmma::matrix_a, m, n, k, Factor, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, m, n, k, Factor, LayoutB> fb;
  wmma::fragment<wmma::accumulator, m, n, k, Sum> fc, fd;
  wmma::load_matrix_sync(fa, a, stride_a);
  wmma::load_matrix_sync(fb, b, stride_b);
  wmma::load_matrix_sync(fc, c, n, wmma::mem_row_major);
  wmma::fill_fragment(fd, Sum(0));
  for (int i = 0; i < (int)fd.num_elements; ++i) fd.x[i] = fd.x[i] + fc.x[i];
  wmma::mma_sync(fd, fa, fb, fd);
  for (int i = 0; i < (int)fd.num_elements; ++i) fd.x[i] = fd.x[i] + fc.x[i];
  wmma::store_matrix_sync(d, fd, m, wmma::mem_col_major);
}

template <int m, int n, int k, typename Factor, typename Memory, typename Sum, bool a_by_column, bool b_by_column>
bool product_is_right() {
  std::vector<Memory> a(m * k), b(k * n);
  std::vector<Sum> c(m * n), d(m * n);
  std::vector<int> x(m * k), y(k * n), z(m * n);
  for (int i = 0; i < m * k; ++i) x[i] = (i * 7 + i / 5) % 13;
  for (int i = 0; i < k * n; ++i) y[i] = (i * 5 + i / 3) % 11;
  for (int i = 0; i < m * n; ++i) z[i] = i % 64, c[i] = Sum(float(z[i]));
  for (int row = 0; row < m; ++row)
    for (int i = 0; i < k; ++i) a[a_by_column ? i * m + row : row * k + i] = Memory(float(x[row * k + i]));
  for (int i = 0; i < k; ++i)
    for (int column = 0; column < n; ++column)
      b[b_by_column ? column * k + i : i * n + column] = Memory(float(y[i * n + column]));
  Memory *device_a, *device_b;
  Sum *device_c, *device_d;
  cudaMalloc(&device_a, sizeof(Memory) * a.size()), cudaMalloc(&device_b, sizeof(Memory) * b.size());
  cudaMalloc(&device_c, sizeof(Sum) * c.size()), cudaMalloc(&device_d, sizeof(Sum) * d.size());
  cudaMemcpy(device_a, a.data(), sizeof(Memory) * a.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), sizeof(Memory) * b.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(device_c, c.data(), sizeof(Sum) * c.size(), cudaMemcpyHostToDevice);
  using LayoutA = std::conditional_t<a_by_column, wmma::col_major, wmma::row_major>;
  using LayoutB = std::conditional_t<b_by_column, wmma::col_major, wmma::row_major>;
  multiply<m, n, k, Factor, Memory, Sum, LayoutA, LayoutB>
      <<<1, 32>>>(device_a, device_b, device_c, device_d, a_by_column ? m : k, b_by_column ? k : n);
  bool right = cudaMemcpy(d.data(), device_d, sizeof(Sum) * d.size(), cudaMemcpyDeviceToHost) == cudaSuccess;
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = 2 * z[row * n + column];
      for (int i = 0; i < k; ++i) sum += double(x[row * k + i]) * y[i * n + column];
      EXPECT_EQUAL_AT(column * m + row, double(float(d[column * m + row])), sum);
    }
  cudaFree(device_a), cudaFree(device_b), cudaFree(device_c), cudaFree(device_d);
  return right;
}

template <int m, int n, int k, typename Factor, typename Memory, typename Sum>
bool every_layout_is_right() {
  return product_is_right<m, n, k, Factor, Memory, Sum, false, false>() &&
         product_is_right<m, n, k, Factor, Memory, Sum, false, true>() &&
         product_is_right<m, n, k, Factor, Memory, Sum, true, false>() &&
         product_is_right<m, n, k, Factor, Memory, Sum, true, true>();
}

__global__ void count_bits(const unsigned* a, const unsigned* b, int* d) {
  wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> fd;
  wmma::load_matrix_sync(fa, a, 128);
  wmma::load_matrix_sync(fb, b, 128);
  wmma::fill_fragment(fd, 1);
  wmma::bmma_sync(fd, fa, fb, fd);
  wmma::store_matrix_sync(d, fd, 8, wmma::mem_row_major);
}

bool bits_are_right() {
  unsigned a[32], b[32];
  int d[64];
  for (unsigned i = 0; i < 32; ++i) a[i] = i * 0x9e3779b9u, b[i] = (i + 7) * 0x85ebca6bu;
  unsigned *device_a, *device_b;
  int* device_d;
  cudaMalloc(&device_a, sizeof a), cudaMalloc(&device_b, sizeof b), cudaMalloc(&device_d, sizeof d);
  cudaMemcpy(device_a, a, sizeof a, cudaMemcpyHostToDevice), cudaMemcpy(device_b, b, sizeof b, cudaMemcpyHostToDevice);
  count_bits<<<1, 32>>>(device_a, device_b, device_d);
  bool right = cudaMemcpy(d, device_d, sizeof d, cudaMemcpyDeviceToHost) == cudaSuccess;
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column) {
      int count = 1;
      for (int i = 0; i < 4; ++i) count += __builtin_popcount(a[row * 4 + i] ^ b[column * 4 + i]);
      EXPECT_EQUAL_AT(row * 8 + column, d[row * 8 + column], count);
    }
  cudaFree(device_a), cudaFree(device_b), cudaFree(device_d);
  return right;
}

#define SHAPES(name, m, n, k, ...)                                       \
  CASE(name) {                                                           \
    EXPECT_EQUAL((every_layout_is_right<m, n, k, __VA_ARGS__>()), true); \
  }
SHAPES(half_16_16, 16, 16, 16, __half, __half, float)
SHAPES(half_8_32, 8, 32, 16, __half, __half, float)
SHAPES(half_32_8, 32, 8, 16, __half, __half, __half)
SHAPES(half_sums, 16, 16, 16, __half, __half, __half)
SHAPES(bfloat_16_16, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, float)
SHAPES(bfloat_8_32, 8, 32, 16, __nv_bfloat16, __nv_bfloat16, float)
SHAPES(bfloat_32_8, 32, 8, 16, __nv_bfloat16, __nv_bfloat16, float)
SHAPES(tf32, 16, 16, 8, wmma::precision::tf32, float, float)
SHAPES(doubles, 8, 8, 4, double, double, double)
SHAPES(signed_bytes, 16, 16, 16, signed char, signed char, int)
SHAPES(bytes_8_32, 8, 32, 16, unsigned char, unsigned char, int)
SHAPES(bytes_32_8, 32, 8, 16, unsigned char, unsigned char, int)
CASE(bits) {
  EXPECT_EQUAL(bits_are_right(), true);
}

CHECK_MAIN()
