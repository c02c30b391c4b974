"""Streams and events, awaiting them, and sharing them with Numba and other packages.

    stream = cupola.Stream()
    kernel[blocks, threads, stream](buffer)
    await cupola.streams.finished(stream)

A stream is what any function of this package takes for `stream`: a `Stream`, Numba's stream, any object with CUDA's stream protocol
(`__cuda_stream__`), a handle as an integer, or None for the default stream, which waits for all streams made with blocking=True.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from ._installation import driver


class Stream:
    """A queue of work, in order. Use as a context manager to wait for it at the end. Any thread may use it."""

    def __init__(self, *, blocking: bool = False, priority: int = 0):
        """blocking: waits for the default stream, and that for it, as CUDA's streams do unless made with cudaStreamNonBlocking."""
        self._stream = driver().Stream(blocking, priority)

    @classmethod
    def of_handle(cls, handle: int) -> Stream:
        """Another's stream (a CUstream's address), which stays the other's to end."""
        stream = cls.__new__(cls)
        stream._stream = driver().Stream.of_handle(handle)
        return stream

    @property
    def handle(self) -> int:
        return self._stream.handle

    @property
    def done(self) -> bool:
        """Whether all that was given to it is over."""
        return self._stream.done()

    def synchronize(self) -> None:
        """Waits until all that was given to it is over. Raises CudaError for what a kernel did wrong."""
        self._stream.synchronize()

    def record(self, event: Event | None = None) -> Event:
        """An event that is over when all that the stream has now is."""
        event = event or Event()
        event.record(self)
        return event

    def wait(self, event: Event) -> None:
        """What comes behind in the stream waits for the event; this call does not."""
        self._stream.wait(event._event)

    def __cuda_stream__(self) -> tuple[int, int]:
        """The protocol of cuda.core: version and handle."""
        return 0, self.handle

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.synchronize()

    def __repr__(self) -> str:
        return f"<cupola.Stream {self.handle:#x}>"


class Event:
    """A moment in a stream."""

    def __init__(self, *, timing: bool = True):
        self._event = driver().Event(timing)

    @property
    def handle(self) -> int:
        return self._event.handle

    @property
    def done(self) -> bool:
        return self._event.done()

    def record(self, stream: Any = None) -> None:
        self._event.record(handle_of(stream))

    def synchronize(self) -> None:
        self._event.synchronize()

    def since(self, begin: Event) -> float:
        """Seconds from `begin` to this event, both recorded with timing and over."""
        return self._event.since(begin._event) / 1000


def handle_of(stream: Any) -> int:
    """The handle of whatever stands for a stream."""
    if stream is None:
        return 0
    if isinstance(stream, Stream):
        return stream.handle
    if isinstance(stream, int):
        return stream
    if (protocol := getattr(stream, "__cuda_stream__", None)) is not None:
        return int((protocol() if callable(protocol) else protocol)[1])
    handle = getattr(stream, "handle", stream)  # Numba's: a ctypes value, or an object that is an integer
    handle = getattr(handle, "value", handle)
    try:
        return int(handle or 0)
    except (TypeError, ValueError):
        raise TypeError(f"{stream!r} is no stream: give a cupola.Stream, Numba's stream, or a handle as an integer") from None


def from_numba(stream: Any) -> Stream:
    """Numba's stream as a Stream. It stays Numba's."""
    return Stream.of_handle(handle_of(stream))


def to_numba(stream: Stream) -> Any:
    """A Stream as Numba's, for `kernel[grid, block, stream]` and `cuda.to_device(array, stream)`. Keep the Stream as long as that is used."""
    from . import numba  # noqa: F401  Cupola's libraries before Numba's search for others
    from numba import cuda

    return cuda.external_stream(stream.handle)


async def finished(stream_or_event: Stream | Event | Any) -> None:
    """Waits without holding up the event loop. Raises CudaError for what a kernel did wrong."""
    waits = stream_or_event if isinstance(stream_or_event, (Stream, Event)) else from_numba(stream_or_event)
    if not waits.done:
        await asyncio.get_running_loop().run_in_executor(None, waits.synchronize)
    waits.synchronize()


@contextlib.contextmanager
def ordered(after: Any, before: Any):
    """What is done inside, in the stream `before`, begins when what `after` has now is over:
    `with ordered(copies, kernels): kernel[grid, block, kernels](buffer)`."""
    event = Event(timing=False)
    event.record(after)
    from_numba(before).wait(event)
    yield before
