"""Kernels from CUDA C++."""

from __future__ import annotations

import inspect
import math
import re
from typing import Any

import numpy as np

from . import _nvrtc, _signature
from ._arguments import Call
from ._buffer import Buffer
from ._cache import Cache
from ._devices import this_device
from ._errors import CompileError
from ._installation import driver
from ._interface import device_array, has_interface
from .streams import handle_of

_THREADS = 256  # of a block, where the caller does not say
_KINDS = {"p": "Pointer", "b": "Boolean", "c": "Signed", "i": "Signed", "u": "Unsigned", "f": "Float", "x": "Bytes"}
_ATTRIBUTES = {"max_threads_per_block": 0, "shared_bytes": 1, "constant_bytes": 2, "local_bytes": 3, "registers": 4}  # CUfunction_attribute


def jit(source: str, name: str | None = None, options: tuple[str, ...] | list[str] = (), *, file: str = "kernel.cu") -> Kernel:
    """A kernel from CUDA C++ source.

    name: the kernel's, as C++ would say it ("scale", "ns::scale", "scale<float>"); may be left out when the source has one kernel.
    options: what NVRTC takes, such as "--use_fast_math", "-DN=3", "-I/folder". file: what messages call the source.

    The kernel is of the device that this thread works with. Raises CompileError with the compiler's messages. What was compiled once is not
    compiled again.
    """
    if name is None:
        names = _signature.kernel_names(source)
        if not names:
            raise ValueError("the source has no kernel: a kernel is a function with __global__")
        if len(names) > 1:
            raise ValueError(f"the source has {len(names)} kernels: {', '.join(names)}: say the name of one")
        name = names[0]
    request = (source, name, tuple(options), file)
    return _kernels.get((*request, driver().context()), lambda: _compile(*request))


def _compile(source: str, name: str, options: tuple[str, ...], file: str) -> Kernel:
    device = this_device()
    if not any(re.match(r"--?(gpu-arch|arch)", option) for option in options):
        major, minor = device.compute_capability
        options = (f"--gpu-architecture=sm_{major}{minor}", *options)
    try:
        image, symbol = _nvrtc.compile_source(source + _signature.question(name), file, options, name)
    except CompileError as error:
        raise _in_words(error, source, name) from None
    module = driver().Module(image)
    address, size = module.variable(_signature.VARIABLE)
    table = np.empty(size, np.uint8)
    driver().copy(table.ctypes.data, address, size)
    parameters = _signature.answer(table.tobytes(), _signature.parameter_names(source, name))
    return Kernel(module, symbol, name, parameters, device.reads_host_memory)


def _in_words(error: CompileError, source: str, name: str) -> CompileError:
    """What is wrong with the name is said plainly, and not by lines that the user did not write."""
    own = [line for line in str(error).splitlines() if re.match(rf"({re.escape(_signature.FILE)}|name expression)[(:]", line)]
    others = [line for line in str(error).splitlines() if "error:" in line and line not in own]
    if not own or others:
        return error
    there = _signature.kernel_names(source)
    if any("overload" in line for line in own):
        why = f"'{name}' is overloaded: give its kernels names of their own"
    elif re.sub(r"<.*", "", name).split("::")[-1] in there:
        why = f"'{name}' cannot be found by that name: say it as C++ would outside of namespaces, with the arguments of a template, as 'ns::{name}' or '{name}<float>'"
    else:
        why = f"the source has no kernel '{name}'" + (f"; it has {', '.join(there)}" if there else ": a kernel is a function with __global__")
    return CompileError(why, error.log)


_kernels: Cache[Kernel] = Cache(256)


