"""The demonstrations' kernels for Numba. Imported when Numba is there; Numba's simulator wants `cuda` to be a global of the module."""

from numba import cuda, float32, float64, uint64

TILE, THREADS, POINTS = 16, 256, 64


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def matmul(a, b, out):
    of_a = cuda.shared.array((TILE, TILE), float32)
    of_b = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for k in range(0, a.shape[0], TILE):
        of_a[y, x] = a[row, k + x]
        of_b[y, x] = b[k + y, column]
        cuda.syncthreads()
        for i in range(TILE):
            total += of_a[y, i] * of_b[i, x]
        cuda.syncthreads()
    out[row, column] = total


@cuda.jit
def sum_of(x, out):
    part = cuda.shared.array(THREADS, float64)
    i = cuda.threadIdx.x
    mine = 0.0
    for at in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        mine += x[at]
    part[i] = mine
    half = THREADS // 2
    while half > 0:
        cuda.syncthreads()
        if i < half:
            part[i] += part[i + half]
        half //= 2
    if i == 0:
        cuda.atomic.add(out, 0, part[0])


@cuda.jit(device=True)
def mixed(state):
    z = (state ^ (state >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return float64((z ^ (z >> uint64(31))) >> uint64(11)) * 2.0**-53


@cuda.jit
def count(seeds, inside):
    i = cuda.grid(1)
    state = seeds[i]
    found = 0
    for _ in range(POINTS):
        state += uint64(0x9E3779B97F4A7C15)
        x = mixed(state)
        state += uint64(0x9E3779B97F4A7C15)
        y = mixed(state)
        if x * x + y * y <= 1:
            found += 1
    inside[i] = found


@cuda.jit
def roots(x):
    i = cuda.grid(1)
    if i < x.size:
        y = x[i]
        for _ in range(20):
            y = float32(0.5) * (y + x[i] / y)
        x[i] = y


@cuda.jit
def step(source, target):
    i = cuda.grid(1)
    n = source.size
    if i < n:
        if i == 0 or i == n - 1:
            target[i] = source[i]
        else:
            target[i] = float32(0.5) * source[i] + float32(0.25) * (source[i - 1] + source[i + 1])
