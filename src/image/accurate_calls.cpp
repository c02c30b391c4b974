#include "image/accurate_calls.h"

#include <cmath>
#include <cstring>

// CUDA's tables ("Mathematical Functions" in the CUDA C++ Programming Guide) bound these functions more tightly than
// glibc 2.36 does: cbrt and exp10 at 1 ulp, the Bessel functions at 7 ulp for |x| < 8, zeros included. Where long
// double is no wider than double (macOS on arm64), the C library's own accuracy remains.

namespace cupola::image {
namespace {

double wide_cbrt(double x) {
  return static_cast<double>(cbrtl(x));
}
double wide_exp10(double x) {
  return static_cast<double>(powl(10.0L, x));
}
double wide_tgamma(double x) {
  return static_cast<double>(tgammal(x));
}
#if !defined(__APPLE__)  // which has no Bessel functions of long double
double wide_j0(double x) {
  return static_cast<double>(j0l(x));
}
double wide_j1(double x) {
  return static_cast<double>(j1l(x));
}
double wide_y0(double x) {
  return static_cast<double>(y0l(x));
}
double wide_y1(double x) {
  return static_cast<double>(y1l(x));
}
double wide_jn(int n, double x) {
  return static_cast<double>(jnl(n, x));
}
double wide_yn(int n, double x) {
  return static_cast<double>(ynl(n, x));
}
#endif
float wide_cbrtf(float x) {
  return static_cast<float>(cbrt(static_cast<double>(x)));
}
float wide_j0f(float x) {
  return static_cast<float>(j0(x));
}
float wide_j1f(float x) {
  return static_cast<float>(j1(x));
}
float wide_y0f(float x) {
  return static_cast<float>(y0(x));
}
float wide_y1f(float x) {
  return static_cast<float>(y1(x));
}
float wide_jnf(int n, float x) {
  return static_cast<float>(jn(n, x));
}
float wide_ynf(int n, float x) {
  return static_cast<float>(yn(n, x));
}

struct AccurateCall {
  const char* name;
  void (*function)();
};

#define CUPOLA_WIDE(name) {#name, reinterpret_cast<void (*)()>(&wide_##name)}
const AccurateCall kCalls[] = {
    CUPOLA_WIDE(cbrt), CUPOLA_WIDE(exp10), CUPOLA_WIDE(tgamma), CUPOLA_WIDE(cbrtf), CUPOLA_WIDE(j0f), CUPOLA_WIDE(j1f),
    CUPOLA_WIDE(y0f),  CUPOLA_WIDE(y1f),   CUPOLA_WIDE(jnf),    CUPOLA_WIDE(ynf),
#if !defined(__APPLE__)
    CUPOLA_WIDE(j0),   CUPOLA_WIDE(j1),    CUPOLA_WIDE(y0),     CUPOLA_WIDE(y1),    CUPOLA_WIDE(jn),  CUPOLA_WIDE(yn),
#endif
};
#undef CUPOLA_WIDE

}  // namespace

const void* accurate_call(const char* name) {
  for (const AccurateCall& call : kCalls)
    if (std::strcmp(call.name, name) == 0) return reinterpret_cast<const void*>(call.function);
  return nullptr;
}

}  // namespace cupola::image
