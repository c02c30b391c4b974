"""Memory of a device."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._devices import this_device
from ._installation import driver
from .streams import handle_of

_DLPACK_HOST = (1, 0)  # kDLCPU, "DLPack, DLDeviceType"


class Buffer:
    """Memory of a device: an array of one type without gaps, in C order, which lives until the last reference goes, or `free`.

    Other packages take it as it is: Numba, CuPy and others through `__cuda_array_interface__`; NumPy and others through DLPack where the device's
    memory is the machine's (`np.from_dlpack(buffer)` copies nothing). Any thread may use it.
    """

    def __init__(self, shape: int | tuple[int, ...], dtype: Any = np.uint8):
        """Memory that holds anything. Raises CudaError when there is none left."""
        self.shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        self.dtype = np.dtype(dtype)
        if any(n < 0 for n in self.shape):
            raise ValueError(f"negative dimensions: {self.shape}")
        if self.dtype.hasobject:
            raise TypeError(f"a device holds no Python objects: dtype {self.dtype}")
        self.size = math.prod(self.shape)
        self.nbytes = self.size * self.dtype.itemsize
        self._memory = driver().Memory.on_device(self.nbytes)

    @classmethod
    def from_numpy(cls, array: Any, stream: Any = None) -> Buffer:
        """A copy of an array (or of what NumPy makes one of)."""
        array = np.asarray(array)
        buffer = cls(array.shape, array.dtype)
        buffer.copy_from(array, stream)
        return buffer

    @property
    def address(self) -> int:
        """Where it lies on the device; 0 when it is empty."""
        return self._memory.address

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def copy_from(self, source: Any, stream: Any = None) -> None:
        """Copies an array, or another buffer, of the dtype and as many elements in. With a stream it returns at once where the source is page-locked
        (`cupola.pinned`) or a buffer: leave the source alone until the stream is done."""
        if not isinstance(source, Buffer):
            source = np.ascontiguousarray(source)
        self._check(source, "from")
        driver().copy(self.address, _address_of(source), self.nbytes, None if stream is None else handle_of(stream))

    def copy_to(self, target: Any, stream: Any = None) -> None:
        """Copies into an array of the dtype and as many elements, without gaps, or into another buffer."""
        if not isinstance(target, Buffer):
            if not isinstance(target, np.ndarray) or not target.flags.c_contiguous or not target.flags.writeable:
                raise ValueError("the target must be a NumPy array that is writeable and without gaps, in C order")
        self._check(target, "to")
        driver().copy(_address_of(target), self.address, self.nbytes, None if stream is None else handle_of(stream))

    def to_numpy(self) -> np.ndarray:
        """A copy, after everything in the default stream."""
        array = np.empty(self.shape, self.dtype)
        self.copy_to(array)
        return array

    def fill(self, value: Any, stream: Any = None) -> None:
        """Every element becomes `value`."""
        one = np.array(value, self.dtype).tobytes()
        if len(set(one)) == 1:
            driver().fill(self.address, one[0], self.nbytes, handle_of(stream))
        elif self.size:
            self.copy_from(np.full(self.shape, value, self.dtype), stream)
            if stream is not None:  # the array goes with this call
                driver().Stream.of_handle(handle_of(stream)).synchronize()

    def host(self) -> np.ndarray:
        """The same memory as a NumPy array, after everything on the device; for devices whose memory is the machine's."""
        _must_be_host_memory()
        driver().synchronize()
        return np.asarray(_HostMemory(self))

    def free(self) -> None:
        """Gives the memory back now. Nothing may use it any more."""
        self._memory.free()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3 of "CUDA Array Interface" in Numba's documentation. Work on it went to the default stream, or is over."""
        return {"shape": self.shape, "typestr": self.dtype.str, "descr": self.dtype.descr, "data": (self.address, False), "strides": None,
                "stream": 1, "version": 3}

    def __dlpack_device__(self) -> tuple[int, int]:
        _must_be_host_memory()
        return _DLPACK_HOST

    def __dlpack__(self, **options: Any) -> Any:
        return self.host().__dlpack__(**{key: value for key, value in options.items() if key != "stream"})

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            return self.host() if dtype in (None, self.dtype) else np.asarray(self.host(), dtype, copy=False)
        array = self.to_numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a buffer of no dimensions has no length")
        return self.shape[0]

    def __enter__(self) -> Buffer:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def __repr__(self) -> str:
        return f"<cupola.Buffer {self.shape} {self.dtype} at {self.address:#x}>"

    def _check(self, other: Buffer | np.ndarray, way: str) -> None:
        if other.dtype != self.dtype:
            raise TypeError(f"cannot copy {way} an array of dtype {other.dtype}: the buffer has {self.dtype}; give x.astype(np.{self.dtype}), or x.view "
                            "where the bits are meant")
        if other.size != self.size:
            raise ValueError(f"cannot copy {way} an array of {other.size} elements: the buffer has {self.size}")


class _HostMemory:
    """Lets NumPy make an array of a buffer's memory, which that keeps alive."""

    def __init__(self, buffer: Buffer):
        self._memory = buffer._memory
        self.__array_interface__ = {"shape": buffer.shape, "typestr": buffer.dtype.str, "descr": buffer.dtype.descr, "version": 3,
                                    "data": (buffer.address, False)}


def pinned(shape: int | tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """An array in page-locked memory of the host, which copies in streams take without waiting."""
    dtype = np.dtype(dtype)
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    memory = driver().Memory.on_host(math.prod(shape) * dtype.itemsize)
    holder = type("_Pinned", (), {"_memory": memory, "__array_interface__": {
        "shape": shape, "typestr": dtype.str, "descr": dtype.descr, "version": 3, "data": (memory.address, False)}})()
    return np.asarray(holder)


def _address_of(array: Buffer | np.ndarray) -> int:
    return array.address if isinstance(array, Buffer) else array.ctypes.data


def _must_be_host_memory() -> None:
    if not this_device().reads_host_memory:
        raise BufferError("this device's memory is not the machine's: use to_numpy(), which copies")
