#pragma once

// What a C++ programmer would write for the CPU: natural OpenMP, built with -O3 -march=native. Baselines of ./bench
// cpu.

extern "C" {
void omp_saxpy(float a, const float* x, float* y, int n);
void omp_sgemm(const float* a, const float* b, float* c, int n);
double omp_sum(const float* x, int n);
void omp_n_body(const float* bodies, float* forces, int n);
void omp_mandelbrot(int* counts, int width, int height, int limit);
void omp_copy(const float* x, float* y, int n);
}
