"""Cupola runs CUDA programs on the machine you have: kernels from Numba or CUDA C++, on the CPU.

    import cupola, numpy as np
    scale = cupola.jit("__global__ void scale(float* x, float factor, int n) { ... }", "scale")
    scale(x, factor=2.0, n=x.size)

Nothing but the standard library is imported until something is used.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# Each name and the module that has it.
_FROM = {
    "Buffer": "_buffer", "pinned": "_buffer",
    "CompileError": "_errors", "CudaError": "_errors",
    "Device": "_devices", "devices": "_devices", "memory_info": "_devices", "synchronize": "_devices",
    "Event": "streams", "Stream": "streams",
    "Kernel": "_jit", "jit": "_jit",
}
_MODULES = ("demos", "env", "numba", "pipeline", "streams")

__all__ = [*_FROM, *_MODULES, "patch", "__version__"]


def patch() -> None:
    """Makes Numba, and other packages that look for CUDA's libraries by name, find Cupola's: the same as `import cupola.numba`."""
    from .numba import activate

    activate()


def __getattr__(name: str) -> Any:
    if name in _FROM:
        value = getattr(importlib.import_module(f".{_FROM[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'cupola' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
