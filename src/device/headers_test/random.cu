// Every generator and distribution of curand_kernel.h.
#include <curand_kernel.h>
template <typename State>
__device__ double common(State* s) {
  skipahead(5, s);
  return curand(s) + curand_uniform(s) + curand_uniform_double(s) + curand_normal(s) + curand_normal_double(s) +
         curand_log_normal(s, 0.f, 1.f) + curand_log_normal_double(s, 0., 1.);
}
template <typename State>
__device__ double pseudo(State* s) {
  curand_init(1, 2, 3, s);
  skipahead_sequence(1, s);
  return common(s) + curand_normal2(s).x + curand_normal2_double(s).y + curand_log_normal2(s, 0.f, 1.f).x +
         curand_log_normal2_double(s, 0., 1.).x + curand_poisson(s, 3.);
}
__global__ void setup(curandState* states) {
  curand_init(1234ULL, threadIdx.x, 0, &states[threadIdx.x]);
}
__global__ void k(double* out, curandDirectionVectors32_t* v32, curandDirectionVectors64_t* v64) {
  curandState_t a;
  curandStatePhilox4_32_10_t b;
  curandStateMRG32k3a c;
  out[0] = pseudo(&a) + pseudo(&b) + pseudo(&c);
  skipahead_subsequence(2, &c);
  out[1] = curand4(&b).x + curand_uniform4(&b).x + curand_uniform2_double(&b).x + curand_normal4(&b).x +
           curand_log_normal4(&b, 0.f, 1.f).x + curand_poisson4(&b, 4.).x;
  curandStateSobol32_t d;
  curandStateSobol64_t e;
  curandStateScrambledSobol32_t f;
  curandStateScrambledSobol64_t g;
  curand_init(v32[0], 0, &d);
  curand_init(v64[0], 0, &e);
  curand_init(v32[1], 77, 0, &f);
  curand_init(v64[1], 77, 0, &g);
  out[2] = common(&d) + common(&e) + common(&f) + common(&g);
}
int main() {
  curandState* states = nullptr;
  setup<<<1, 32>>>(states);
}
