"""What the target that Numba has built in needs besides libraries. Standard library only, as _preload.

Before 0.63 Numba calls the newest variant of each driver function that the library has with the arguments of the oldest. CUDA 13 has a
cuCtxGetDevice_v2 and a cuCtxSynchronize_v2, which take a context too (cuda.h). Numba is given the functions that it means.
"""

from __future__ import annotations

import importlib.util
import sys

_MODULE = "numba.cuda.cudadrv.driver"
_WITHOUT_CONTEXT = {"cuCtxGetDevice": 1, "cuCtxSynchronize": 0}  # arguments


def apply() -> None:
    """Now, or as soon as Numba's driver module is imported."""
    module = sys.modules.get(_MODULE)
    if module is not None:
        _patch(module)
    elif _AfterImport not in sys.meta_path:
        sys.meta_path.insert(0, _AfterImport)


def _patch(module) -> None:
    prototypes = getattr(module, "API_PROTOTYPES", None)
    driver = getattr(module, "Driver", None)
    find = getattr(driver, "_find_api", None)
    if prototypes is None or find is None:
        return  # numba-cuda, which asks the driver for each function by its version
    names = {name for name, count in _WITHOUT_CONTEXT.items() if len(prototypes.get(name, ())) == 1 + count}

    def find_meant(self, name):
        return getattr(self.lib, name) if name in names else find(self, name)

    driver._find_api = find_meant


class _AfterImport:
    """A finder that lets the others find the module, and patches it when it has run."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != _MODULE:
            return None
        sys.meta_path.remove(cls)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_patch(module):
                execute(module)
                _patch(module)

            spec.loader.exec_module = execute_and_patch
        return spec
