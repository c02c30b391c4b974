"""Puts Cupola's libraries where other packages look for NVIDIA's. Needs nothing but the standard library and _numba_patch: `cupola run` uses
both files in Pythons that have no package cupola.

cuda-bindings opens libcuda.so.1 by its name, and cuda-pathfinder takes a library that is loaded already, by its name ("cuda.pathfinder,
load_nvidia_dynamic_lib, Search order", step 0): so loading ours first is enough. What is found by folder (headers, libdevice, Numba's
built-in target) is found through CUDA_HOME, as NVIDIA's packages and Numba document it.
"""

import os
import pathlib
import sys
import tempfile

from . import _numba_patch

# By the names that programs ask for; each before those that need it.
LIBRARIES = ("libcuda.so.1", "libnvJitLink.so.13", "libnvvm.so.4", "libnvrtc.so.13", "libcudart.so.13", "libnvidia-ml.so.1")

# Where a CUDA toolkit has things, and where an installation of Cupola has them.
TOOLKIT = {"include": "include/cuda", "lib64": "lib", "bin": "bin", "nvvm/lib64": "lib", "nvvm/libdevice": "lib/cupola/toolkit/nvvm/libdevice"}


def is_installation(root: pathlib.Path) -> bool:
    return (root / "lib" / "libcuda.so.1").exists()


def toolkit(root: pathlib.Path) -> pathlib.Path:
    """A folder with the layout of a CUDA toolkit, for CUDA_HOME. Wheels hold no links, so that for them it is made, of links, in
    the user's cache folder."""
    own = root / "lib" / "cupola" / "toolkit"
    if (own / "lib64").exists():
        return own
    import hashlib

    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    key = hashlib.sha256(str(root).encode()).hexdigest()[:16]
    for folder in (cache, pathlib.Path(tempfile.gettempdir())):
        made = folder / f"cupola-toolkit-{os.getuid()}" / key
        try:
            return made if _is_toolkit(made, root) else _make_toolkit(made, root)
        except OSError:
            continue
    return own


def _is_toolkit(folder: pathlib.Path, root: pathlib.Path) -> bool:
    """Made by this user for that installation, and whole."""
    return folder.exists() and folder.stat().st_uid == os.getuid() and all(
        os.path.realpath(folder / link) == os.path.realpath(root / target) for link, target in TOOLKIT.items())


def _make_toolkit(folder: pathlib.Path, root: pathlib.Path) -> pathlib.Path:
    """Any number of processes may do it at once: the folder appears whole, by a link that is renamed into place."""
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.parent.stat().st_uid != os.getuid():
        raise PermissionError(folder.parent)
    fresh = pathlib.Path(tempfile.mkdtemp(prefix="layout-", dir=folder.parent))
    for link, target in TOOLKIT.items():
        (fresh / link).parent.mkdir(exist_ok=True)
        (fresh / link).symlink_to(root / target)
    name = fresh.with_suffix(".link")
    name.symlink_to(fresh.name)
    name.replace(folder)
    return folder


def variables(root: pathlib.Path) -> dict[str, str]:
    """What programs and packages read to find a CUDA toolkit and driver; PATH-like ones without what they hold already."""
    home = str(toolkit(root))
    return {"CUDA_HOME": home, "CUDA_PATH": home, "NUMBA_CUDA_DRIVER": str(root / "lib" / "libcuda.so.1"),
            "CUPOLA_LIBRARY_PATH": str(root / "lib")}


def loaded_path(name: str) -> str | None:
    """The file of a library that this process has loaded under that name."""
    import ctypes

    if not hasattr(os, "RTLD_NOLOAD"):
        return None
    try:
        ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return None
    try:
        with open("/proc/self/maps") as maps:
            files = {line.split(maxsplit=5)[5].strip() for line in maps if line.count(" ") >= 5 and "/" in line}
    except OSError:
        return None
    stem = name.split(".so")[0] + ".so"
    return next((file for file in sorted(files) if os.path.basename(file).startswith(stem)), None)


def preload(root: pathlib.Path) -> list[str]:
    """Loads the libraries of an installation, so that every later search by name finds them, and sets what names folders. Returns the names.

    Raises ImportError when the process has another libcuda already.
    """
    import ctypes

    other = loaded_path("libcuda.so.1")
    if other and not os.path.samefile(other, root / "lib" / "libcuda.so.1"):
        raise ImportError(f"this process uses {other} already: import cupola.numba before numba.cuda and cuda.bindings")
    found = [name for name in LIBRARIES if (root / "lib" / name).exists()]
    for name in found:
        ctypes.CDLL(str(root / "lib" / name), mode=ctypes.RTLD_GLOBAL)
    os.environ.update(variables(root))
    numba = sys.modules.get("numba")
    if numba is not None:  # its settings are read when it is imported
        numba.config.CUDA_DRIVER = os.environ["NUMBA_CUDA_DRIVER"]
    _numba_patch.apply()
    return found
