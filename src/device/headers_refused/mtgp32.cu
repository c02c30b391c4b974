// error: MTGP32 is not supported by Cupola
#include <curand_kernel.h>
__global__ void k(curandStateMtgp32_t* state, unsigned* out) {
  *out = curand(state);
}
