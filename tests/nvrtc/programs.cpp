// Programs compiled at run time, loaded as PTX and as cubin, and run. What they compute is compared with the same in
// host arithmetic, where every operation is exact or rounded as IEEE says.
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "loaded_program.h"

using nvrtc_test::Buffer;
using nvrtc_test::Form;
using nvrtc_test::Loaded;
using testing::HasSubstr;

namespace {

constexpr unsigned kCount = 1000;

/// 0, 1, 2 and so on, each times `step`.
template <typename T>
std::vector<T> ramp(T step = T(1), unsigned count = kCount) {
  std::vector<T> values(count);
  for (unsigned i = 0; i < count; ++i) values[i] = step * static_cast<T>(i);
  return values;
}

class Programs : public testing::TestWithParam<Form> {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Nvrtc, Programs, testing::Values(Form::Ptx, Form::Cubin),
                         [](const auto& form) { return form.param == Form::Ptx ? "ptx" : "cubin"; });

TEST_P(Programs, Saxpy) {
  Loaded program(R"(
    extern "C" __global__ void saxpy(float a, float* x, float* y, float* out, size_t n) {
      size_t tid = blockIdx.x * blockDim.x + threadIdx.x;
      if (tid < n) out[tid] = a * x[tid] + y[tid];
    })",
                 {"saxpy"}, {}, GetParam());
  const auto x = ramp(0.25f), y = ramp(3.0f);
  Buffer<float> in(x), more(y), out(y);
  ASSERT_EQ(program.launch("saxpy", 4, 256, 0, 2.5f, in.address, more.address, out.address, size_t(kCount)),
            CUDA_SUCCESS);
  const auto results = out.values();
  for (unsigned i = 0; i < kCount; ++i) ASSERT_EQ(results[i], std::fma(2.5f, x[i], y[i])) << i;
}

TEST_P(Programs, TemplatesByName) {
  Loaded program(R"(
    template <typename T, int N> struct Power {
      __device__ static T of(T x) { return x * Power<T, N - 1>::of(x); }
    };
    template <typename T> struct Power<T, 0> { __device__ static T of(T) { return T(1); } };
    namespace math { template <typename T, int N> __global__ void power(T* x) {
      x[threadIdx.x] = Power<T, N>::of(x[threadIdx.x]);
    } })",
                 {"math::power<long long, 3>", "&math::power<double, 2>"}, {}, GetParam());
  Buffer<long long> cubes(ramp<long long>(1, 100));
  Buffer<double> squares(ramp(0.5, 100));
  ASSERT_EQ(program.launch("math::power<long long, 3>", 1, 100, 0, cubes.address), CUDA_SUCCESS);
  ASSERT_EQ(program.launch("&math::power<double, 2>", 1, 100, 0, squares.address), CUDA_SUCCESS);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(cubes.values()[i], 1LL * i * i * i);
    EXPECT_EQ(squares.values()[i], 0.25 * i * i);
  }
}

TEST_P(Programs, HalfPrecision) {
  Loaded program(R"(
#include <cuda_fp16.h>
    extern "C" __global__ void halves(const float* x, float* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      half h = __float2half(x[i]);
      half2 pair = __halves2half2(h, __hmul(h, h));
      y[i] = __half2float(__hadd(__low2half(pair), __high2half(pair)));
    })",
                 {"halves"}, {}, GetParam());
  // Up to 31, squares and sums of integers are exact in 11 bits.
  Buffer<float> in(ramp(1.0f, 32)), out(std::vector<float>(32));
  ASSERT_EQ(program.launch("halves", 1, 32, 0, in.address, out.address, 32), CUDA_SUCCESS);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out.values()[i], float(i * i + i));
}

TEST_P(Programs, CooperativeGroupsAndDynamicSharedMemory) {
  Loaded program(R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void sum(const int* in, int* out, int n) {
      extern __shared__ int partial[];
      cg::thread_block block = cg::this_thread_block();
      auto warp = cg::tiled_partition<32>(block);
      int total = 0;
      for (int i = block.thread_rank(); i < n; i += block.size()) total += in[i];
      total = cg::reduce(warp, total, cg::plus<int>());
      if (warp.thread_rank() == 0) partial[warp.meta_group_rank()] = total;
      block.sync();
      if (block.thread_rank() == 0) {
        *out = 0;
        for (int i = 0; i < block.size() / 32; ++i) *out += partial[i];
      }
    })",
                 {"sum"}, {}, GetParam());
  const auto values = ramp(7);
  Buffer<int> in(values), out({0});
  ASSERT_EQ(program.launch("sum", 1, 256, 8 * sizeof(int), in.address, out.address, int(kCount)), CUDA_SUCCESS);
  EXPECT_EQ(out.values()[0], std::accumulate(values.begin(), values.end(), 0));
}

TEST_P(Programs, VariablesByLoweredName) {
  Loaded program(R"(
    namespace settings { __constant__ float scale[2]; }
    static __device__ int offset;
    template <typename T> __device__ T shift;
    extern "C" __global__ void apply(float* x) {
      x[threadIdx.x] = x[threadIdx.x] * settings::scale[0] + settings::scale[1] + offset + shift<float>;
    })",
                 {"apply", "settings::scale", "&offset", "shift<float>"}, {}, GetParam());
  struct Pair {
    float first, second;
  };
  program.set("settings::scale", Pair{2, 3});
  program.set("&offset", 10);
  program.set("shift<float>", 100.0f);
  Buffer<float> values(ramp(1.0f, 64));
  ASSERT_EQ(program.launch("apply", 1, 64, 0, values.address), CUDA_SUCCESS);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(values.values()[i], 2.0f * i + 113);
}

