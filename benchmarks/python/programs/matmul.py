"""Product of square matrices in tiles: on the device through shared memory, on the host so that a tile of b stays in the cache."""

import numpy as np
from numba import cuda, float32, njit, prange

SIZE, SIMULATOR_SIZE = 512, 32
TILE = 16
OUTPUTS, TOLERANCE = (2,), 1e-5


@cuda.jit
def matmul_kernel(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    row, column = cuda.threadIdx.y, cuda.threadIdx.x
    i, j = cuda.blockIdx.y * TILE + row, cuda.blockIdx.x * TILE + column
    total = float32(0)
    for start in range(0, a.shape[1], TILE):
        tile_a[row, column] = a[i, start + column]
        tile_b[row, column] = b[start + row, j]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[row, k] * tile_b[k, column]
        cuda.syncthreads()
    c[i, j] = total


@njit(parallel=True, fastmath=True)
def matmul(a, b, c):
    for block in prange(c.shape[0] // TILE):
        first = block * TILE
        c[first : first + TILE, :] = 0
        for start in range(0, a.shape[1], TILE):
            for i in range(first, first + TILE):
                for k in range(start, start + TILE):
                    factor = a[i, k]
                    for j in range(c.shape[1]):
                        c[i, j] += factor * b[k, j]


def arguments(size, random):
    return [random.random((size, size), np.float32), random.random((size, size), np.float32), np.zeros((size, size), np.float32)]


def work(size):
    """Threads, times the steps of each."""
    return size**3


def launch(a, b, c):
    blocks = c.shape[0] // TILE
    matmul_kernel[(blocks, blocks), (TILE, TILE)](a, b, c)


def compute(a, b, c):
    matmul(a, b, c)


def reference(a, b, _):
    return [a.astype(np.float64) @ b.astype(np.float64)]
