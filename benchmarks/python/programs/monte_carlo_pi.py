"""Pi by throwing darts, with the generator that Numba brings (xoroshiro128+), a stream of numbers a thread.

The counts are compared with those of NumPy, which draws the same numbers.
"""

import numpy as np
from numba import cuda, njit, prange
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_dtype, xoroshiro128p_uniform_float32

SIZE, SIMULATOR_SIZE = 1 << 15, 1 << 7
THROWS = 64
BLOCK = 128
ONE = np.float32(1)
OUTPUTS, TOLERANCE = (1,), 0


def count_hits(states, i):
    hits = 0
    for _ in range(THROWS):
        x = xoroshiro128p_uniform_float32(states, i)
        y = xoroshiro128p_uniform_float32(states, i)
        if x * x + y * y <= ONE:
            hits += 1
    return hits


count_hits_device = cuda.jit(device=True)(count_hits)
count_hits_host = njit(count_hits)


@cuda.jit
def throw_kernel(states, hits):
    i = cuda.grid(1)
    if i < hits.size:
        hits[i] = count_hits_device(states, i)


@njit(parallel=True)
def throw(states, hits):
    for i in prange(hits.size):
        hits[i] = count_hits_host(states, i)


def arguments(size, random):
    states = np.zeros(size, xoroshiro128p_dtype)
    states["s0"], states["s1"] = random.integers(1, 1 << 63, size, np.uint64), random.integers(1, 1 << 63, size, np.uint64)
    return [states, np.zeros(size, np.int32)]


def work(size):
    return size


def launch(states, hits):
    throw_kernel[-(-hits.size // BLOCK), BLOCK](states, hits)


def compute(states, hits):
    throw(states, hits)


def agrees(hits, expected):
    """A multiply-add has one rounding less: a dart on the very border may count or not."""
    return np.abs(hits - expected).sum() <= 4


def draw(s0, s1):
    """The next number of each stream as Numba makes a float32 of it, and the streams' next states."""
    rotate = lambda value, k: (value << np.uint64(k)) | (value >> np.uint64(64 - k))
    value = ((s0 + s1) >> np.uint64(11)).astype(np.float64) * (1.0 / (1 << 53))
    s1 = s1 ^ s0
    return value.astype(np.float32), rotate(s0, 55) ^ s1 ^ (s1 << np.uint64(14)), rotate(s1, 36)


def reference(states, hits):
    s0, s1 = states["s0"].copy(), states["s1"].copy()
    total = np.zeros_like(hits)
    for _ in range(THROWS):
        x, s0, s1 = draw(s0, s1)
        y, s0, s1 = draw(s0, s1)
        total += x * x + y * y <= ONE
    return [total]
