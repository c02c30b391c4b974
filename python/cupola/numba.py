"""Numba on Cupola: `import cupola.numba` before numba.cuda is used, and `@numba.cuda.jit` runs on Cupola's devices. Nothing in the program
changes otherwise. For numba-cuda and for the target that Numba has built in (0.59 and later)."""

from __future__ import annotations

from . import _installation, _preload

_done: list[str] = []


def activate() -> list[str]:
    """Loads Cupola's libraries under the names that Numba looks for, and sets CUDA_HOME, CUDA_PATH and NUMBA_CUDA_DRIVER for this process and
    those that it starts. Returns the names. Raises ImportError when the process uses another libcuda already."""
    if not _done:
        _done.extend(_preload.preload(_installation.root()))
    return list(_done)


activate()
