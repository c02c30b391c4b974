"""Buffers: memory of a device that stays there between kernels, and is shared with NumPy and Numba without copies."""

from __future__ import annotations

import sys

import numpy as np

import cupola

from . import _demo

THREADS, STEPS = 256, 20
SOURCE = """
__global__ void step(const float* from, float* to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = i == 0 || i == n - 1 ? from[i] : 0.5f * from[i] + 0.25f * (from[i - 1] + from[i + 1]);
}
"""


def data(size: int) -> _demo.Data:
    return {"x": np.random.default_rng(1).random(size, np.float32)}


def with_numpy(d: _demo.Data) -> np.ndarray:
    x = d["x"]
    for _ in range(STEPS):
        y = x.copy()
        y[1:-1] = np.float32(0.5) * x[1:-1] + np.float32(0.25) * (x[:-2] + x[2:])
        x = y
    return x


def _two_buffers(d: _demo.Data, step, finish):
    """`step(source, target)` there and back. The buffers are what is handed to both kinds of kernels."""
    first, second = cupola.Buffer(d["x"].shape, np.float32), cupola.Buffer(d["x"].shape, np.float32)

    def run():
        first.copy_from(d["x"])
        for _ in range(STEPS // 2):
            step(first, second)
            step(second, first)
        finish()

    return run, lambda: np.from_dlpack(first) if cupola.devices()[0].reads_host_memory else first.to_numpy()


def with_numba(d: _demo.Data):
    from numba import cuda

    from ._numba_kernels import step

    blocks = -(-d["x"].size // THREADS)
    if _demo.simulating():  # which knows no arrays but its own
        first, second = cuda.to_device(d["x"]), cuda.to_device(d["x"])

        def run():
            for _ in range(STEPS // 2):
                step[blocks, THREADS](first, second)
                step[blocks, THREADS](second, first)

        return run, first.copy_to_host
    return _two_buffers(d, lambda a, b: step[blocks, THREADS](cuda.as_cuda_array(a), cuda.as_cuda_array(b)), cuda.synchronize)


def with_jit(d: _demo.Data):
    step = cupola.jit(SOURCE)
    n = d["x"].size
    return _two_buffers(d, lambda a, b: step[-(-n // THREADS), THREADS](a, b, n), cupola.synchronize)


# Each step may be fused, or not: a rounding or two.
DEMO = _demo.Demo("buffers", 1 << 20, 1 << 8, data, with_numpy, with_numba, with_jit, tolerance=STEPS * 2.0**-23)

if __name__ == "__main__":
    sys.exit(_demo.main(DEMO, sys.argv[1:]))
