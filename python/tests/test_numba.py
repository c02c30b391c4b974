"""Numba's kernels on Cupola: numba-cuda, and the target that Numba has built in (CUPOLA_TEST_BUILTIN=1 leaves numba-cuda alone). NumPy is the judge."""

import asyncio
import math
import multiprocessing
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import cupola
import cupola.numba  # noqa: F401  before numba.cuda
import numpy as np
import pytest
from cupola import streams

cuda = pytest.importorskip("numba.cuda")
numba = pytest.importorskip("numba")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.filterwarnings("error::RuntimeWarning")]  # of Numba's advice on speed

RANDOM = np.random.default_rng(1)


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


def added(size=1000, dtype=np.float32):
    a, b = (RANDOM.random((2, size)) * 100).astype(dtype)
    return a, b, np.zeros_like(a)


def test_which_numba_this_is():
    builtin = os.environ.get("CUPOLA_TEST_BUILTIN") == "1"
    assert ("numba_cuda" in cuda.__file__) != builtin
    assert cuda.is_available()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "c8", "c16"])
def test_numpy_arrays_are_copied_in_and_out(dtype):
    a, b, out = added(dtype=dtype)
    add[32, 32](a, b, out)
    assert np.array_equal(out, a + b)


def test_device_arrays():
    a, b, out = (cuda.to_device(array) for array in added())
    add[4, 256](a, b, out)
    assert np.array_equal(out.copy_to_host(), a.copy_to_host() + b.copy_to_host())


@cuda.jit
def multiply(a, b, out):
    tile_a, tile_b = cuda.shared.array((16, 16), numba.float64), cuda.shared.array((16, 16), numba.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = 0.0
    for k in range(0, a.shape[1], 16):
        tile_a[y, x], tile_b[y, x] = a[row, k + x], b[k + y, column]
        cuda.syncthreads()
        for i in range(16):
            total += tile_a[y, i] * tile_b[i, x]
        cuda.syncthreads()
    out[row, column] = total


def test_shared_memory_and_barriers():
    a, b = RANDOM.integers(-9, 9, (2, 64, 64)).astype(np.float64)
    out = np.zeros((64, 64))
    multiply[(4, 4), (16, 16)](a, b, out)
    assert np.array_equal(out, a @ b)


@cuda.jit
def count(x, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i], 1)


def test_atomics():
    x, bins = RANDOM.integers(0, 10, 10000), np.zeros(10, np.int64)
    count[40, 256](x, bins)
    assert np.array_equal(bins, np.bincount(x, minlength=10))


@cuda.jit
def functions(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i], out[1, i], out[2, i] = math.sin(x[i]), math.exp(x[i]), math.log(x[i])
        out[3, i], out[4, i], out[5, i] = math.pow(x[i], 1.7), math.tanh(x[i]), math.erf(x[i])


def test_libdevices_functions():
    x = RANDOM.uniform(0.01, 10, 1000)
    out = np.zeros((6, x.size))
    functions[4, 256](x, out)
    wanted = [np.sin(x), np.exp(x), np.log(x), np.power(x, 1.7), np.tanh(x), np.vectorize(math.erf)(x)]
    np.testing.assert_allclose(out, wanted, rtol=2e-15, atol=1e-15)


