"""saxpy: y += a x in place, a thread an element."""

import numpy as np
from numba import cuda, njit, prange

SIZE, SIMULATOR_SIZE = 1 << 23, 1 << 12
BLOCK = 256
OUTPUTS, TOLERANCE = (2,), 1e-6


@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] += a * x[i]


@njit(parallel=True, fastmath=True)
def saxpy(a, x, y):
    for i in prange(y.size):
        y[i] += a * x[i]


def arguments(size, random):
    return [np.float32(1.5), random.random(size, np.float32), random.random(size, np.float32)]


def work(size):
    return -(-size // BLOCK) * BLOCK


def launch(a, x, y):
    saxpy_kernel[-(-y.size // BLOCK), BLOCK](a, x, y)


def compute(a, x, y):
    saxpy(a, x, y)


def reference(a, x, y):
    return [a * x + y]
