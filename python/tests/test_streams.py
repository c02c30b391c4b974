"""Streams and events."""

import asyncio
import threading
import time

import cupola
import numpy as np
import pytest
from cupola import streams

@pytest.fixture
def cell():
    return cupola.Buffer.from_numpy(np.zeros(1, np.int32))


def test_a_launch_in_a_stream_does_not_wait(cell, gate):
    stream = cupola.Stream()
    gate.kernel[1, 1, stream](gate.buffer, cell, 1)
    assert not stream.done
    gate.open()
    stream.synchronize()
    assert stream.done and cell.to_numpy()[0] == 1


def test_events_order_streams(cell, gate):
    first, second = cupola.Stream(), cupola.Stream()
    gate.kernel[1, 1, first](gate.buffer, cell, 1)
    event = first.record()
    second.wait(event)
    gate.kernel[1, 1, second](gate.buffer, cell, 2)
    assert not event.done
    gate.open()
    second.synchronize()
    assert event.done and cell.to_numpy()[0] == 12


def test_ordered(cell, gate):
    first, second = cupola.Stream(), cupola.Stream()
    gate.kernel[1, 1, first](gate.buffer, cell, 3)
    with streams.ordered(first, second):
        gate.kernel[1, 1, second](gate.buffer, cell, 4)
    gate.open()
    second.synchronize()
    assert cell.to_numpy()[0] == 34


def test_events_measure_seconds(cell, gate):
    stream, begin, end = cupola.Stream(), cupola.Event(), cupola.Event()
    begin.record(stream)
    gate.kernel[1, 1, stream](gate.buffer, cell, 1)
    end.record(stream)
    time.sleep(0.05)
    gate.open()
    end.synchronize()
    assert end.done and 0.04 < end.since(begin) < 60


def test_leaving_the_context_waits(cell, gate):
    view = cell.host()
    timer = threading.Timer(0.05, gate.open)
    with cupola.Stream() as stream:
        gate.kernel[1, 1, stream](gate.buffer, cell, 5)
        timer.start()
    assert view[0] == 5


def test_awaiting_leaves_the_event_loop_free(cell, gate):
    async def both():
        stream = cupola.Stream()
        gate.kernel[1, 1, stream](gate.buffer, cell, 7)
        waiting = asyncio.create_task(streams.finished(stream))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        gate.open()  # without this the kernel never ends: only a free event loop comes here
        await waiting

    asyncio.run(both())
    assert cell.to_numpy()[0] == 7


def test_awaiting_a_broken_kernel_raises(python):
    assert python("""
import asyncio, cupola
from cupola import streams
broken = cupola.jit("__global__ void broken(int* x) { *x = 1; }")
stream = cupola.Stream()
broken[1, 1, stream](None)
try:
    asyncio.run(streams.finished(stream))
except cupola.CudaError as error:
    print(error.name)
""") == "CUDA_ERROR_ILLEGAL_ADDRESS\n"


def test_copies_in_a_stream_keep_its_order(gate):
    stream = cupola.Stream()
    source, target = cupola.pinned(1, np.int32), cupola.pinned(1, np.int32)
    source[:], target[:] = 1, 0
    cell = cupola.Buffer(1, np.int32)
    cell.copy_from(source, stream)
    gate.kernel[1, 1, stream](gate.buffer, cell, 2)
    cell.copy_to(target, stream)
    assert target[0] == 0
    gate.open()
    stream.synchronize()
    assert target[0] == 12


class Protocol:
    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return 0, self.handle


def test_what_stands_for_a_stream():
    stream = cupola.Stream()
    for form in (stream, stream.handle, Protocol(stream.handle)):
        assert streams.handle_of(form) == stream.handle != 0
    assert streams.handle_of(None) == 0
    assert streams.from_numba(Protocol(stream.handle)).handle == stream.handle
    with pytest.raises(TypeError, match="is no stream"):
        streams.handle_of("fast")
