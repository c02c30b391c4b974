"""Multiplies two square matrices, a tile of shared memory at a time."""

from __future__ import annotations

import sys

import numpy as np

from . import _demo

TILE = 16
SOURCE = """
constexpr int TILE = 16;
__global__ void matmul(const float* a, const float* b, float* out, int n) {
  __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += TILE) {
    of_a[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    of_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += of_a[threadIdx.y][i] * of_b[i][threadIdx.x];
    __syncthreads();
  }
  out[row * n + column] = sum;
}
"""


def side(size: int) -> int:
    """Of a matrix with about as many elements, whole tiles long."""
    return max(round(size**0.5) // TILE, 1) * TILE


def data(size: int) -> _demo.Data:
    n = side(size)
    a, b = np.random.default_rng(1).random((2, n, n), np.float32)
    return {"a": a, "b": b, "out": np.zeros_like(a)}


def with_numba(d: _demo.Data):
    from numba import cuda

    from ._numba_kernels import matmul

    a, b, out = (cuda.to_device(d[name]) for name in ("a", "b", "out"))
    tiles = d["out"].shape[0] // TILE

    def run():
        matmul[(tiles, tiles), (TILE, TILE)](a, b, out)
        cuda.synchronize()

    return run, out.copy_to_host


def with_jit(d: _demo.Data):
    import cupola

    matmul = cupola.jit(SOURCE)
    a, b, out = (cupola.Buffer.from_numpy(d[name]) for name in ("a", "b", "out"))
    n = d["out"].shape[0]

    def run():
        matmul[(n // TILE, n // TILE), (TILE, TILE)](a, b, out, n)
        cupola.synchronize()

    return run, out.to_numpy


# Each of n * n threads takes n steps. NumPy's sums are in another order: n roundings of positive terms at most.
DEMO = _demo.Demo("matmul", 512 * 512, 16 * 16, data, lambda d: d["a"] @ d["b"], with_numba, with_jit, tolerance=512 * 2.0**-23,
                  work=lambda size: side(size) ** 3)

if __name__ == "__main__":
    sys.exit(_demo.main(DEMO, sys.argv[1:]))
