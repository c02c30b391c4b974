"""Several devices, each with its resets, and threads that work with one."""

import ctypes
import os

import cupola
import pytest

TWO = """
import ctypes, threading
import cupola, numpy as np
first, second = cupola.devices()
library = ctypes.CDLL("libcuda.so.1", ctypes.RTLD_GLOBAL)

def here():
    "The device that this thread works with."
    cupola.synchronize()
    device = ctypes.c_int(-1)
    assert library.cuCtxGetDevice(ctypes.byref(device)) == 0
    return device.value

def on_a_thread(work):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(work()))
    thread.start()
    thread.join()
    return answers[0]

cupola.synchronize()
"""


@pytest.fixture
def two_devices(python):
    """Runs a program where there are two."""
    return lambda text: python(TWO + text, env={**os.environ, "CUPOLA_DEVICE_COUNT": "2"})


def test_a_thread_stays_with_its_device(two_devices):
    two_devices("""
assert here() == 0
second.use()
for device in (first, second, first):
    device.reset()
    assert here() == 1
assert on_a_thread(here) == 0
""")


def test_a_thread_stays_with_its_device_when_another_resets(two_devices):
    two_devices("""
chosen, reset = threading.Event(), threading.Event()

def work():
    second.use()
    chosen.set()
    assert reset.wait(60)
    return here()

threading.Thread(target=lambda: (chosen.wait(60), first.reset(), second.reset(), reset.set())).start()
assert on_a_thread(work) == 1
assert here() == 0
""")


def test_a_device_that_another_package_chose(two_devices):
    two_devices("""
def work():
    context = ctypes.c_void_p()
    assert library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 1) == 0
    assert library.cuCtxSetCurrent(context) == 0
    before = here()
    second.reset()
    return before, here()

assert on_a_thread(work) == (1, 1)
""")


def test_a_reset_leaves_other_devices_alone(two_devices):
    two_devices("""
second.use()
free = cupola.memory_info()[0]
buffer = cupola.Buffer(1 << 28)
first.reset()
second.use()
buffer.fill(7)
assert buffer.to_numpy()[-1] == 7
buffer.free()
assert cupola.memory_info()[0] >= free - (1 << 22)
""")


def test_kernels_and_pipelines_are_of_the_threads_device(two_devices):
    two_devices("""
source = "__global__ void add_one(int* x) { *x += 1; }"

def work(device):
    device.use()
    kernel, x, stream = cupola.jit(source), cupola.Buffer.from_numpy(np.zeros(1, np.int32)), cupola.Stream()
    kernel[1, 1, stream](x)
    x = cupola.pipeline.run("multiply", x, 5, stream=stream)
    stream.synchronize()
    assert x.to_numpy()[0] == 5
    return kernel

kernels = [work(device) for device in (first, second, first, second)]
assert kernels[:2] == kernels[2:] and kernels[0] is not kernels[1]
first.reset()
assert work(second) is kernels[1] and work(first) is not kernels[0]
""")


def test_memory_is_freed_on_threads_without_a_context(two_devices):
    two_devices("""
free = cupola.memory_info()[0]
buffer = cupola.Buffer(1 << 28)
on_a_thread(buffer.free)
assert cupola.memory_info()[0] >= free - (1 << 22)
""")


@pytest.mark.parametrize("number", [-1, 1000])
def test_a_device_that_there_is_not(number):
    from cupola._installation import driver

    for call in (driver().use_device, driver().reset_device):
        with pytest.raises(cupola.CudaError, match="CUDA_ERROR_INVALID_DEVICE"):
            call(number)


def test_an_error_says_nothing_of_others_failures():
    cupola.synchronize()
    assert ctypes.CDLL("libcuda.so.1").cuMemFree_v2(ctypes.c_uint64(1)) != 0
    with pytest.raises(cupola.CudaError) as error:
        cupola.devices()[0].attribute(9999)
    assert str(error.value).endswith("(CUDA_ERROR_INVALID_VALUE)")
