"""Copies, computes (square roots, by Newton) and copies back, a part at a time in two streams, which overlap."""

from __future__ import annotations

import sys

import numpy as np

from . import _demo

THREADS, PARTS = 256, 8
SOURCE = """
__global__ void roots(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float y = x[i];
  for (int k = 0; k < 20; ++k) y = 0.5f * (y + x[i] / y);
  x[i] = y;
}
"""


def data(size: int) -> _demo.Data:
    return {"x": 1 + 99 * np.random.default_rng(1).random(size // PARTS * PARTS, np.float32)}


def with_numpy(d: _demo.Data) -> np.ndarray:
    y = x = d["x"]
    for _ in range(20):
        y = np.float32(0.5) * (y + x / y)
    return y


def with_numba(d: _demo.Data):
    from numba import cuda

    from ._numba_kernels import roots

    out = np.empty_like(d["x"])
    streams = [cuda.stream(), cuda.stream()]

    def run():
        for i, (source, target) in enumerate(zip(np.split(d["x"], PARTS), np.split(out, PARTS), strict=True)):
            stream = streams[i % 2]
            part = cuda.to_device(source, stream=stream)
            roots[-(-part.size // THREADS), THREADS, stream](part)
            part.copy_to_host(target, stream=stream)
        for stream in streams:
            stream.synchronize()

    return run, lambda: out


def with_jit(d: _demo.Data):
    import cupola

    roots = cupola.jit(SOURCE)
    source, out = cupola.pinned(d["x"].shape, np.float32), cupola.pinned(d["x"].shape, np.float32)
    source[:] = d["x"]
    streams = [cupola.Stream(), cupola.Stream()]
    n = source.size // PARTS
    parts = [cupola.Buffer(n, np.float32) for _ in range(PARTS)]

    def run():
        for i, part in enumerate(parts):
            stream = streams[i % 2]
            part.copy_from(source[i * n:(i + 1) * n], stream)
            roots[-(-n // THREADS), THREADS, stream](part, n)
            part.copy_to(out[i * n:(i + 1) * n], stream)
        for stream in streams:
            stream.synchronize()

    return run, lambda: out


DEMO = _demo.Demo("streams", 1 << 21, 1 << 10, data, with_numpy, with_numba, with_jit, tolerance=4 * 2.0**-23)

if __name__ == "__main__":
    sys.exit(_demo.main(DEMO, sys.argv[1:]))
