// curand_kernel.h: the generators' numbers, skipping ahead, distributions.
// Oracles: published numbers (Marsaglia's xorwow with its own seeds; Random123's known answers for Philox4x32-10; the
// first numbers of L'Ecuyer's MRG32k3a from 12345); an H200's (random_h200.def); stepping one by one for skipped
// offsets; powers of XORWOW's matrix over GF(2) and of MRG32k3a's, computed here by plain squaring, for sequences;
// first two moments for distributions.

#include <curand_kernel.h>

#include <algorithm>

#include "check.h"

using u32 = unsigned int;
using u64 = unsigned long long;

template <typename State, typename Value, typename Draw>
__global__ void draw_kernel(u64 seed, u64 sequence, u64 offset, Value* out, int count, Draw draw) {
  State state;
  curand_init(seed, sequence, offset, &state);
  for (int i = 0; i < count; ++i) out[i] = draw(&state);
}

struct Bits {
  template <typename State>
  __device__ u32 operator()(State* state) const {
    return static_cast<u32>(curand(state));
  }
};
struct Uniform {
  template <typename State>
  __device__ float operator()(State* state) const {
    return curand_uniform(state);
  }
};
struct UniformDouble {
  template <typename State>
  __device__ double operator()(State* state) const {
    return curand_uniform_double(state);
  }
};

