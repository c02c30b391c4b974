"""Operations on the elements of arrays, fused into one kernel: libcupola-pipeline from Python. docs/operations.md lists them.

    cupola.pipeline.run("gelu", x)                      # one operation; arrays or numbers
    e = cupola.pipeline.Expression(np.float32)          # several, in one kernel
    x, a = e.input(), e.scalar()
    e.output(e.apply("sigmoid", a * x))
    logistic = e.compile()
    y = logistic(x_array, 0.5)                          # in the order in which inputs and scalars were made

Arrays are NumPy's, which are read and written before the call returns, or the device's (`cupola.Buffer`, and whatever has
`__cuda_array_interface__`), where the call returns at once and the stream has the work.
"""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._buffer import Buffer
from ._cache import Cache
from ._installation import driver, root
from ._interface import DeviceArray, device_array, element_type, has_interface
from .streams import handle_of

# By the number of cupola_element_type.
TYPES = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint32))
ACCURACIES = ("exact", "ulps", "terms")
_FAST = 1
_INVALID_VALUE = 1


class _Row(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("category", ctypes.c_char_p), ("parameters", ctypes.c_char_p), ("formula", ctypes.c_char_p),
                ("arguments", ctypes.c_uint32), ("types", ctypes.c_uint32), ("accuracy", ctypes.c_int), ("bound_f32", ctypes.c_double),
                ("bound_f64", ctypes.c_double), ("fast_bound", ctypes.c_double)]


@dataclass(frozen=True)
class Operation:
    """A row of the table of operations. `accuracy` says what the bounds are: "exact" (each step of the formula is rounded once), "ulps" (units in
    the last place of the result), "terms" (of the largest term that the formula adds up). `fast_bound` is 0 where there is no fast variant, and negative where it is another
    function."""

    name: str
    category: str
    parameters: tuple[str, ...]
    formula: str
    dtypes: tuple[np.dtype, ...]
    accuracy: str
    bounds: dict[np.dtype, float]
    fast_bound: float


@functools.cache
def _library() -> ctypes.CDLL:
    driver().device_count()  # this installation's libcuda, before the library looks for one
    library = ctypes.CDLL(str(root() / "lib" / "libcupola-pipeline.so"))
    library.cupola_pipeline_last_error.restype = ctypes.c_char_p
    library.cupola_operation_count.restype = ctypes.c_size_t
    for name, arguments in {
            "cupola_expression_create": [ctypes.c_int, ctypes.c_void_p], "cupola_expression_destroy": [ctypes.c_void_p],
            "cupola_expression_input": [ctypes.c_void_p, ctypes.c_void_p], "cupola_expression_scalar": [ctypes.c_void_p, ctypes.c_void_p],
            "cupola_expression_constant": [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p],
            "cupola_expression_apply": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p],
            "cupola_expression_output": [ctypes.c_void_p, ctypes.c_uint32], "cupola_operation_get": [ctypes.c_size_t, ctypes.c_void_p],
            "cupola_pipeline_compile": [ctypes.c_void_p, ctypes.c_void_p], "cupola_pipeline_destroy": [ctypes.c_void_p],
            "cupola_pipeline_run": [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p],
            "cupola_pipeline_run_host": [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]}.items():
        getattr(library, name).argtypes = arguments
    return library


def _check(status: int) -> None:
    if status == 0:
        return
    message = _library().cupola_pipeline_last_error().decode(errors="replace")
    if status == _INVALID_VALUE:
        raise ValueError(message)
    from ._errors import CudaError

    raise CudaError(message, status, next((word.rstrip(":") for word in message.split() if word.startswith("CUDA_ERROR_")), "CUDA_ERROR_UNKNOWN"))


