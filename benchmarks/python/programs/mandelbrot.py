"""The Mandelbrot set, a thread a pixel: loops of lengths that differ from pixel to pixel."""

import numpy as np
from numba import cuda, njit, prange

SIZE, SIMULATOR_SIZE = 768, 32
LIMIT = 100
LEFT, RIGHT, BOTTOM, TOP = -2.0, 1.0, -1.5, 1.5
BLOCK = (32, 8)
OUTPUTS, TOLERANCE = (0,), 0


@cuda.jit
def mandelbrot_kernel(image):
    x, y = cuda.grid(2)
    if y < image.shape[0] and x < image.shape[1]:
        c_re = LEFT + x * ((RIGHT - LEFT) / image.shape[1])
        c_im = BOTTOM + y * ((TOP - BOTTOM) / image.shape[0])
        re, im, count = 0.0, 0.0, 0
        while count < LIMIT and re * re + im * im <= 4.0:
            re, im = re * re - im * im + c_re, 2.0 * re * im + c_im
            count += 1
        image[y, x] = count


@njit(parallel=True, error_model="numpy")
def mandelbrot(image):
    for y in prange(image.shape[0]):
        for x in range(image.shape[1]):
            c_re = LEFT + x * ((RIGHT - LEFT) / image.shape[1])
            c_im = BOTTOM + y * ((TOP - BOTTOM) / image.shape[0])
            re, im, count = 0.0, 0.0, 0
            while count < LIMIT and re * re + im * im <= 4.0:
                re, im = re * re - im * im + c_re, 2.0 * re * im + c_im
                count += 1
            image[y, x] = count


def arguments(size, _):
    return [np.zeros((size, size), np.int32)]


def work(size):
    return -(-size // BLOCK[0]) * BLOCK[0] * -(-size // BLOCK[1]) * BLOCK[1]


def launch(image):
    rows, columns = image.shape
    mandelbrot_kernel[(-(-columns // BLOCK[0]), -(-rows // BLOCK[1])), BLOCK](image)


def compute(image):
    mandelbrot(image)


def reference(image):
    rows, columns = image.shape
    c = (LEFT + np.arange(columns) * ((RIGHT - LEFT) / columns))[None, :] + 1j * (BOTTOM + np.arange(rows) * ((TOP - BOTTOM) / rows))[:, None]
    z, count = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(LIMIT):
        inside = z.real * z.real + z.imag * z.imag <= 4.0
        z[inside] = z[inside] ** 2 + c[inside]
        count += inside
    return [count]


def agrees(result, expected):
    """Rounding (a multiply-add has one rounding less) moves a few pixels of the border by some counts."""
    return np.mean(result != expected) < 0.002
