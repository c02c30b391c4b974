"""Vector addition, one thread an element."""

import numpy as np
from numba import cuda, njit, prange

SIZE, SIMULATOR_SIZE = 1 << 23, 1 << 12
BLOCK = 256
OUTPUTS, TOLERANCE = (2,), 0.0


@cuda.jit
def add_kernel(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@njit(parallel=True)
def add(a, b, c):
    for i in prange(c.size):
        c[i] = a[i] + b[i]


def arguments(size, random):
    return [random.random(size, np.float32), random.random(size, np.float32), np.zeros(size, np.float32)]


def work(size):
    return -(-size // BLOCK) * BLOCK


def launch(a, b, c):
    add_kernel[-(-c.size // BLOCK), BLOCK](a, b, c)


def compute(a, b, c):
    add(a, b, c)


def reference(a, b, _):
    return [a + b]
