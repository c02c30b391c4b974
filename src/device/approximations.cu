// What PTX has in place of some functions of float: the approximate instruction of a GPU, and what CUDA documents of it
// ("CUDA C++ Programming Guide, Intrinsic Functions": the greatest errors stand at the functions). kir takes these
// where it makes PTX (src/kir/take_approximations.cpp); on the CPU nothing calls them.
#include "device.h"

using namespace cupola::device;

inline constexpr float kLog2Of10 = 0x1.a934fp+1f, kLog2OfE = 0x1.715476p+0f, kLogOf2 = 0x1.62e43p-1f,
                       kLog10Of2 = 0x1.344136p-2f;

/// 2^-21.41 in [-pi, pi].
NV float __cupola_approximate_sinf(float x) {
  return __nvvm_sin_approx_f(x);
}
/// 2^-21.19 in [-pi, pi].
NV float __cupola_approximate_cosf(float x) {
  return __nvvm_cos_approx_f(x);
}
NV void __cupola_approximate_sincosf(float x, float* sine, float* cosine) {
  *sine = __nvvm_sin_approx_f(x);
  *cosine = __nvvm_cos_approx_f(x);
}
/// As the quotient of sine and cosine.
NV float __cupola_approximate_tanf(float x) {
  return approximate_quotient(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x));
}
/// A relative error of 2^-11 ("CUDA Math API, __tanhf").
NV float __cupola_approximate_tanhf(float x) {
  float result;
  asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
/// 2 ulp, as exp2f.
NV float __cupola_approximate_exp2f(float x) {
  return __nvvm_ex2_approx_f(x);
}
/// 2 + floor(|1.173 x|) ulp.
NV float __cupola_approximate_expf(float x) {
  return __nvvm_ex2_approx_f(x * kLog2OfE);
}
/// 2 + floor(|2.97 x|) ulp.
NV float __cupola_approximate_exp10f(float x) {
  return __nvvm_ex2_approx_f(x * kLog2Of10);
}
/// 2^-22 in [0.5, 2], else 2 ulp.
NV float __cupola_approximate_log2f(float x) {
  return __nvvm_lg2_approx_f(x);
}
/// 2^-21.41 in [0.5, 2], else 3 ulp.
NV float __cupola_approximate_logf(float x) {
  return __nvvm_lg2_approx_f(x) * kLogOf2;
}
/// 2^-24 in [0.5, 2], else 3 ulp.
NV float __cupola_approximate_log10f(float x) {
  return __nvvm_lg2_approx_f(x) * kLog10Of2;
}
/// As 2 to the y log2 x.
NV float __cupola_approximate_powf(float x, float y) {
  return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x));
}