template <typename State, typename Value, typename Draw>
static std::vector<Value> drawn(u64 seed, u64 sequence, u64 offset, int count, Draw draw) {
  check::Managed<Value> out(count);
  draw_kernel<State><<<1, 1>>>(seed, sequence, offset, static_cast<Value*>(out), count, draw);
  CUDA_OK(cudaDeviceSynchronize());
  return std::vector<Value>(static_cast<Value*>(out), static_cast<Value*>(out) + count);
}
template <typename State>
static std::vector<u32> bits(u64 seed, u64 sequence, u64 offset, int count) {
  return drawn<State, u32>(seed, sequence, offset, count, Bits());
}
template <typename T>
static void expect_list(const std::vector<T>& got, const std::vector<T>& expected) {
  EXPECT_EQUAL(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQUAL_AT(static_cast<int>(i), got[i], expected[i]);
}

__global__ void pi_kernel(u32* out) {
  curandStatePhilox4_32_10_t state;
  const u64 half = 0x85a308d3243f6a88;
  curand_init(0x299f31d0a4093822, 0x0370734413198a2e, 0, &state);
  for (int i = 0; i < 4; ++i) skipahead(half, &state);
  for (int i = 0; i < 4; ++i) out[i] = curand(&state);
}

CASE(published_numbers) {
  // This seed cancels what curand_init mixes in.
  expect_list(bits<curandStateXORWOW_t>(0xf7dcefddaad26b49, 0, 0, 5),
              {246875399, 3690007200, 1264581005, 3906711041, 1866187943});
  expect_list(bits<curandStatePhilox4_32_10_t>(0, 0, 0, 4), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  // Counter 243f6a88 85a308d3 13198a2e 03707344, key a4093822 299f31d0: the sequence is the counter's upper half, an
  // offset counts four times the lower.
  check::Managed<u32> pi(4);
  pi_kernel<<<1, 1>>>(pi);
  CUDA_OK(cudaDeviceSynchronize());
  const u32 known[] = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
  for (int i = 0; i < 4; ++i) EXPECT_EQUAL_AT(i, pi[i], known[i]);
  const std::vector<double> mrg = drawn<curandStateMRG32k3a_t, double>(0, 0, 0, 5, UniformDouble());
  const double lecuyer[] = {0.12701112204657714, 0.3185275653967945, 0.3091860155832701, 0.8258468629271136,
                            0.2216299157820229};
  for (int i = 0; i < 5; ++i) EXPECT_AROUND_AT(i, mrg[i], lecuyer[i], 1e-9);  // cuRAND divides by 4294967086
  const std::vector<double> next = drawn<curandStateMRG32k3a_t, double>(0, 1, 0, 3, UniformDouble());
  const double substream[] = {0.07939898979733463, 0.4803395047575741, 0.8583222470551328};
  for (int i = 0; i < 3; ++i) EXPECT_AROUND_AT(i, next[i], substream[i], 1e-9);
}

template <typename State>
static void check_offsets() {
  const std::vector<u32> all = bits<State>(0x123456789abcdef, 3, 0, 1200);
  for (u64 offset : {1, 2, 3, 4, 5, 7, 64, 1000, 1023})
    expect_list(bits<State>(0x123456789abcdef, 3, offset, 20), {all.begin() + offset, all.begin() + offset + 20});
}
CASE(an_offset_is_so_many_steps) {
  check_offsets<curandStateXORWOW_t>();
  check_offsets<curandStatePhilox4_32_10_t>();
  check_offsets<curandStateMRG32k3a_t>();
}

// -- an H200 --

// What a state gives in this order; normal numbers, which are not compared, use numbers up.
struct Draws {
  u32 bits[8];
  float uniform[6];
  double twice[6];
  u32 after;  // 5 normal, a log-normal, 3 normal and a pair of doubles, and two skips
};
template <typename State>
__global__ void draws_kernel(u64 seed, u64 sequence, u64 offset, Draws* out) {
  State state;
  curand_init(seed, sequence, offset, &state);
  for (u32& x : out->bits) x = curand(&state);
  for (float& x : out->uniform) x = curand_uniform(&state);
  for (double& x : out->twice) x = curand_uniform_double(&state);
  for (int i = 0; i < 5; ++i) curand_normal(&state);
  curand_log_normal(&state, 0.5f, 0.25f);
  for (int i = 0; i < 3; ++i) curand_normal_double(&state);
  curand_normal2_double(&state);
  skipahead(1000003, &state);
  skipahead_sequence(5, &state);
  out->after = curand(&state);
}
template <typename State>
static void expect_draws(u64 seed, u64 sequence, u64 offset, const Draws& known) {
  check::Managed<Draws> out(1);
  draws_kernel<State><<<1, 1>>>(seed, sequence, offset, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 8; ++i) EXPECT_EQUAL_AT(i, out[0].bits[i], known.bits[i]);
  for (int i = 0; i < 6; ++i) EXPECT_EQUAL_AT(i, out[0].uniform[i], known.uniform[i]);
  for (int i = 0; i < 6; ++i) EXPECT_EQUAL_AT(i, out[0].twice[i], known.twice[i]);
  EXPECT_EQUAL(out[0].after, known.after);
}

CASE(numbers_of_an_h200) {
#define LIST(...) {__VA_ARGS__}
#define DRAWS(state, seed, sequence, offset, ...) expect_draws<state>(seed, sequence, offset, {__VA_ARGS__});
#include "random_h200.def"
#undef DRAWS
#undef LIST
}

// -- sequences, by matrices --

struct Xorwow {
  u32 v[5];
  void step() {
    const u32 t = v[0] ^ v[0] >> 2;
    const u32 next = v[4] ^ v[4] << 4 ^ t ^ t << 1;
    for (int i = 0; i < 4; ++i) v[i] = v[i + 1];
    v[4] = next;
  }
};
/// Column i is what the register becomes from bit i alone.
struct BitMatrix {
  Xorwow columns[160];
  Xorwow apply(const Xorwow& x) const {
    Xorwow sum = {};
    for (int i = 0; i < 160; ++i)
      if (x.v[i / 32] >> (i % 32) & 1)
        for (int j = 0; j < 5; ++j) sum.v[j] ^= columns[i].v[j];
    return sum;
  }
};

CASE(xorwow_sequences_are_2_to_the_67_apart) {
  static BitMatrix power, next;
  for (int i = 0; i < 160; ++i) {
    power.columns[i] = {};
    power.columns[i].v[i / 32] = 1u << (i % 32);
    power.columns[i].step();
  }
  for (int squaring = 0; squaring < 67; ++squaring) {
    for (int i = 0; i < 160; ++i) next.columns[i] = power.apply(power.columns[i]);
    power = next;
  }
  Xorwow state = {{123456789, 362436069, 521288629, 88675123, 5783321}};
  for (u64 sequence = 0; sequence < 6; ++sequence) {
    Xorwow copy = state;
    u32 d = 6615241;
    std::vector<u32> expected;
    for (int i = 0; i < 8; ++i) copy.step(), expected.push_back(copy.v[4] + (d += 362437));
    expect_list(bits<curandStateXORWOW_t>(0xf7dcefddaad26b49, sequence, 0, 8), expected);
    state = power.apply(state);
  }
  // The highest bit of the sequence's number counts.
  EXPECT(bits<curandStateXORWOW_t>(5, 1ull << 63, 0, 4) != bits<curandStateXORWOW_t>(5, 0, 0, 4));
}

static u64 power_of_two_modulo(const u64 (&step)[3][3], u64 modulus, int log2, const u64 (&state)[3], int row) {
  u64 m[3][3];
  std::memcpy(m, step, sizeof m);
  for (int s = 0; s < log2; ++s) {
    u64 square[3][3] = {};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 3; ++k) square[i][j] = (square[i][j] + m[i][k] * m[k][j] % modulus) % modulus;
    std::memcpy(m, square, sizeof m);
  }
  u64 sum = 0;
  for (int k = 0; k < 3; ++k) sum = (sum + m[row][k] * state[k] % modulus) % modulus;
  return sum;
}

__global__ void mrg_states(u32* out) {
  curandStateMRG32k3a_t state;
  curand_init(0, 1, 0, &state);
  for (int i = 0; i < 3; ++i) out[i] = state.s1[i], out[3 + i] = state.s2[i];
  curand_init(0, 0, 0, &state);
  skipahead_sequence(1, &state);
  for (int i = 0; i < 3; ++i) out[6 + i] = state.s1[i], out[9 + i] = state.s2[i];
}

CASE(mrg32k3a_subsequences_and_sequences) {
  check::Managed<u32> out(12);
  mrg_states<<<1, 1>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  const u64 m1 = 4294967087, m2 = 4294944443, start[3] = {12345, 12345, 12345};
  const u64 a1[3][3] = {{0, 1, 0}, {0, 0, 1}, {m1 - 810728, 1403580, 0}};
  const u64 a2[3][3] = {{0, 1, 0}, {0, 0, 1}, {m2 - 1370589, 0, 527612}};
  for (int row = 0; row < 3; ++row) {
    EXPECT_EQUAL_AT(row, out[row], power_of_two_modulo(a1, m1, 76, start, row));
    EXPECT_EQUAL_AT(row, out[3 + row], power_of_two_modulo(a2, m2, 76, start, row));
    EXPECT_EQUAL_AT(row, out[6 + row], power_of_two_modulo(a1, m1, 127, start, row));
    EXPECT_EQUAL_AT(row, out[9 + row], power_of_two_modulo(a2, m2, 127, start, row));
  }
}

// -- uniform numbers are the bits, scaled --

template <typename State>
static void check_uniform() {
  const std::vector<u32> raw = bits<State>(99, 2, 1, 64);
  const std::vector<float> single = drawn<State, float>(99, 2, 1, 64, Uniform());
  const std::vector<double> twice = drawn<State, double>(99, 2, 1, 32, UniformDouble());
  for (int i = 0; i < 64; ++i) EXPECT_EQUAL_AT(i, single[i], static_cast<float>(raw[i]) * 0x1p-32f + 0x1p-33f);
  const bool of_32_bits = std::is_same_v<State, curandStatePhilox4_32_10_t>;
  for (int i = 0; i < 32; ++i) {
    const u64 z = raw[2 * i] ^ static_cast<u64>(raw[2 * i + 1]) << 21;
    EXPECT_EQUAL_AT(i, twice[i], of_32_bits ? (raw[i] + 1.0) * 0x1p-32 : static_cast<double>(z) * 0x1p-53 + 0x1p-54);
  }
}
CASE(uniform_numbers_are_scaled_bits) {
  check_uniform<curandStateXORWOW_t>();
  check_uniform<curandStatePhilox4_32_10_t>();
}

__global__ void four_kernel(u32* out) {
  curandStatePhilox4_32_10_t a, b;
  for (int used = 0; used < 4; ++used) {
    curand_init(7, 5, used, &a);
    curand_init(7, 5, used, &b);
    const uint4 x = curand4(&a);
    const u32 y[] = {x.x, x.y, x.z, x.w};
    for (int i = 0; i < 4; ++i) *out += y[i] == curand(&b);
    for (int i = 0; i < 5; ++i) *out += curand(&a) == curand(&b);
  }
}
CASE(four_at_a_time_are_the_next_four) {
  check::Managed<u32> out(1);
  four_kernel<<<1, 1>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(out[0], 36u);
}

// -- distributions --

template <typename State>
__global__ void moments_kernel(double* sums) {
  State state;
  curand_init(1234, threadIdx.x, 0, &state);
  double s[12] = {};
  const auto count = [&](int at, double x, double mean) { s[at] += x, s[at + 1] += (x - mean) * (x - mean); };
  for (int i = 0; i < 500; ++i) {
    count(0, curand_normal(&state), 0);
    count(2, curand_normal_double(&state), 0);
    count(4, curand_log_normal(&state, 0.5f, 0.25f), exp(0.53125));
    count(6, curand_poisson(&state, 3.5), 3.5);
    count(8, curand_poisson(&state, 200), 200);
    count(10, curand_poisson(&state, 1e6), 1e6);
  }
  for (int i = 0; i < 12; ++i) atomicAdd(sums + i, s[i]);
}
template <typename State>
static void check_moments() {
  check::Managed<double> sums(12);
  moments_kernel<State><<<1, 64>>>(sums);
  CUDA_OK(cudaDeviceSynchronize());
  const double n = 32000, log_variance = (std::exp(0.0625) - 1) * std::exp(1.0625);
  const double mean[] = {0, 0, std::exp(0.53125), 3.5, 200, 1e6}, variance[] = {1, 1, log_variance, 3.5, 200, 1e6};
  for (int i = 0; i < 6; ++i) {
    // Five standard deviations of each estimate; the squares' own spread is at most 1.6 times a normal's here.
    EXPECT_AROUND_AT(i, sums[2 * i] / n, mean[i], 5 * std::sqrt(variance[i] / n));
    EXPECT_AROUND_AT(i, sums[2 * i + 1] / n, variance[i], 5 * 1.6 * variance[i] * std::sqrt(2 / n));
  }
}
CASE(distributions_have_their_moments) {
  check_moments<curandStateXORWOW_t>();
  check_moments<curandStatePhilox4_32_10_t>();
  check_moments<curandStateMRG32k3a_t>();
}

// -- Sobol: the first dimension is van der Corput's sequence in Gray-code order --

__global__ void sobol_kernel(const u32* vectors, u32* out) {
  curandStateSobol32_t state;
  curand_init(const_cast<u32*>(vectors), 0, &state);
  for (int i = 0; i < 64; ++i) out[i] = curand(&state);
  curand_init(const_cast<u32*>(vectors), 17, &state);
  out[64] = curand(&state);
  curandStateScrambledSobol32_t scrambled;
  curand_init(const_cast<u32*>(vectors), 0xdeadbeef, 9, &scrambled);
  out[65] = curand(&scrambled);
  curand_init(const_cast<u32*>(vectors), 1, &state);
  out[66] = __float_as_uint(curand_uniform(&state));
  curand_init(const_cast<u32*>(vectors), 1, &state);
  out[67] = __float_as_uint(curand_normal(&state));
}
CASE(sobol_in_gray_code_order) {
  check::Managed<u32> vectors(32), out(68);
  for (int i = 0; i < 32; ++i) vectors[i] = 0x80000000u >> i;
  sobol_kernel<<<1, 1>>>(vectors, out);
  CUDA_OK(cudaDeviceSynchronize());
  const auto number = [](u32 i) {
    u32 reversed = 0;
    for (u32 gray = i ^ i >> 1, bit = 0; bit < 32; ++bit) reversed |= (gray >> bit & 1) << (31 - bit);
    return reversed;
  };
  for (u32 i = 0; i < 64; ++i) EXPECT_EQUAL_AT(i, out[i], number(i));
  EXPECT_EQUAL(out[64], number(17));
  EXPECT_EQUAL(out[65], number(9) ^ 0xdeadbeef);
  float uniform, normal;
  std::memcpy(&uniform, &out[66], 4);
  std::memcpy(&normal, &out[67], 4);
  EXPECT_EQUAL(uniform, 0.5f + 0x1p-33f);
  EXPECT_AROUND_AT(0, normal, 0, 1e-6);
}

// The first 4096 numbers of the sequence are the multiples of 1/4096: of each k the distribution's share, within one.
__global__ void sobol_poisson_kernel(const u32* vectors, double lambda, u32* out) {
  curandStateSobol32_t state;
  curand_init(const_cast<u32*>(vectors), threadIdx.x * 128, &state);
  for (int i = 0; i < 128; ++i) out[threadIdx.x * 128 + i] = curand_poisson(&state, lambda);
}
CASE(sobol_poisson_numbers_have_the_distribution) {
  check::Managed<u32> vectors(32), out(4096);
  for (int i = 0; i < 32; ++i) vectors[i] = 0x80000000u >> i;
  for (const double lambda : {0.25, 3.5, 99.0, 101.0, 1000.0, 1e6}) {
    sobol_poisson_kernel<<<1, 32>>>(vectors, lambda, out);
    CUDA_OK(cudaDeviceSynchronize());
    std::sort(&out[0], &out[0] + 4096);
    const double spread = 9 * std::sqrt(lambda);
    const u32 first = lambda > spread ? static_cast<u32>(lambda - spread) : 0;
    const u32 last = static_cast<u32>(lambda + spread + 9);
    double distribution = 0;
    for (u32 k = first; k <= last; ++k) {
      distribution += std::exp(k * std::log(lambda) - lambda - std::lgamma(k + 1.0));
      const auto so_many = static_cast<double>(std::upper_bound(&out[0], &out[0] + 4096, k) - &out[0]);
      EXPECT_AROUND_AT(k, so_many, 4096 * distribution, 1.001);
    }
  }
}

CHECK_MAIN()
