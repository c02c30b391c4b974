// Asynchronous copies and split barriers.
#include <cuda_awbarrier.h>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>
#include <cuda_pipeline_primitives.h>
__global__ void k(const float4* in, float4* out) {
  __shared__ float4 s[32];
  __shared__ __mbarrier_t b;
  if (threadIdx.x == 0) __mbarrier_init(&b, __mbarrier_maximum_count());
  __pipeline_memcpy_async(&s[threadIdx.x], in + threadIdx.x, sizeof(float4));
  __pipeline_arrive_on(&b);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = s[threadIdx.x];
}
int main() {
  k<<<1, 32>>>(nullptr, nullptr);
}
