// Conway's game of life on a torus: a glider crosses the field and comes back to where it began; a random field is
// compared with the host's generations.

#include <vector>

#include "example.h"

__host__ __device__ inline unsigned char next_state(const unsigned char* cells, int x, int y, int n) {
  int alive = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy) alive += cells[((y + dy + n) % n) * n + (x + dx + n) % n];
  return alive == 3 || (alive == 2 && cells[y * n + x]);
}

__global__ void generation(const unsigned char* from, unsigned char* to, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) to[y * n + x] = next_state(from, x, y, n);
}

std::vector<unsigned char> evolve(const std::vector<unsigned char>& field, int n, int generations) {
  unsigned char *from, *to;
  CHECK_CUDA(cudaMalloc(&from, field.size()));
  CHECK_CUDA(cudaMalloc(&to, field.size()));
  CHECK_CUDA(cudaMemcpy(from, field.data(), field.size(), cudaMemcpyHostToDevice));
  for (int i = 0; i < generations; ++i) {
    generation<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(from, to, n);
    std::swap(from, to);
  }
  std::vector<unsigned char> result(field.size());
  CHECK_CUDA(cudaMemcpy(result.data(), from, field.size(), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(from));
  CHECK_CUDA(cudaFree(to));
  return result;
}

int main() {
  const int n = 64;
  std::vector<unsigned char> glider(n * n);
  for (int cell : {1, n + 2, 2 * n, 2 * n + 1, 2 * n + 2}) glider[cell] = 1;
  bool home = evolve(glider, n, 4 * n) == glider;  // a glider moves one cell down and right in four generations
  std::vector<unsigned char> after = evolve(glider, n, 8);
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 16; ++x) std::putchar(after[y * n + x] ? '#' : '.');
    std::putchar('\n');
  }

  const int m = 200, generations = 20;
  std::vector<unsigned char> field(m * m), host;
  unsigned state = 7;
  for (unsigned char& cell : field) cell = (state = state * 1664525u + 1013904223u) >> 31;
  host = field;
  for (int i = 0; i < generations; ++i) {
    std::vector<unsigned char> next(host.size());
    for (int y = 0; y < m; ++y)
      for (int x = 0; x < m; ++x) next[y * m + x] = next_state(host.data(), x, y, m);
    host = next;
  }
  return verdict("game of life", home && evolve(field, m, generations) == host);
}