@cuda.jit
def warps(out):
    i = cuda.grid(1)
    value = i
    for shift in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, shift)
    if cuda.laneid == 0:
        out[i // 32] = value


def test_warp_operations():
    out = np.zeros(4, np.int64)
    warps[2, 64](out)
    assert np.array_equal(out, np.arange(128).reshape(4, 32).sum(1))


def test_reduce_and_vectorize():
    total = cuda.reduce(lambda a, b: a + b)
    assert total(np.arange(1000.0)) == 499500

    @numba.vectorize(["float64(float64)"], target="cuda")
    def doubled(x):
        return 2 * x

    assert np.array_equal(doubled(np.arange(100.0)), 2 * np.arange(100.0))


def test_random_numbers_are_numbas():
    from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float64

    @cuda.jit
    def draw(states, out):
        i = cuda.grid(1)
        out[i] = xoroshiro128p_uniform_float64(states, i)

    out = np.zeros(256)
    draw[2, 128](create_xoroshiro128p_states(256, seed=1), out)
    assert 0.4 < out.mean() < 0.6 and np.unique(out).size == 256


def test_an_exception_of_a_kernel_is_pythons():
    @cuda.jit(debug=True, opt=False)
    def fail(x):
        if cuda.grid(1) == 3:
            raise ValueError("three")

    with pytest.raises(ValueError, match="three"):
        fail[1, 4](np.zeros(1))


# -- with the rest of the package --


def test_buffers_are_arrays_of_numba():
    a, b, out = (cupola.Buffer.from_numpy(array) for array in added())
    add[4, 256](a, b, out)
    cuda.synchronize()
    assert np.array_equal(out.to_numpy(), a.to_numpy() + b.to_numpy())


def test_numbas_arrays_are_arguments_of_cupolas_kernels():
    kernel = cupola.jit("__global__ void half(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 0.5f; }")
    array = np.arange(100, dtype=np.float32)
    on_device = cuda.to_device(array)
    kernel(on_device, n=100)
    assert np.array_equal(on_device.copy_to_host(), array / 2)


def test_numbas_streams_in_cupola():
    stream = cuda.stream()
    a, b, out = (cuda.to_device(array, stream) for array in added())
    add[4, 256, stream](a, b, out)
    streams.from_numba(stream).synchronize()
    assert np.array_equal(out.copy_to_host(), a.copy_to_host() + b.copy_to_host())
    kernel = cupola.jit("__global__ void three(float* x) { x[threadIdx.x] = 3; }")
    kernel[1, 100, stream](out)
    stream.synchronize()
    assert (out.copy_to_host()[:100] == 3).all()


def test_cupolas_streams_in_numba():
    stream = cupola.Stream()
    theirs = streams.to_numba(stream)
    a, b, out = (cuda.to_device(array, theirs) for array in added())
    add[4, 256, theirs](a, b, out)
    asyncio.run(streams.finished(stream))
    assert np.array_equal(out.copy_to_host(), a.copy_to_host() + b.copy_to_host())


def test_awaiting_numbas_stream():
    stream = cuda.stream()
    a, b, out = (cuda.to_device(array) for array in added())
    add[4, 256, stream](a, b, out)
    asyncio.run(streams.finished(stream))
    assert np.array_equal(out.copy_to_host(), a.copy_to_host() + b.copy_to_host())


# -- threads and processes --


def add_once(_):
    a, b, out = added(777)
    add[4, 256](a, b, out)
    return np.array_equal(out, a + b)


def test_many_threads():
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(add_once, range(40)))


def test_two_processes_at_once():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(add_once, range(4)) == [True] * 4


# -- programs that know nothing of Cupola --

PROGRAM = """
import sys
import numpy as np
from numba import cuda

@cuda.jit
def twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2

x = np.arange(100)
twice[4, 32](x)
print((x == 2 * np.arange(100)).all(), "cupola" in sys.modules)
"""


def test_cupola_run_runs_an_unmodified_program(tmp_path):
    (tmp_path / "app.py").write_text(PROGRAM)
    (tmp_path / "parent.py").write_text("import subprocess, sys\nsys.exit(subprocess.call([sys.executable, '-W', 'ignore', 'app.py']))\n")
    environment = {name: value for name, value in os.environ.items() if name not in ("CUDA_HOME", "CUDA_PATH", "NUMBA_CUDA_DRIVER")}
    for program in ("app.py", "parent.py"):
        done = subprocess.run([sys.executable, "-m", "cupola", "run", sys.executable, "-W", "ignore", program], capture_output=True, text=True, cwd=tmp_path,
                              env=environment)
        assert (done.returncode, done.stdout) == (0, "True False\n"), done.stderr


def test_one_line_is_enough(tmp_path):
    (tmp_path / "app.py").write_text("import cupola; cupola.patch()\n" + PROGRAM)
    done = subprocess.run([sys.executable, "-W", "ignore", "app.py"], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr


@pytest.mark.parametrize("demo", ["add", "buffers", "matmul", "monte_carlo", "reduction", "streams"])
def test_demo(demo):
    beside_simulator = demo == "add"  # the simulator takes seconds
    command = [sys.executable, "-W", "ignore", "-m", f"cupola.demos.{demo}", "--size", "65536", *([] if beside_simulator else ["--no-simulator"])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{demo}: right, by Numba" in done.stdout
    assert (re.search(r"Numba's simulator \d+ ms", done.stdout) is not None) == beside_simulator
