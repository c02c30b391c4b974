// Kernels that compute with doubles, for src/backend/metal/build/raise/soften_kernels_test.cpp, which runs them as they
// are and in integers. Nothing here asks the C library, whose functions differ between processors.

#define DEVICE __attribute__((device))
#define KERNEL extern "C" __attribute__((global)) void

extern "C" DEVICE double __nv_exp(double), __nv_log(double), __nv_sin(double), __nv_cos(double);
extern "C" DEVICE double __nv_pow(double, double), __nv_fmod(double, double), __nv_remainder(double, double);
extern "C" DEVICE double __nv_tgamma(double), __nv_j0(double), __nv_rsqrt(double), __nv_rint(double);
extern "C" DEVICE double __nv_dadd_rz(double, double), __nv_dmul_ru(double, double), __nv_ddiv_rd(double, double);
extern "C" DEVICE double __nv_fma_rz(double, double, double), __nv_dsqrt_ru(double);
extern "C" DEVICE float __nv_double2float_rd(double);
extern "C" DEVICE int __nv_double2int_rn(double);
extern "C" DEVICE long long __nv_double2ll_ru(double);
extern "C" DEVICE unsigned long long __nv_double2ull_rz(double);

namespace {
struct Body {
  double x, y, z, mass;
};
DEVICE int thread() {
  return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
}
DEVICE int threads() {
  return __nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x();
}
__attribute__((constant)) double weights[4] = {0.25, -1.5, 0x1p-1040, 3e300};
}  // namespace

KERNEL dot(const double* a, const double* b, double* result, int count) {
  double sum = 0;
  for (int i = thread(); i < count; i += threads()) sum += a[i] * b[i];
  __nvvm_atom_add_gen_d(result, sum);
}

/// One step; velocities behind the bodies' number.
KERNEL nbody(Body* bodies, Body* velocities, int count, double step) {
  const int i = thread();
  if (i >= count) return;
  Body force = {0, 0, 0, 0};
  for (int j = 0; j < count; ++j) {
    const double x = bodies[j].x - bodies[i].x, y = bodies[j].y - bodies[i].y, z = bodies[j].z - bodies[i].z;
    const double square = x * x + y * y + z * z + 1e-9;
    const double inverse = 1 / __builtin_sqrt(square), pull = bodies[j].mass * inverse * inverse * inverse;
    force.x += x * pull, force.y += y * pull, force.z += z * pull;
  }
  velocities[i].x += force.x * step, velocities[i].y += force.y * step, velocities[i].z += force.z * step;
}

constexpr int kElementary = 18;
/// kElementary results for each number.
KERNEL elementary(const double* in, double* out, int count) {
  for (int i = thread(); i < count; i += threads()) {
    const double x = in[i], y = in[(i + 7) % count];
    double* result = out + kElementary * i;
    const double turned = x > -6e4 && x < 6e4 ? x : 0.5;
    *result++ = __nv_exp(x);
    *result++ = __nv_log(x);
    *result++ = __nv_sin(turned);
    *result++ = __nv_cos(turned);
    *result++ = __nv_pow(x, y);
    *result++ = __nv_fmod(x, y);
    *result++ = __nv_remainder(x, y);
    *result++ = __nv_tgamma(__builtin_fabs(turned));
    *result++ = __nv_j0(turned > -25 && turned < 25 ? turned : 1);
    *result++ = __nv_rsqrt(x);
    *result++ = __nv_dadd_rz(x, y);
    *result++ = __nv_dmul_ru(x, y);
    *result++ = __nv_ddiv_rd(x, y);
    *result++ = __nv_fma_rz(x, y, x);
    *result++ = __nv_dsqrt_ru(x);
    *result++ = __nv_double2float_rd(x);
    *result++ = __nv_double2int_rn(x) + __nv_rint(y);
    *result++ = (double)__nv_double2ll_ru(x) + (double)__nv_double2ull_rz(y) + weights[i & 3];
  }
}