// Seen on an H100: static variables have their plain names, and what the host writes is read.
TEST_P(Programs, StaticVariablesByPlainName) {
  Loaded program(R"(
    static __constant__ float factor;
    static __device__ int offset = 1;
    extern "C" __global__ void apply(float* x) { x[threadIdx.x] = x[threadIdx.x] * factor + offset; })",
                 {"apply"}, {}, GetParam());
  program.set_symbol("factor", 2.0f);
  program.set_symbol("offset", 10);
  Buffer<float> values(ramp(1.0f, 32));
  ASSERT_EQ(program.launch("apply", 1, 32, 0, values.address), CUDA_SUCCESS);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(values.values()[i], 2.0f * i + 10);
}

TEST_P(Programs, PrintfFromThreads) {
  Loaded program(R"(extern "C" __global__ void hello(int n) {
    if (threadIdx.x == 3) printf("hello from %d of %s\n", threadIdx.x + n, "nvrtc");
  })",
                 {"hello"}, {}, GetParam());
  testing::internal::CaptureStdout();
  EXPECT_EQ(program.launch("hello", 1, 32, 0, 40), CUDA_SUCCESS);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "hello from 43 of nvrtc\n");
}

TEST_P(Programs, AssertsThatHoldAndThoseTakenOut) {
  const char* source = R"(extern "C" __global__ void check(int* x) { assert(x[0] == 1); x[0] = 2; })";
  Loaded held(source, {"check"}, {}, GetParam()), without(source, {"check"}, {"-DNDEBUG"}, GetParam());
  Buffer<int> one({1}), five({5});
  EXPECT_EQ(held.launch("check", 1, 1, 0, one.address), CUDA_SUCCESS);
  EXPECT_EQ(one.values()[0], 2);
  EXPECT_EQ(without.launch("check", 1, 1, 0, five.address), CUDA_SUCCESS);
  EXPECT_EQ(five.values()[0], 2);
}

TEST_P(Programs, DefaultDeviceAndWhatIsBuiltIn) {
  Loaded program(R"(
    struct Accumulator {
      int sum = 0;
      void add(std::initializer_list<int> values) { for (int value : values) sum += value; }
    };
    int twice(int x) { return 2 * x; }
    extern "C" __global__ void run(int* x) {
      Accumulator a;
      a.add({1, 2, twice(threadIdx.x)});
      auto lambda = [&](int y) { return a.sum + y; };
      int* heap = new int(lambda(100));
      x[threadIdx.x] = std::move(*heap);
      delete heap;
    })",
                 {"run"}, {"-default-device"}, GetParam());
  Buffer<int> out(std::vector<int>(64));
  ASSERT_EQ(program.launch("run", 1, 64, 0, out.address), CUDA_SUCCESS);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out.values()[i], 103 + 2 * i);
}

TEST_P(Programs, WarpFunctionsAndAtomics) {
  Loaded program(R"(extern "C" __global__ void votes(unsigned* out) {
    unsigned ballot = __ballot_sync(0xffffffff, threadIdx.x % 3 == 0);
    int sum = threadIdx.x;
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (threadIdx.x == 0) out[0] = ballot, out[1] = sum;
    atomicAdd(&out[2], threadIdx.x);
    atomicMax(&out[3], threadIdx.x);
  })",
                 {"votes"}, {}, GetParam());
  Buffer<unsigned> out(std::vector<unsigned>(4));
  ASSERT_EQ(program.launch("votes", 1, 32, 0, out.address), CUDA_SUCCESS);
  EXPECT_THAT(out.values(), testing::ElementsAre(0x49249249u, 496u, 496u, 31u));
}

TEST_P(Programs, InlinePtx) {
  Loaded program(R"(extern "C" __global__ void reverse(unsigned* x) {
    asm("brev.b32 %0, %1;" : "=r"(x[threadIdx.x]) : "r"(threadIdx.x));
  })",
                 {"reverse"}, {}, GetParam());
  Buffer<unsigned> out(std::vector<unsigned>(32));
  ASSERT_EQ(program.launch("reverse", 1, 32, 0, out.address), CUDA_SUCCESS);
  for (unsigned i = 0; i < 32; ++i) {
    unsigned reversed = 0;
    for (unsigned bit = 0; bit < 32; ++bit) reversed |= (i >> bit & 1) << (31 - bit);
    EXPECT_EQ(out.values()[i], reversed);
  }
}

TEST_P(Programs, MathNearTheHosts) {
  Loaded program(R"(extern "C" __global__ void functions(const double* x, double* y) {
    double v = x[threadIdx.x];
    y[threadIdx.x] = sin(v) + exp(-v) * pow(v + 1, 1.5) + erf(v) + log1p(v) + cbrt(v);
  })",
                 {"functions"}, {}, GetParam());
  const auto x = ramp(0.01, 512);
  Buffer<double> in(x), out(std::vector<double>(512));
  ASSERT_EQ(program.launch("functions", 1, 512, 0, in.address, out.address), CUDA_SUCCESS);
  const auto results = out.values();
  for (unsigned i = 0; i < 512; ++i) {
    const double v = x[i];
    const double expected =
        std::sin(v) + std::exp(-v) * std::pow(v + 1, 1.5) + std::erf(v) + std::log1p(v) + std::cbrt(v);
    EXPECT_NEAR(results[i], expected, 1e-14 * std::abs(expected) + 1e-14) << i;
  }
}

TEST(NvrtcFaults, NameFileAndLineOfTheProgram) {
  {
    Loaded program("extern \"C\" __global__ void k(int* x) {\n  int* p = x;\n  *p = 1;\n}\n", {"k"}, {"-lineinfo"});
    testing::internal::CaptureStderr();
    EXPECT_EQ(program.launch("k", 1, 1, 0, CUdeviceptr(16)), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("program.cu:3"));
  }
  EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);  // for other tests
}
