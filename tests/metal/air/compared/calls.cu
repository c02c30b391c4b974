// Calls through pointers that differ from thread to thread, in a loop; a pointer that several functions take.

using Operation = unsigned (*)(unsigned, unsigned*);

__device__ unsigned add(unsigned a, unsigned* b) {
  return a + ++*b;
}
__device__ unsigned multiply(unsigned a, unsigned* b) {
  *b += 3;
  return a * *b;
}
__device__ unsigned turn(unsigned a, unsigned* b) {
  return a << 3 ^ a >> 5 ^ *b;
}

__device__ __noinline__ Operation chosen(unsigned by) {
  return by % 3 == 0 ? add : by % 3 == 1 ? multiply : turn;
}

extern "C" __global__ void k(const unsigned* in, unsigned* out) {
  const unsigned i = threadIdx.x;
  unsigned value = in[i], own = i;
  out[64 + i] = value;
  for (unsigned step = 0; step < 5; ++step) {
    unsigned* const where = (value & 1) != 0 ? &own : &out[64 + i];
    value = chosen(value >> 4)(value, where);
  }
  out[i] = value;
  out[128 + i] = own;
}
