#pragma once

extern __device__ int calls;
__device__ int twice(int x);
