"""What a kernel is handed for what Python gives: addresses for arrays, numbers for scalars."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._buffer import Buffer
from ._interface import DeviceArray, device_array, has_interface
from ._signature import Parameter

# dtype.kind for each kind of the signature.
_DTYPE_KINDS = {"b": "b", "c": "iu", "i": "i", "u": "u", "f": "f"}
_DTYPE_NAMES = {"b": "bool", "c": "int8", "i": "int", "u": "uint", "f": "float"}


class Call:
    """The arguments of one launch. `values` are what the driver takes; `finish` brings back what was copied."""

    def __init__(self, stream: int, reads_host_memory: bool):
        self.values: list[Any] = []
        self.waits = False  #: whether the caller's arrays are in use until the kernel is over
        self._stream = stream
        self._reads_host_memory = reads_host_memory
        self._kept: list[Any] = []
        self._copied: list[tuple[Buffer, np.ndarray]] = []

    def add(self, parameter: Parameter, label: str, value: Any) -> None:
        if parameter.kind == "p":
            self.values.append(self._address(parameter, label, value))
        elif parameter.kind == "x":
            self.values.append(_as_bytes(parameter, label, value))
        else:
            self.values.append(value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value)

    def finish(self) -> None:
        """After the kernel is over."""
        for buffer, array in self._copied:
            if array.flags.c_contiguous:
                buffer.copy_to(array)
            else:
                array[...] = buffer.to_numpy()

    def _address(self, parameter: Parameter, label: str, value: Any) -> int:
        if isinstance(value, Buffer):
            _check_dtype(parameter, label, value.dtype)
            self._kept.append(value)
            return value.address
        if isinstance(value, np.ndarray):
            return self._of_array(parameter, label, value)
        if value is None:
            return 0
        if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            return int(value)
        if not has_interface(value):
            raise TypeError(f"argument {label}: a {type(value).__name__} cannot be handed to a pointer: give a NumPy array, a cupola.Buffer, or an "
                            "array of another package that has __cuda_array_interface__")
        return self._of_device_array(parameter, label, device_array(value, label))

    def _of_array(self, parameter: Parameter, label: str, array: np.ndarray) -> int:
        _check_dtype(parameter, label, array.dtype)
        if not parameter.constant and not array.flags.writeable:
            raise ValueError(f"argument {label}: the array is read-only, and the kernel may write it: declare the parameter const, or give a copy")
        self.waits = True
        if self._reads_host_memory and array.flags.c_contiguous and array.flags.aligned:
            return array.ctypes.data
        buffer = Buffer(array.shape, array.dtype)
        buffer.copy_from(array, self._stream)
        self._kept.append(buffer)
        if not parameter.constant:
            self._copied.append((buffer, array))
        return buffer.address

    def _of_device_array(self, parameter: Parameter, label: str, array: DeviceArray) -> int:
        _check_dtype(parameter, label, array.dtype)
        if array.read_only and not parameter.constant:
            raise ValueError(f"argument {label}: the array is read-only, and the kernel may write it")
        array.wait_in(self._stream)
        return array.address


def _check_dtype(parameter: Parameter, label: str, dtype: np.dtype) -> None:
    """Raises TypeError unless elements of `dtype` are what the pointer points at."""
    kinds = _DTYPE_KINDS.get(parameter.target, dtype.kind)  # anything of the size for structures
    if parameter.target_bytes == 0 or (dtype.kind in kinds and dtype.itemsize == parameter.target_bytes and dtype.isnative):
        return
    advice = ""
    if parameter.target in _DTYPE_NAMES:
        name = _DTYPE_NAMES[parameter.target]
        exact = name if name in ("bool", "int8") else f"{name}{8 * parameter.target_bytes}"
        advice = f": give x.astype(np.{exact})"
    raise TypeError(f"argument {label}: the array has dtype {dtype}{'' if dtype.isnative else ' of the other byte order'}{advice}")


def _as_bytes(parameter: Parameter, label: str, value: Any) -> bytes:
    """A structure: bytes of its layout, or a NumPy scalar or array of no dimensions of that size."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tobytes()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"argument {label}: a {type(value).__name__} is no value of {parameter.type}: give bytes, or a NumPy scalar of that layout")
