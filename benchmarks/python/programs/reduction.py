"""Sum of an array: blocks leave their sums, which one block adds; on the host Numba's own parallel reduction."""

import numpy as np
from numba import cuda, float32, njit, prange

SIZE, SIMULATOR_SIZE = 1 << 24, 1 << 12
BLOCK, BLOCKS = 256, 64
OUTPUTS, TOLERANCE = (2,), 1e-5


@cuda.jit
def sum_kernel(x, sums):
    shared = cuda.shared.array(BLOCK, float32)
    lane = cuda.threadIdx.x
    total = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    shared[lane] = total
    cuda.syncthreads()
    step = BLOCK // 2
    while step > 0:
        if lane < step:
            shared[lane] += shared[lane + step]
        cuda.syncthreads()
        step //= 2
    if lane == 0:
        sums[cuda.blockIdx.x] = shared[0]


@njit(parallel=True, fastmath=True)
def sum_all(x):
    total = np.float32(0)
    for i in prange(x.size):
        total += x[i]
    return total


def blocks(size):
    return min(BLOCKS, -(-size // (4 * BLOCK)))


def arguments(size, random):
    return [random.random(size, np.float32), np.zeros(blocks(size), np.float32), np.zeros(1, np.float32)]


def work(size):
    """Elements: the grid is as large for every array."""
    return size


def launch(x, sums, total):
    sum_kernel[sums.size, BLOCK](x, sums)
    sum_kernel[1, BLOCK](sums, total)


def compute(x, _, total):
    total[0] = sum_all(x)


def reference(x, *_):
    return [np.array([x.sum(dtype=np.float64)])]