class Kernel:
    """A kernel that can be called.

        kernel[blocks, threads](x, 2.0, x.size)     blocks and threads as in CUDA; also kernel[blocks, threads, stream, shared_bytes]
        kernel(x, factor=2.0, n=x.size)             a thread for each element of the largest array
        kernel.forall(n)(x, 2.0, n)                 at least n threads

    Arguments go by position or by the names of the parameters. Pointers take NumPy arrays, which the kernel sees and changes, and which are as
    it left them when the call returns; cupola.Buffer and arrays of other packages, with which the call returns at once; None, and addresses.
    Any thread may call it.
    """

    def __init__(self, module: Any, symbol: str, name: str, parameters: list[_signature.Parameter], reads_host_memory: bool):
        self.name = name
        self.parameters = tuple(parameters)
        self._labels = [f"'{p.name}' ({p.type})" if p.name else f"{i} ({p.type})" for i, p in enumerate(parameters)]
        self._names = {p.name: i for i, p in enumerate(parameters)} if all(p.name for p in parameters) else None
        for parameter, label in zip(parameters, self._labels, strict=True):
            if parameter.kind == "r":
                raise CompileError(f"parameter {label} of '{name}': a kernel takes no references")
        calls = driver()
        rows = [calls.Parameter(getattr(calls.Kind, _KINDS[p.kind]), p.bytes, label) for p, label in zip(parameters, self._labels, strict=True)]
        self._kernel = calls.Kernel(module, symbol, rows)
        self._reads_host_memory = reads_host_memory
        self._default = Launch(self, None, None, None, 0)
        self.__name__ = self.__qualname__ = name

    @property
    def __signature__(self) -> inspect.Signature:
        if self._names is None:
            return inspect.Signature([inspect.Parameter("arguments", inspect.Parameter.VAR_POSITIONAL)])
        return inspect.Signature([inspect.Parameter(p.name or "", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=p.type) for p in self.parameters])

    @property
    def attributes(self) -> dict[str, int]:
        """max_threads_per_block, shared_bytes, constant_bytes, local_bytes, registers."""
        return {name: self._kernel.attribute(number) for name, number in _ATTRIBUTES.items()}

    def __getitem__(self, configuration: Any) -> Launch:
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(parts) <= 4:
            raise ValueError("a launch is kernel[blocks, threads], kernel[blocks, threads, stream] or kernel[blocks, threads, stream, shared_bytes]")
        return Launch(self, parts[0], parts[1], parts[2] if len(parts) > 2 else None, parts[3] if len(parts) > 3 else 0)

    def forall(self, n: int, threads: int = _THREADS, stream: Any = None, shared_bytes: int = 0) -> Launch:
        """At least n threads, in blocks of `threads`."""
        return self[max(-(-int(n) // threads), 1), threads, stream, shared_bytes]

    def __call__(self, *arguments: Any, **named: Any) -> None:
        self._default(*arguments, **named)

    def __repr__(self) -> str:
        return f"<cupola.Kernel {self.name}({', '.join(f'{p.type} {p.name}' if p.name else p.type for p in self.parameters)})>"

    def _in_order(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        """The arguments by position. Raises TypeError for one that is too much, missing, or given twice."""
        values = list(arguments)
        if len(values) > len(self.parameters):
            raise TypeError(f"{self!r} takes {len(self.parameters)} arguments; {len(values)} were given")
        if named and self._names is None:
            raise TypeError(f"the names of {self.name}'s parameters cannot be read from its source: give the arguments by position")
        given: dict[int, Any] = {}
        for name, value in named.items():
            at = self._names.get(name) if self._names else None
            if at is None:
                raise TypeError(f"{self!r} has no parameter '{name}'")
            if at < len(values):
                raise TypeError(f"{self.name}: argument '{name}' is given twice")
            given[at] = value
        missing = [self._labels[i] for i in range(len(values), len(self.parameters)) if i not in given]
        if missing:
            raise TypeError(f"{self.name}: no argument for {', '.join(missing)}")
        return values + [given[i] for i in range(len(values), len(self.parameters))]


class Launch:
    """A kernel with blocks, threads, stream and dynamic shared memory. Calling it starts the kernel."""

    def __init__(self, kernel: Kernel, blocks: Any, threads: Any, stream: Any, shared_bytes: int):
        self._kernel = kernel
        self._grid = None if blocks is None else _shape(blocks, "blocks")
        self._block = None if threads is None else _shape(threads, "threads")
        self._stream = stream  # kept: its handle lives as long
        self._shared_bytes = int(shared_bytes)

    def __call__(self, *arguments: Any, **named: Any) -> None:
        kernel = self._kernel
        values = kernel._in_order(arguments, named)
        stream = handle_of(self._stream)
        call = Call(stream, kernel._reads_host_memory)
        for parameter, label, value in zip(kernel.parameters, kernel._labels, values, strict=True):
            call.add(parameter, label, value)
        grid, block = self._grid, self._block
        if grid is None or block is None:
            grid, block = _for_each_element(values)
        kernel._kernel.launch(grid, block, stream, self._shared_bytes, call.values)
        if call.waits:
            driver().Stream.of_handle(stream).synchronize()
            call.finish()


def _shape(value: Any, what: str) -> tuple[int, int, int]:
    parts = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(parts) <= 3:
        raise ValueError(f"{what} are one to three numbers; given: {value!r}")
    numbers = [int(part.__index__()) if hasattr(part, "__index__") else None for part in parts]
    if any(number is None or not 1 <= number < 2**32 for number in numbers):
        raise ValueError(f"{what} are whole numbers above 0; given: {value!r}")
    return tuple([*numbers, 1, 1][:3])  # type: ignore[return-value]


def _for_each_element(values: list[Any]) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Enough threads for the largest array."""
    sizes = [value.size for value in values if isinstance(value, (Buffer, np.ndarray)) and np.ndim(value) > 0]
    sizes += [math.prod(device_array(value, i).shape) for i, value in enumerate(values) if not isinstance(value, Buffer) and has_interface(value)]
    if not sizes:
        raise TypeError("without arrays, say how many threads: kernel[blocks, threads](...) or kernel.forall(n)(...)")
    return (max(-(-max(sizes) // _THREADS), 1), 1, 1), (_THREADS, 1, 1)
