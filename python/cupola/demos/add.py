"""Adds two arrays. NumPy arrays are handed to the kernel as they are, `add[blocks, threads](a, b, out)`, and hold its answer when the call returns;
arrays on the device are what is timed."""

from __future__ import annotations

import sys

import numpy as np

from . import _demo

THREADS = 256
SOURCE = """
__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
"""


def data(size: int) -> _demo.Data:
    a, b = np.random.default_rng(1).random((2, size), np.float32)
    return {"a": a, "b": b, "out": np.zeros_like(a)}


def implicit_copies_checked(launch, d: _demo.Data) -> None:
    """NumPy arrays as arguments."""
    launch(d["a"], d["b"], d["out"])
    if not np.array_equal(d["out"], d["a"] + d["b"]):
        sys.exit("add: wrong with NumPy arrays")


def with_numba(d: _demo.Data):
    from numba import cuda

    from ._numba_kernels import add

    launch = add[-(-d["out"].size // THREADS), THREADS]
    implicit_copies_checked(launch, d)
    a, b, out = (cuda.to_device(d[name]) for name in ("a", "b", "out"))

    def run():
        launch(a, b, out)
        cuda.synchronize()

    return run, out.copy_to_host


def with_jit(d: _demo.Data):
    import cupola

    add = cupola.jit(SOURCE)
    n = d["out"].size
    implicit_copies_checked(lambda a, b, out: add(a, b, out, n=n), d)
    a, b, out = (cupola.Buffer.from_numpy(d[name]) for name in ("a", "b", "out"))

    def run():
        add[-(-n // THREADS), THREADS](a, b, out, n)
        cupola.synchronize()

    return run, out.to_numpy


DEMO = _demo.Demo("add", 1 << 22, 1 << 10, data, lambda d: d["a"] + d["b"], with_numba, with_jit)

if __name__ == "__main__":
    sys.exit(_demo.main(DEMO, sys.argv[1:]))
