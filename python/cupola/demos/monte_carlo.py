"""Pi, by counting random points in a quarter of a circle. Each thread has random numbers of its own (SplitMix64, Steele and others 2014), so
that NumPy can count exactly the same points."""

from __future__ import annotations

import sys

import numpy as np

from . import _demo

THREADS, POINTS = 256, 64
SOURCE = """
__device__ double next(unsigned long long& state) {
  unsigned long long z = (state += 0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return ((z ^ (z >> 31)) >> 11) * 0x1p-53;
}
__global__ void count(const unsigned long long* seeds, int* inside, int points) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long state = seeds[i];
  int found = 0;
  for (int k = 0; k < points; ++k) {
    double x = next(state), y = next(state);
    found += __dadd_rn(__dmul_rn(x, x), __dmul_rn(y, y)) <= 1;
  }
  inside[i] = found;
}
"""


def data(size: int) -> _demo.Data:
    threads = max(size // POINTS, THREADS) // THREADS * THREADS
    return {"seeds": np.arange(threads, dtype=np.uint64) * np.uint64(2 * POINTS) * np.uint64(0x9E3779B97F4A7C15),
            "inside": np.zeros(threads, np.int32)}


def with_numpy(d: _demo.Data) -> float:
    def draw():
        nonlocal state
        state = state + np.uint64(0x9E3779B97F4A7C15)
        z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53

    state, inside = d["seeds"], 0
    for _ in range(POINTS):
        x, y = draw(), draw()
        inside += np.count_nonzero(x * x + y * y <= 1)
    return 4 * inside / (POINTS * state.size)


def pi(inside: np.ndarray) -> float:
    return 4 * int(inside.sum(dtype=np.int64)) / (POINTS * inside.size)


def with_numba(d: _demo.Data):
    from numba import cuda

    from ._numba_kernels import count

    seeds, inside = cuda.to_device(d["seeds"]), cuda.to_device(d["inside"])

    def run():
        count[seeds.size // THREADS, THREADS](seeds, inside)
        cuda.synchronize()

    return run, lambda: pi(inside.copy_to_host())


def with_jit(d: _demo.Data):
    import cupola

    count = cupola.jit(SOURCE, "count")
    seeds, inside = cupola.Buffer.from_numpy(d["seeds"]), cupola.Buffer.from_numpy(d["inside"])

    def run():
        count[seeds.size // THREADS, THREADS](seeds, inside, POINTS)
        cupola.synchronize()

    return run, lambda: pi(inside.to_numpy())


# Numba fuses x * x + y * y, which moves points that lie within a rounding of the circle: none or one of millions.
DEMO = _demo.Demo("monte_carlo", 1 << 22, THREADS * POINTS, data, with_numpy, with_numba, with_jit, tolerance=1e-6)

if __name__ == "__main__":
    with np.errstate(over="ignore"):
        sys.exit(_demo.main(DEMO, sys.argv[1:]))
