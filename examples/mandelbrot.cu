// Draws the Mandelbrot set into mandelbrot.png and compares every pixel with the host's count.

#include <vector>

#include "example.h"
#include "png.h"

__host__ __device__ inline int escape(double x0, double y0, int limit) {
  double x = 0, y = 0;
  int count = 0;
  for (; count < limit && x * x + y * y <= 4; ++count) {
    double next = x * x - y * y + x0;
    y = 2 * x * y + y0;
    x = next;
  }
  return count;
}

__global__ void draw(int* counts, int width, int height, int limit) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && row < height)
    counts[row * width + column] = escape(-2.2 + 3.2 * column / width, -1.2 + 2.4 * row / height, limit);
}

int main() {
  const int width = 640, height = 480, limit = 200;
  int* counts;
  CHECK_CUDA(cudaMallocManaged(&counts, width * height * sizeof(int)));
  draw<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(counts, width, height, limit);
  CHECK_CUDA(cudaDeviceSynchronize());

  int different = 0;
  std::vector<uint8_t> picture;
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      int count = counts[row * width + column];
      different += count != escape(-2.2 + 3.2 * column / width, -1.2 + 2.4 * row / height, limit);
      double t = count == limit ? 0 : std::sqrt(static_cast<double>(count) / limit);
      picture.insert(picture.end(), {static_cast<uint8_t>(255 * t), static_cast<uint8_t>(180 * t * t),
                                     static_cast<uint8_t>(90 + 165 * t * (1 - t) * 2)});
    }
  bool written = PngWriter::write("mandelbrot.png", picture, width, height);
  std::printf("%d of %d pixels differ from the host's (fused multiply-add may move points on the edge); %s\n",
              different, width * height, written ? "picture in mandelbrot.png" : "mandelbrot.png could not be written");
  CHECK_CUDA(cudaFree(counts));
  return verdict("mandelbrot", written && different < width * height / 500);
}
