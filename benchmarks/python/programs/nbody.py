"""Gravity between all pairs of bodies: on the device through tiles in shared memory."""

import math

import numpy as np
from numba import cuda, float32, njit, prange

SIZE, SIMULATOR_SIZE = 4096, 128
BLOCK = 128
SOFTENING = np.float32(1e-3)
OUTPUTS, TOLERANCE = (2,), 1e-3


@cuda.jit(fastmath=True)
def forces_kernel(positions, masses, forces):
    tile = cuda.shared.array((BLOCK, 4), float32)
    i, lane = cuda.grid(1), cuda.threadIdx.x
    x, y, z = positions[i, 0], positions[i, 1], positions[i, 2]
    fx, fy, fz = float32(0), float32(0), float32(0)
    for start in range(0, positions.shape[0], BLOCK):
        tile[lane, 0] = positions[start + lane, 0]
        tile[lane, 1] = positions[start + lane, 1]
        tile[lane, 2] = positions[start + lane, 2]
        tile[lane, 3] = masses[start + lane]
        cuda.syncthreads()
        for j in range(BLOCK):
            dx, dy, dz = tile[j, 0] - x, tile[j, 1] - y, tile[j, 2] - z
            inverse = float32(1) / math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
            scale = tile[j, 3] * inverse * inverse * inverse
            fx += dx * scale
            fy += dy * scale
            fz += dz * scale
        cuda.syncthreads()
    forces[i, 0], forces[i, 1], forces[i, 2] = fx, fy, fz


@njit(parallel=True, fastmath=True, error_model="numpy")
def forces_of(xs, ys, zs, masses, forces):
    for i in prange(masses.size):
        fx, fy, fz = np.float32(0), np.float32(0), np.float32(0)
        for j in range(masses.size):
            dx, dy, dz = xs[j] - xs[i], ys[j] - ys[i], zs[j] - zs[i]
            inverse = np.float32(1) / math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
            scale = masses[j] * inverse * inverse * inverse
            fx += dx * scale
            fy += dy * scale
            fz += dz * scale
        forces[i, 0], forces[i, 1], forces[i, 2] = fx, fy, fz


def arguments(size, random):
    return [random.random((size, 3), np.float32), random.random(size, np.float32), np.zeros((size, 3), np.float32)]


def work(size):
    """Threads, times the steps of each."""
    return size * size


def launch(positions, masses, forces):
    forces_kernel[masses.size // BLOCK, BLOCK](positions, masses, forces)


def compute(positions, masses, forces):
    """Coordinates apart, as SIMD code wants them."""
    xs, ys, zs = (np.ascontiguousarray(positions[:, k]) for k in range(3))
    forces_of(xs, ys, zs, masses, forces)


def reference(positions, masses, _):
    places = positions.astype(np.float64)
    result = np.empty_like(places)
    for i, place in enumerate(places):
        distance = places - place
        result[i] = (distance * (masses / ((distance**2).sum(axis=1) + SOFTENING) ** 1.5)[:, None]).sum(axis=0)
    return [result]
