"""Histogram of bytes: a block counts in shared memory, a thread of the host in a table of its own."""

import numpy as np
from numba import cuda, get_num_threads, int32, njit, prange

SIZE, SIMULATOR_SIZE = 1 << 23, 1 << 12
BINS = 256
BLOCK, BLOCKS = 256, 64
OUTPUTS, TOLERANCE = (1,), 0


@cuda.jit
def clear_kernel(bins):
    bins[cuda.grid(1)] = 0


@cuda.jit
def histogram_kernel(values, bins):
    counts = cuda.shared.array(BINS, int32)
    counts[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, values[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(bins, cuda.threadIdx.x, counts[cuda.threadIdx.x])


@njit(parallel=True)
def histogram(values, bins):
    parts = get_num_threads()
    counts = np.zeros((parts, BINS), np.int32)
    for part in prange(parts):
        own = counts[part]
        for i in range(part * values.size // parts, (part + 1) * values.size // parts):
            own[values[i]] += 1
    bins[:] = counts.sum(axis=0)


def blocks(size):
    return min(BLOCKS, -(-size // (4 * BLOCK)))


def arguments(size, random):
    return [random.integers(0, BINS, size, np.uint8), np.zeros(BINS, np.int32)]


def work(size):
    """Elements: the grid is as large for every array."""
    return size


def launch(values, bins):
    clear_kernel[1, BINS](bins)
    histogram_kernel[blocks(values.size), BLOCK](values, bins)


def compute(values, bins):
    histogram(values, bins)


def reference(values, _):
    return [np.bincount(values, minlength=BINS)]
