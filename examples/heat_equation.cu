// Heat spreading over a plate with two hot spots: an explicit 5-point stencil, drawn into heat_equation.png. Compared
// with the host's steps.

#include <vector>

#include "example.h"
#include "png.h"

__host__ __device__ inline float spread(const float* t, int x, int y, int width, float rate) {
  const float* here = t + y * width + x;
  return here[0] + rate * (here[-1] + here[1] + here[-width] + here[width] - 4 * here[0]);
}

__global__ void step(const float* from, float* to, int width, int height, float rate) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < width - 1 && y < height - 1) to[y * width + x] = spread(from, x, y, width, rate);
}

int main() {
  const int width = 256, height = 192, steps = 300;
  const float rate = 0.2f;
  std::vector<float> plate(width * height, 0.0f);
  for (int y = 1; y < height - 1; ++y)
    for (int x = 1; x < width - 1; ++x) {
      bool left = (x - 80) * (x - 80) + (y - 90) * (y - 90) < 900,
           right = (x - 180) * (x - 180) + (y - 110) * (y - 110) < 400;
      plate[y * width + x] = left ? 1.0f : right ? 0.8f : 0.0f;
    }
  const size_t bytes = plate.size() * sizeof(float);
  float *from, *to;
  CHECK_CUDA(cudaMalloc(&from, bytes));
  CHECK_CUDA(cudaMalloc(&to, bytes));
  CHECK_CUDA(cudaMemcpy(from, plate.data(), bytes, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(to, plate.data(), bytes, cudaMemcpyHostToDevice));
  for (int i = 0; i < steps; ++i) {
    step<<<dim3(width / 32, height / 8), dim3(32, 8)>>>(from, to, width, height, rate);
    std::swap(from, to);
  }
  std::vector<float> result(plate.size());
  CHECK_CUDA(cudaMemcpy(result.data(), from, bytes, cudaMemcpyDeviceToHost));

  std::vector<float> other = plate;
  for (int i = 0; i < steps; ++i) {
    for (int y = 1; y < height - 1; ++y)
      for (int x = 1; x < width - 1; ++x) other[y * width + x] = spread(plate.data(), x, y, width, rate);
    std::swap(plate, other);
  }
  double worst = 0;
  bool is_close = true;
  std::vector<uint8_t> picture;
  for (size_t i = 0; i < result.size(); ++i) {
    const double difference = std::fabs(result[i] - plate[i]);
    is_close &= difference < 1e-5;  // false of a NaN
    worst = std::fmax(worst, difference);
    float t = std::fmin(1.0f, std::fmax(0.0f, result[i]));
    picture.insert(picture.end(), {static_cast<uint8_t>(255 * t), static_cast<uint8_t>(255 * t * t * t),
                                   static_cast<uint8_t>(80 * (1 - t))});
  }
  bool written = PngWriter::write("heat_equation.png", picture, width, height);
  std::printf("largest difference from the host after %d steps: %.1e; %s\n", steps, worst,
              written ? "picture in heat_equation.png" : "heat_equation.png could not be written");
  CHECK_CUDA(cudaFree(from));
  CHECK_CUDA(cudaFree(to));
  return verdict("heat equation", written && is_close);
}
