#include "baselines.h"

#include <cmath>

void omp_copy(const float* x, float* y, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) y[i] = x[i];
}

void omp_saxpy(float a, const float* x, float* y, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

void omp_sgemm(const float* a, const float* b, float* c, int n) {
#pragma omp parallel for
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) c[row * n + column] = 0;
    for (int k = 0; k < n; ++k)
      for (int column = 0; column < n; ++column) c[row * n + column] += a[row * n + k] * b[k * n + column];
  }
}

double omp_sum(const float* x, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += x[i];
  return sum;
}

void omp_n_body(const float* bodies, float* forces, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    float fx = 0, fy = 0, fz = 0;
    for (int k = 0; k < n; ++k) {
      float dx = bodies[4 * k] - bodies[4 * i], dy = bodies[4 * k + 1] - bodies[4 * i + 1],
            dz = bodies[4 * k + 2] - bodies[4 * i + 2];
      float inverse = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + 0.01f);
      float weight = bodies[4 * k + 3] * inverse * inverse * inverse;
      fx += dx * weight;
      fy += dy * weight;
      fz += dz * weight;
    }
    forces[3 * i] = fx;
    forces[3 * i + 1] = fy;
    forces[3 * i + 2] = fz;
  }
}

void omp_mandelbrot(int* counts, int width, int height, int limit) {
#pragma omp parallel for schedule(dynamic)
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      float x0 = -2.2f + 3.2f * column / width, y0 = -1.2f + 2.4f * row / height, x = 0, y = 0;
      int count = 0;
      for (; count < limit && x * x + y * y <= 4; ++count) {
        float next = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = next;
      }
      counts[row * width + column] = count;
    }
}
