"""CUDA C++ to code that the driver loads, by libnvrtc. "NVRTC", NVIDIA's documentation of the interface."""

from __future__ import annotations

import ctypes
import functools

from . import _installation
from ._errors import CompileError

_SUCCESS, _COMPILATION = 0, 6


@functools.cache
def _library() -> ctypes.CDLL:
    path = _installation.root() / "lib" / "libnvrtc.so.13"
    if not path.exists():
        raise ImportError(f"this installation of Cupola has no {path.name}, which compiles CUDA C++ for cupola.jit")
    library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    return library


def _call(name: str, *arguments) -> None:
    if status := getattr(_library(), name)(*arguments):
        raise CompileError(f"{name}: {_library().nvrtcGetErrorString(status).decode()}")


def _text(size_function: str, function: str, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    _call(size_function, program, ctypes.byref(size))
    text = ctypes.create_string_buffer(max(size.value, 1))
    _call(function, program, text)
    return text.raw[:size.value]


def compile_source(source: str, file: str, options: tuple[str, ...], expression: str) -> tuple[bytes, str]:
    """An image for the driver, and the symbol that `expression` (a kernel's name, as written in C++) has in it. Raises CompileError with the
    compiler's log."""
    program = ctypes.c_void_p()
    _call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), file.encode(), 0, None, None)
    try:
        _call("nvrtcAddNameExpression", program, expression.encode())
        words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        status = _library().nvrtcCompileProgram(program, len(options), words)
        log = _text("nvrtcGetProgramLogSize", "nvrtcGetProgramLog", program).rstrip(b"\0").decode(errors="replace")
        if status != _SUCCESS:
            reason = "" if status == _COMPILATION else _library().nvrtcGetErrorString(status).decode()
            raise CompileError("\n".join(part for part in (reason, log.strip()) if part), log)
        symbol = ctypes.c_char_p()
        _call("nvrtcGetLoweredName", program, expression.encode(), ctypes.byref(symbol))
        return _text("nvrtcGetCUBINSize", "nvrtcGetCUBIN", program), symbol.value.decode()
    finally:
        _library().nvrtcDestroyProgram(ctypes.byref(program))
