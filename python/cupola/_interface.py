"""Arrays of other packages: `__cuda_array_interface__`, as "CUDA Array Interface (Version 3)" in Numba's documentation has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._installation import driver

_LEGACY_STREAMS = (0, 1)  # the legacy default stream: NULL, and CU_STREAM_LEGACY as the interface has it; 2 is the thread's own default stream


@dataclass(frozen=True)
class DeviceArray:
    """What an array of another package says of itself: memory of the device without gaps, in C order."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype
    read_only: bool
    stream: int | None  #: has work on the array, unless None

    def wait_in(self, stream: int) -> None:
        """What comes from now on in `stream`, a handle, begins when the work on the array is over."""
        if self.stream in (None, stream) or (self.stream in _LEGACY_STREAMS and stream in _LEGACY_STREAMS):
            return
        event = driver().Event(False)
        event.record(self.stream)
        driver().Stream.of_handle(stream).wait(event)


def has_interface(value: Any) -> bool:
    return hasattr(value, "__cuda_array_interface__")


def element_type(value: Any) -> np.dtype:
    return np.dtype(value.__cuda_array_interface__["typestr"])


def device_array(value: Any, where: Any) -> DeviceArray:
    """Raises ValueError for an array with gaps, or in another order than C's; `where` is what the message calls the argument."""
    interface = value.__cuda_array_interface__
    shape, dtype = tuple(interface["shape"]), np.dtype(interface["typestr"])
    strides = interface.get("strides")
    if strides is not None and not _without_gaps(shape, strides, dtype.itemsize):
        raise ValueError(f"argument {where}: the array has gaps, or is not in C order: give a copy")
    address, read_only = interface["data"]
    return DeviceArray(address, shape, dtype, read_only, interface.get("stream"))


def _without_gaps(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> bool:
    """Strides of dimensions of length 1, and of arrays without elements, say nothing."""
    if 0 in shape:
        return True
    wanted = itemsize
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length > 1 and stride != wanted:
            return False
        wanted *= length
    return True
