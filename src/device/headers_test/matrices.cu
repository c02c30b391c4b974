// Warp matrix functions.
#include <mma.h>
using namespace nvcuda::wmma;

__global__ void kernel(const __half* a, const __half* b, float* d, const float* x, const float* y) {
  fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  fill_fragment(fc, 0.0f);
  load_matrix_sync(fa, a, 16);
  load_matrix_sync(fb, b, 16);
  mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 2;
  store_matrix_sync(d, fc, 16, mem_row_major);
  fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> ta;
  fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> tb;
  fragment<accumulator, 16, 16, 8, float> tc;
  load_matrix_sync(ta, x, 8);
  load_matrix_sync(tb, y, 16);
  load_matrix_sync(tc, d, 16, mem_col_major);
  for (int i = 0; i < ta.num_elements; i++) ta.x[i] = __float_to_tf32(ta.x[i]);
  mma_sync(tc, ta, tb, tc);
  store_matrix_sync(d, tc, 16, mem_col_major);
}

int main() {
  kernel<<<1, 32>>>(nullptr, nullptr, nullptr, nullptr, nullptr);
  return 0;
}
