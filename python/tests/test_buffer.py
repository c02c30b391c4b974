"""cupola.Buffer, and arrays of others."""

import cupola
import numpy as np
import pytest
from foreign import Foreign

ADD = cupola.jit("__global__ void add_one(int* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }")


def test_copies_in_and_out():
    array = np.random.default_rng(1).random((3, 5, 7))
    buffer = cupola.Buffer.from_numpy(array)
    assert (buffer.shape, buffer.dtype, buffer.size, buffer.nbytes, buffer.ndim, len(buffer)) == ((3, 5, 7), np.float64, 105, 840, 3, 3)
    assert np.array_equal(buffer.to_numpy(), array)
    assert np.array_equal(np.asarray(buffer, np.float32), array.astype(np.float32))
    other = cupola.Buffer(array.shape, array.dtype)
    other.copy_from(buffer)
    back = np.zeros_like(array)
    other.copy_to(back)
    assert np.array_equal(back, array)


def test_an_array_with_gaps_is_copied_in_its_order():
    array = np.arange(20).reshape(4, 5)
    assert np.array_equal(cupola.Buffer.from_numpy(array[::2, ::-1]).to_numpy(), array[::2, ::-1])


def test_kernels_change_it_and_do_not_wait():
    buffer = cupola.Buffer.from_numpy(np.zeros(1000, np.int32))
    for _ in range(3):
        ADD(buffer, n=500)
    assert np.array_equal(buffer.to_numpy(), [3] * 500 + [0] * 500)


@pytest.mark.parametrize("value", [0, -1, 7, 2**31 - 1])
def test_fill(value):
    buffer = cupola.Buffer(77, np.int32)
    buffer.fill(value)
    assert np.array_equal(buffer.to_numpy(), [value] * 77)


def test_dlpack_and_host_share_the_memory():
    buffer = cupola.Buffer.from_numpy(np.arange(6, dtype=np.int32))
    view, shared = buffer.host(), np.from_dlpack(buffer)
    ADD(buffer, n=6)
    cupola.synchronize()
    assert view.tolist() == shared.tolist() == [1, 2, 3, 4, 5, 6]
    assert shared.ctypes.data == view.ctypes.data == buffer.address
    assert buffer.__dlpack_device__() == (1, 0)


def test_views_keep_the_memory():
    view = cupola.Buffer.from_numpy(np.arange(1 << 16)).host()
    others = [cupola.Buffer.from_numpy(np.zeros(1 << 16, np.int64)) for _ in range(4)]
    assert view[-1] == (1 << 16) - 1 and len(others) == 4


def test_the_interface_of_other_packages_arrays():
    buffer = cupola.Buffer.from_numpy(np.zeros((4, 8), np.int32))
    interface = buffer.__cuda_array_interface__
    assert interface["version"] == 3 and interface["shape"] == (4, 8) and interface["typestr"] == "<i4" and interface["strides"] is None
    ADD(Foreign(buffer), n=32)
    ADD(Foreign(buffer, strides=(32, 4)), 32)
    assert (buffer.to_numpy() == 2).all()
    with pytest.raises(ValueError, match="has gaps, or is not in C order"):
        ADD(Foreign(buffer, strides=(4, 16)), 32)
    with pytest.raises(ValueError, match="read-only"):
        ADD(Foreign(buffer, data=(buffer.address, True)), 32)
    with pytest.raises(TypeError, match="dtype float32"):
        ADD(Foreign(buffer, typestr="<f4"), 32)


def test_an_array_in_work_in_another_stream_is_waited_for(gate):
    stream, other = cupola.Stream(), cupola.Stream()
    buffer = cupola.Buffer.from_numpy(np.array([4], np.int32))
    gate.kernel[1, 1, stream](gate.buffer, buffer, 1)
    ADD[1, 1, other](Foreign(buffer, stream=stream.handle), 1)
    assert not other.done
    gate.open()
    other.synchronize()
    assert buffer.to_numpy()[0] == 42


@pytest.mark.parametrize("default", [1, 2], ids=["legacy", "of_the_thread"])
def test_an_array_in_work_in_a_default_stream_is_waited_for(gate, default):
    other = cupola.Stream()
    buffer = cupola.Buffer.from_numpy(np.array([4], np.int32))
    gate.kernel[1, 1, default](gate.buffer, buffer, 1)
    ADD[1, 1, other](Foreign(buffer, stream=default), 1)
    assert not other.done
    gate.open()
    other.synchronize()
    assert buffer.to_numpy()[0] == 42


def test_strides_of_dimensions_of_length_one_say_nothing():
    buffer = cupola.Buffer.from_numpy(np.zeros((1, 3, 1), np.int32))
    ADD(Foreign(buffer, strides=(4, 4, 400)), 3)
    assert (buffer.to_numpy() == 1).all()


def test_empty_buffers():
    buffer = cupola.Buffer((0, 3), np.float32)
    assert buffer.address == 0 and buffer.to_numpy().shape == (0, 3)
    buffer.fill(1)
    assert np.asarray(buffer).size == 0


@pytest.mark.parametrize(("make", "error", "message"), [
    (lambda: cupola.Buffer(-1), ValueError, "negative dimensions"),
    (lambda: cupola.Buffer(1, object), TypeError, "no Python objects"),
    (lambda: cupola.Buffer(1 << 60), cupola.CudaError, "CUDA_ERROR_OUT_OF_MEMORY"),
    (lambda: cupola.Buffer(3).copy_from(np.zeros(4, np.uint8)), ValueError, "an array of 4 elements: the buffer has 3"),
    (lambda: cupola.Buffer(4, np.float64).copy_from(np.arange(4)), TypeError, r"dtype int64: the buffer has float64; give x.astype\(np.float64\)"),
    (lambda: cupola.Buffer(4, np.float64).copy_to(np.zeros(4, np.int64)), TypeError, "dtype int64: the buffer has float64"),
    (lambda: cupola.Buffer(3).copy_to(np.zeros(6, np.uint8)[::2]), ValueError, "without gaps"),
    (lambda: cupola.Buffer(3).copy_to(b"abc"), ValueError, "must be a NumPy array"),
])
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_memory_is_given_back():
    free = cupola.memory_info()[0]
    buffer = cupola.Buffer(1 << 28)
    assert cupola.memory_info()[0] <= free - (1 << 28)
    buffer.free()
    with cupola.Buffer(1 << 28):
        pass
    del buffer
    assert cupola.memory_info()[0] >= free - (1 << 22)


def test_pinned_arrays():
    array = cupola.pinned((4, 4), np.int32)
    array[:] = 5
    ADD[1, 16](array, 16)
    assert (array == 6).all()
