// Divergence, early exit, loops, calls, recursion, function pointers. Oracle: the same functions run on the host.

#include <new>

#include "check.h"

__host__ __device__ int collatz(unsigned n) {
  int steps = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    if (++steps > 1000) return -1;
  }
  return steps;
}

__global__ void collatz_kernel(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = collatz(i + 1);
}

CASE(divergent_loops) {
  const int n = 1000;
  check::Managed<int> out(n);
  collatz_kernel<<<(n + 127) / 128, 128>>>(out, n);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT_EQUAL_AT(i, out[i], collatz(i + 1));
}

__host__ __device__ int choose(int i) {
  switch (i % 9) {
    case 0:
      return i * 3;
    case 1:
      return i - 7;
    case 2:
      return i ^ 0x55;
    case 3:
      return i << 2;
    case 4:
      return -i;
    case 5:
      return i / 3;
    case 7:
      return 77;
    default:
      return i + 1000;
  }
}

__global__ void switch_kernel(int* out) {
  out[threadIdx.x] = choose(threadIdx.x);
}

CASE(switches) {
  check::Managed<int> out(256);
  switch_kernel<<<1, 256>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 256; ++i) EXPECT_EQUAL_AT(i, out[i], choose(i));
}

__host__ __device__ __attribute__((noinline)) unsigned long long fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__global__ void recursion_kernel(unsigned long long* out) {
  out[threadIdx.x] = fibonacci(threadIdx.x % 16);
}

CASE(recursion) {
  check::Managed<unsigned long long> out(64);
  recursion_kernel<<<1, 64>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i) EXPECT_EQUAL_AT(i, out[i], fibonacci(i % 16));
}

using Operation = int (*)(int, int);
__host__ __device__ int op_add(int a, int b) {
  return a + b;
}
__host__ __device__ int op_sub(int a, int b) {
  return a - b;
}
__host__ __device__ int op_mul(int a, int b) {
  return a * b;
}
__device__ Operation operations[3] = {op_add, op_sub, op_mul};
__device__ Operation chosen;

__global__ void pointer_table_kernel(int* out) {
  int i = threadIdx.x;
  out[i] = operations[i % 3](i, 5);
}

__global__ void choose_kernel() {
  chosen = op_mul;
}
__global__ void chosen_kernel(int* out) {
  out[threadIdx.x] = chosen(threadIdx.x, 7);
}

__global__ void passed_kernel(Operation operation, int* out) {
  out[threadIdx.x] = operation(threadIdx.x, 3);
}

CASE(function_pointers) {
  const Operation host[3] = {op_add, op_sub, op_mul};
  check::Managed<int> out(96);
  pointer_table_kernel<<<1, 96>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 96; ++i) EXPECT_EQUAL_AT(i, out[i], host[i % 3](i, 5));

  choose_kernel<<<1, 1>>>();
  chosen_kernel<<<1, 96>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 96; ++i) EXPECT_EQUAL_AT(i, out[i], i * 7);

  // A pointer copied to the host and handed to another kernel, as samples do with cudaMemcpyFromSymbol.
  Operation pointer = nullptr;
  CUDA_OK(cudaMemcpyFromSymbol(&pointer, operations, sizeof pointer, sizeof pointer));
  passed_kernel<<<1, 96>>>(pointer, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 96; ++i) EXPECT_EQUAL_AT(i, out[i], i - 3);
}

struct Shape {
  __device__ virtual int area(int scale) const { return scale; }
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area(int scale) const override { return side * side * scale; }
};

__global__ void virtual_kernel(int* out) {
  Square square(threadIdx.x);
  Shape shape;
  const Shape* objects[2] = {&square, &shape};
  out[threadIdx.x] = objects[threadIdx.x % 2]->area(10);
}

CASE(virtual_functions) {
  check::Managed<int> out(32);
  virtual_kernel<<<1, 32>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) EXPECT_EQUAL_AT(i, out[i], i % 2 ? 10 : i * i * 10);
}

struct Step {
  __host__ __device__ virtual unsigned apply(unsigned x) const = 0;
  __host__ __device__ virtual ~Step() {}
};
struct Scale : Step {
  unsigned by;
  __host__ __device__ explicit Scale(unsigned b) : by(b) {}
  __host__ __device__ unsigned apply(unsigned x) const override { return x * by; }
};
struct Odd : Step {
  __host__ __device__ unsigned apply(unsigned x) const override { return x % 2 ? 3 * x + 1 : x / 2; }
};

constexpr int kSteps = 5;
struct Steps {
  alignas(16) char memory[kSteps][sizeof(Scale)];
  const Step* at[kSteps];
  __host__ __device__ void make() {
    for (int i = 0; i < kSteps; ++i)
      if (i % 2)
        at[i] = new (memory[i]) Scale(i);
      else
        at[i] = new (memory[i]) Odd;
  }
  __host__ __device__ unsigned apply(unsigned x) const {
    for (unsigned i = 0; i < 2 + x % 7; ++i) x = at[(x + i) % kSteps]->apply(x);
    return x;
  }
};
__device__ Steps device_steps;

__global__ void make_steps() {
  device_steps.make();
}
__global__ void apply_steps(unsigned* out) {
  out[threadIdx.x] = device_steps.apply(threadIdx.x);
}

CASE(objects_that_another_kernel_made) {
  check::Managed<unsigned> out(100);
  make_steps<<<1, 1>>>();
  apply_steps<<<1, 100>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  Steps steps;
  steps.make();
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQUAL_AT(i, out[i], steps.apply(i));
}

__global__ void indices_kernel(unsigned* out) {
  unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}

CASE(three_dimensional_indices) {
  check::Managed<unsigned> out(2 * 3 * 4 * 5 * 2 * 3);
  indices_kernel<<<dim3(2, 3, 4), dim3(5, 2, 3)>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (unsigned b = 0; b < 24; ++b)
    for (unsigned t = 0; t < 30; ++t) EXPECT_EQUAL_AT(b * 30 + t, out[b * 30 + t], b * 1000 + t);
}

struct Big {
  int values[50];
  double scale;
};

__global__ void struct_kernel(char tag, Big big, short shift, float3 offset, double* out) {
  big.values[threadIdx.x] += tag;  // a thread's own copy
  out[threadIdx.x] = big.values[threadIdx.x] * big.scale + shift + offset.x + offset.y * 2 + offset.z * 4;
}

CASE(structure_parameters) {
  Big big;
  for (int i = 0; i < 50; ++i) big.values[i] = i * i;
  big.scale = 0.25;
  check::Managed<double> out(50);
  struct_kernel<<<1, 50>>>('A', big, -3, make_float3(1, 2, 3), out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 50; ++i) EXPECT_EQUAL_AT(i, out[i], (i * i + 'A') * 0.25 - 3 + 1 + 4 + 12);
}

__global__ void local_array_kernel(int* out) {
  int values[64];
  for (int i = 0; i < 64; ++i) values[i] = (i * 37 + threadIdx.x) % 64;
  int at = threadIdx.x % 64, sum = 0;
  for (int i = 0; i < 64; ++i) {
    at = values[at];
    sum += at;
  }
  out[threadIdx.x] = sum;
}

CASE(local_arrays) {
  check::Managed<int> out(128);
  local_array_kernel<<<1, 128>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int t = 0; t < 128; ++t) {
    int at = t % 64, sum = 0;
    for (int i = 0; i < 64; ++i) {
      at = (at * 37 + t) % 64;
      sum += at;
    }
    EXPECT_EQUAL_AT(t, out[t], sum);
  }
}

CHECK_MAIN()
