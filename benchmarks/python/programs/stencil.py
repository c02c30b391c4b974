"""A step of Jacobi's method on a plane: the mean of four neighbours, a thread a point."""

import numpy as np
from numba import cuda, njit, prange

SIZE, SIMULATOR_SIZE = 4096, 64
BLOCK = (32, 8)
QUARTER = np.float32(0.25)
OUTPUTS, TOLERANCE = (1,), 1e-6


@cuda.jit
def step_kernel(old, new):
    x, y = cuda.grid(2)
    if 0 < y < old.shape[0] - 1 and 0 < x < old.shape[1] - 1:
        new[y, x] = QUARTER * (old[y - 1, x] + old[y + 1, x] + old[y, x - 1] + old[y, x + 1])


@njit(parallel=True)
def step(old, new):
    for y in prange(1, old.shape[0] - 1):
        for x in range(1, old.shape[1] - 1):
            new[y, x] = QUARTER * (old[y - 1, x] + old[y + 1, x] + old[y, x - 1] + old[y, x + 1])


def arguments(size, random):
    return [random.random((size, size), np.float32), np.zeros((size, size), np.float32)]


def work(size):
    return size * size


def launch(old, new):
    rows, columns = old.shape
    step_kernel[(columns // BLOCK[0], rows // BLOCK[1]), BLOCK](old, new)


def compute(old, new):
    step(old, new)


def reference(old, new):
    new = new.copy()
    new[1:-1, 1:-1] = QUARTER * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])
    return [new]