@functools.cache
def operations() -> dict[str, Operation]:
    """All operations by name, in the order of docs/operations.md."""
    found = {}
    for index in range(_library().cupola_operation_count()):
        row = _Row()
        _check(_library().cupola_operation_get(index, ctypes.byref(row)))
        dtypes = tuple(dtype for bit, dtype in enumerate(TYPES) if row.types >> bit & 1)
        name = row.name.decode()
        found[name] = Operation(name, row.category.decode(), tuple(row.parameters.decode().strip("()").split(", ")), row.formula.decode(), dtypes,
                                ACCURACIES[row.accuracy], {TYPES[0]: row.bound_f32, TYPES[1]: row.bound_f64}, row.fast_bound)
    return found


def _unary(name: str) -> Any:
    return lambda self: self.expression.apply(name, self)


def _binary(name: str) -> Any:
    return lambda self, other: self.expression.apply(name, self, other)


def _reflected(name: str) -> Any:
    return lambda self, other: self.expression.apply(name, other, self)


class Node:
    """A value in an expression. Python's operators stand for operations, `==` for equal and so on, and make nodes; numbers become constants. A node is
    neither true nor false: for `and`, `or`, `not` and `if` there are the operations logical_and, logical_or and logical_not."""

    __array_ufunc__ = None  # NumPy's numbers leave their operators to the node

    def __init__(self, expression: Expression, number: int):
        self.expression, self.number = expression, number

    __pos__, __neg__, __abs__, __invert__ = map(_unary, ("positive", "negative", "abs", "bitwise_not"))
    __eq__, __ne__, __lt__ = map(_binary, ("equal", "not_equal", "less"))
    __le__, __gt__, __ge__ = map(_binary, ("less_equal", "greater", "greater_equal"))
    _two = ("add", "subtract", "multiply", "divide", "remainder", "power", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
    __add__, __sub__, __mul__, __truediv__, __mod__, __pow__, __and__, __or__, __xor__, __lshift__, __rshift__ = map(_binary, _two)
    __radd__, __rsub__, __rmul__, __rtruediv__, __rmod__, __rpow__, __rand__, __ror__, __rxor__, __rlshift__, __rrshift__ = map(_reflected, _two)
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError("a node is neither true nor false before a run: use the operations logical_and, logical_or and logical_not")


class Expression:
    """Operations over inputs, scalars and constants of one dtype: float32, float64, int32, int64 or uint32. One thread changes it at a time."""

    def __init__(self, dtype: Any):
        self.dtype = _type(dtype)
        self._order: list[str] = []
        self._outputs = 0
        handle = ctypes.c_void_p()
        _check(_library().cupola_expression_create(TYPES.index(self.dtype), ctypes.byref(handle)))
        self._handle = handle
        self._destroy = _library().cupola_expression_destroy

    def __del__(self) -> None:
        if handle := getattr(self, "_handle", None):
            self._destroy(handle)

    def input(self) -> Node:
        """An element of the next array that a run is given."""
        node = self._node(_library().cupola_expression_input)
        self._order.append("input")
        return node

    def scalar(self) -> Node:
        """The next number that a run is given."""
        node = self._node(_library().cupola_expression_scalar)
        self._order.append("scalar")
        return node

    def constant(self, value: Any) -> Node:
        """A number that is compiled in."""
        return self._node(_library().cupola_expression_constant, _scalar(value, self.dtype).ctypes.data)

    def apply(self, name: str, *arguments: Any, fast: bool = False) -> Node:
        """An operation on nodes or numbers. Raises ValueError for a name that there is not, and for arguments that it does not take."""
        nodes = [argument if isinstance(argument, Node) else self.constant(argument) for argument in arguments]
        if any(node.expression is not self for node in nodes):
            raise ValueError(f"operation '{name}': an argument belongs to another expression")
        numbers = (ctypes.c_uint32 * len(nodes))(*(node.number for node in nodes))
        return self._node(_library().cupola_expression_apply, name.encode(), _FAST if fast else 0, ctypes.addressof(numbers), len(nodes))

    def output(self, node: Node) -> None:
        """The node's values go to the next array that a run gives."""
        if node.expression is not self:
            raise ValueError("the output belongs to another expression")
        _check(_library().cupola_expression_output(self._handle, node.number))
        self._outputs += 1

    def compile(self) -> Pipeline:
        """For the current context's device. Raises ValueError where there is no output."""
        return Pipeline(self)

    def _node(self, make: Any, *arguments: Any) -> Node:
        number = ctypes.c_uint32()
        _check(make(self._handle, *arguments, ctypes.byref(number)))
        return Node(self, number.value)


class Pipeline:
    """A compiled expression. `pipeline(*arguments, out=, stream=)` takes arrays and numbers in the order in which inputs and scalars were made, and
    gives an array, or a tuple of them where there are several outputs. Arrays have one shape. `out` is an array or a tuple or list of such; an input may be
    one (in place). With arrays of the device the work goes to `stream`; with NumPy's the call waits for what is in `stream`, then works. It is of
    the device that its maker worked with. Any thread may use it."""

    def __init__(self, expression: Expression):
        self.dtype = expression.dtype
        self._order, self._outputs = tuple(expression._order), expression._outputs
        self._device, self._resets = driver().context()  # makes it current, the new one after a reset
        handle = ctypes.c_void_p()
        _check(_library().cupola_pipeline_compile(expression._handle, ctypes.byref(handle)))
        self._handle = handle
        self._destroy = _library().cupola_pipeline_destroy

    def __del__(self) -> None:
        if (handle := getattr(self, "_handle", None)) and self._resets == driver().resets(self._device):  # a reset takes the code away
            self._destroy(handle)

    def __call__(self, *arguments: Any, out: Any = None, stream: Any = None) -> Any:
        if len(arguments) != len(self._order):
            raise TypeError(f"the pipeline takes {len(self._order)} arguments ({', '.join(self._order)}); {len(arguments)} were given")
        given = () if out is None else tuple(out) if isinstance(out, (tuple, list)) else (out,)
        if stream is not None and any(isinstance(a, np.ndarray) for a in (*arguments, *given)):  # before it is read, or copied because of gaps
            driver().Stream.of_handle(handle_of(stream)).synchronize()
        arrays = [_array(a, self.dtype, i) for i, (a, kind) in enumerate(zip(arguments, self._order)) if kind == "input"]
        scalars = [_scalar(a, self.dtype) for a, kind in zip(arguments, self._order) if kind == "scalar"]
        values = np.concatenate(scalars) if scalars else None
        outputs = [_array(o, self.dtype, f"out {i}", written=True) for i, o in enumerate(given)]
        shapes = {a.shape for a in arrays + outputs}
        if len(shapes) != 1:
            raise ValueError(f"the arrays must have one shape, not {sorted(shapes)}" if shapes else "there is no array that says how many elements to compute")
        if any(one is other for i, one in enumerate(given) for other in given[:i]):
            raise ValueError("out has one array twice: give each output its own")
        if given and len(given) != self._outputs:
            raise ValueError(f"the pipeline has {self._outputs} outputs; out has {len(given)}")
        (shape,) = shapes
        if len({a.device for a in arrays + outputs}) > 1:
            raise TypeError("some arrays are NumPy's and others the device's: give all of one kind")
        on_device = (arrays + outputs)[0].device
        if not given:
            made = tuple(Buffer(shape, self.dtype) if on_device else np.empty(shape, self.dtype) for _ in range(self._outputs))
            outputs = [_array(o, self.dtype, "out") for o in made]
        self._run(outputs, arrays, values, shape, on_device, stream)
        result = given or made
        for array, target in zip(outputs, result):
            if not on_device and array.kept is not target:
                target[...] = array.kept.reshape(target.shape)
        return result[0] if len(result) == 1 else result

    def _run(self, outputs: list[_Array], inputs: list[_Array], scalars: np.ndarray | None, shape: tuple[int, ...], on_device: bool, stream: Any) -> None:
        out = (ctypes.c_uint64 * len(outputs))(*(a.address for a in outputs))
        in_ = (ctypes.c_uint64 * max(1, len(inputs)))(*(a.address for a in inputs))
        n, values = int(np.prod(shape, dtype=np.int64)), None if scalars is None else scalars.ctypes.data
        if on_device:
            handle = handle_of(stream)
            for array in outputs + inputs:
                if isinstance(array.kept, DeviceArray):
                    array.kept.wait_in(handle)
            _check(_library().cupola_pipeline_run(self._handle, ctypes.addressof(out), ctypes.addressof(in_), values, n, handle or None))
        else:
            _check(_library().cupola_pipeline_run_host(self._handle, ctypes.addressof(out), ctypes.addressof(in_), values, n))


_pipelines: Cache[Pipeline] = Cache(1024)


def run(operation: str, *arguments: Any, out: Any = None, fast: bool = False, stream: Any = None) -> Any:
    """One operation, on arrays of one shape and dtype, or numbers in their place. Numbers alone are computed in float64, and give a number."""
    kinds = tuple("input" if _is_array(argument) else "scalar" for argument in arguments)
    if "input" not in kinds and arguments and out is None:
        first, *rest = arguments
        return run(operation, np.array([first], np.float64), *rest, fast=fast)[0]
    dtype = next((_dtype_of(a) for a in (*arguments, out) if a is not None and _is_array(a)), np.dtype(np.float64))
    request = (operation, kinds, dtype, fast)
    pipeline = _pipelines.get((*request, driver().context()), lambda: _compile(*request))
    return pipeline(*arguments, out=out, stream=stream)


def _compile(operation: str, kinds: tuple[str, ...], dtype: np.dtype, fast: bool) -> Pipeline:
    expression = Expression(dtype)
    nodes = [expression.input() if kind == "input" else expression.scalar() for kind in kinds]
    expression.output(expression.apply(operation, *nodes, fast=fast))
    return expression.compile()


@dataclass
class _Array:
    address: int
    shape: tuple[int, ...]
    device: bool
    kept: Any


def _is_array(value: Any) -> bool:
    return isinstance(value, Buffer) or (isinstance(value, np.ndarray) and value.ndim > 0) or has_interface(value)


def _dtype_of(value: Any) -> np.dtype:
    return value.dtype if isinstance(value, (Buffer, np.ndarray)) else element_type(value)


def _type(dtype: Any) -> np.dtype:
    dtype = np.dtype(dtype)
    if dtype not in TYPES:
        raise TypeError(f"elements of dtype {dtype} are not computed with: give {', '.join(map(str, TYPES))}")
    return dtype


def _scalar(value: Any, dtype: np.dtype) -> np.ndarray:
    """One element. Raises TypeError for a fraction where integers are computed with, OverflowError for what does not fit."""
    array = np.asarray(value)
    if array.size != 1:
        raise TypeError(f"a number is wanted, not an array of {array.size}")
    if dtype.kind in "iu" and array.dtype.kind not in "iub":
        raise TypeError(f"{value!r} is no whole number, and the elements are of dtype {dtype}")
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= array.item() <= np.iinfo(dtype).max:
        raise OverflowError(f"{value!r} does not fit into {dtype}")
    return np.array([array.item()], dtype)


def _array(value: Any, dtype: np.dtype, where: Any, written: bool = False) -> _Array:
    if not _is_array(value):
        raise TypeError(f"argument {where}: an array is wanted, not a {type(value).__name__}")
    if _dtype_of(value) != dtype:
        raise TypeError(f"argument {where}: the array has dtype {_dtype_of(value)}, the pipeline {dtype}: give x.astype(np.{dtype})")
    if isinstance(value, np.ndarray):
        if written and not value.flags.writeable:
            raise ValueError(f"argument {where}: the array is read-only")
        plain = value if value.flags.c_contiguous and value.flags.aligned else np.ascontiguousarray(value).copy()
        return _Array(plain.ctypes.data, value.shape, False, plain)
    if isinstance(value, Buffer):
        return _Array(value.address, value.shape, True, value)
    array = device_array(value, where)
    if written and array.read_only:
        raise ValueError(f"argument {where}: the array is read-only")
    return _Array(array.address, array.shape, True, array)
