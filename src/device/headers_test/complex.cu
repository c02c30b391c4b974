// Complex numbers of both kinds, in device and host code.
#include <cuComplex.h>

#include <complex>

__global__ void kernel(cuComplex* a, cuDoubleComplex* b, std::complex<float>* c) {
  a[0] = cuCdivf(cuCmulf(a[0], a[1]), make_cuComplex(cuCabsf(a[0]), 1));
  b[0] = cuCfma(b[0], b[1], cuConj(b[0]));
  c[0] = c[0] * c[1] + c[1];
}

int main() {
  kernel<<<1, 1>>>(nullptr, nullptr, nullptr);
  return (int)cuCabs(make_cuDoubleComplex(3, 4));
}
