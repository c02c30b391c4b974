"""Many threads, several processes."""

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor

import cupola
import numpy as np

SOURCE = "__global__ void square(long long* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= x[i]; }"


def squares(seed: int) -> bool:
    """Its own stream, buffers and kernel call, twenty times."""
    kernel, stream = cupola.jit(SOURCE), cupola.Stream()
    for size in np.random.default_rng(seed).integers(1, 5000, 20):
        x = np.arange(seed, seed + size)
        buffer = cupola.Buffer.from_numpy(x)
        kernel.forall(size, stream=stream)(buffer, int(size))
        stream.synchronize()
        y = x.copy()
        kernel(y, n=int(size))
        if not (np.array_equal(buffer.to_numpy(), x * x) and np.array_equal(y, x * x)):
            return False
    return True


def test_many_threads_with_streams_of_their_own():
    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(squares, range(48)))


def test_threads_that_compile_the_same_source_get_one_kernel():
    source = SOURCE + " // of this test"
    barrier, kernels = threading.Barrier(8), []

    def compile_it():
        barrier.wait()
        kernels.append(cupola.jit(source))

    threads = [threading.Thread(target=compile_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, kernels))) == 1


def test_errors_stay_with_their_thread():
    kernel = cupola.jit(SOURCE)

    def wrong(threads):
        try:
            kernel[1, threads](np.zeros(1, np.int64), 1)
        except cupola.CudaError as error:
            return f"block.x is {threads}" in str(error)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(wrong, range(2000, 2100)))


def test_two_processes_at_once():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(squares, range(4)) == [True] * 4


def test_python_goes_on_while_a_kernel_is_waited_for(gate):
    """Waiting gives the interpreter's lock away: else nobody could open the gate."""
    x = np.zeros(1, np.int32)
    thread = threading.Thread(target=lambda: gate.kernel[1, 1](gate.buffer, x, 1))
    thread.start()
    thread.join(0.05)
    assert thread.is_alive()
    gate.open()
    thread.join(60)
    assert x[0] == 1


def test_threads_free_a_buffer_once(python):
    """The driver would say of a second time that there is no such memory."""
    assert not python("""
import os, threading, cupola
os.dup2(1, 2)
def free_all(buffers):
    cupola.synchronize()
    for buffer in buffers:
        buffer.free()
for _ in range(60):
    buffers = [cupola.Buffer(100) for _ in range(500)]
    threads = [threading.Thread(target=free_all, args=(buffers,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
""")


def test_forked_children_are_told(python):
    out = python("""
import os, cupola, numpy as np
cupola.Buffer(4)
child = os.fork()
if child == 0:
    try:
        cupola.Buffer(4)
        print("no error", flush=True)
    except cupola.CudaError as error:
        print(error.name, flush=True)
    os._exit(0)
os.waitpid(child, 0)
""")
    assert out == "CUDA_ERROR_NOT_INITIALIZED\n"
