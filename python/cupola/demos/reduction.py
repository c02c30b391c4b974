"""Sums an array: each block a part in shared memory, a tree of halves, and one atomic addition."""

from __future__ import annotations

import sys

import numpy as np

from . import _demo

THREADS, BLOCKS = 256, 64
SOURCE = """
__global__ void sum(const double* x, double* out, int n) {
  __shared__ double part[256];
  double mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  part[threadIdx.x] = mine;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
"""


def data(size: int) -> _demo.Data:
    return {"x": np.random.default_rng(1).random(size), "out": np.zeros(1)}


def shape(size: int) -> tuple[int, int]:
    """Blocks and threads: at most as many as elements."""
    return max(min(BLOCKS, size // THREADS), 1), THREADS


def with_numba(d: _demo.Data):
    from numba import cuda

    from ._numba_kernels import sum_of

    x, out = cuda.to_device(d["x"]), cuda.to_device(d["out"])

    def run():
        out.copy_to_device(d["out"])
        sum_of[shape(d["x"].size)](x, out)
        cuda.synchronize()

    return run, out.copy_to_host


def with_jit(d: _demo.Data):
    import cupola

    total = cupola.jit(SOURCE)
    x, out = cupola.Buffer.from_numpy(d["x"]), cupola.Buffer(1, np.float64)

    def run():
        out.fill(0)
        total[shape(x.size)](x, out, x.size)
        cupola.synchronize()

    return run, out.to_numpy


DEMO = _demo.Demo("reduction", 1 << 22, 1 << 10, data, lambda d: np.sum(d["x"]), with_numba, with_jit, tolerance=1e-12)

if __name__ == "__main__":
    sys.exit(_demo.main(DEMO, sys.argv[1:]))
