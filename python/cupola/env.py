"""What is where: the libraries, the devices, the packages that Cupola works with, and the settings. `python -m cupola.env` prints it."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pathlib
import platform
import sys
from dataclasses import asdict, dataclass, field
from typing import Any

from . import _installation, _preload

# What each library is for; those that an installation lacks are reported as such.
LIBRARIES = {
    "libcuda.so.1": "the driver API", "libcudart.so.13": "the runtime API", "libnvrtc.so.13": "cupola.jit, and Numba with CUDA C++",
    "libnvvm.so.4": "Numba", "libnvJitLink.so.13": "Numba, to link", "libcupola-compiler.so": "code for devices",
    "libcupola-frontend.so": "CUDA C++", "libnvidia-ml.so.1": "NVML, for tools that watch devices",
    "libcupola-pipeline.so": "cupola.pipeline",
}
LIBDEVICE = "lib/cupola/toolkit/nvvm/libdevice/libdevice.10.bc"
PACKAGES = ("numpy", "numba", "numba-cuda", "llvmlite", "cuda-bindings", "cuda-core", "cuda-pathfinder", "cupy", "tinygrad")
OTHERS = ("CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_LOG_FILE", "LD_LIBRARY_PATH", "NUMBA_CUDA_DRIVER", "NUMBA_ENABLE_CUDASIM")


@dataclass
class Environment:
    """What `detect` found."""

    cupola: str
    python: str
    machine: str
    root: str | None = None  #: where the libraries are
    problem: str | None = None  #: why they cannot be used
    toolkit: str | None = None  #: what CUDA_HOME is set to
    libraries: dict[str, bool] = field(default_factory=dict)
    libdevice: bool = False
    devices: list[dict[str, Any]] = field(default_factory=list)
    driver: str | None = None  #: the CUDA version that libcuda is of
    packages: dict[str, str | None] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    activated: bool = False  #: whether this process has the libraries loaded for Numba


def package_version(name: str) -> str | None:
    """The version of an installed package, without importing it."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def settings() -> dict[str, str]:
    """The variables that say something to Cupola, or to those who look for CUDA."""
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith("CUPOLA_") or name in OTHERS}


def detect() -> Environment:
    """Looks. Never raises for what is not there."""
    from . import __version__

    found = Environment(__version__, platform.python_version(), f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores")
    found.packages = {name: package_version(name) for name in PACKAGES}
    found.settings = settings()
    try:
        root = _installation.root()
        found.root = str(root)
        found.toolkit = str(_preload.toolkit(root))
        found.libraries = {name: (root / "lib" / name).exists() for name in LIBRARIES}
        found.libdevice = (root / LIBDEVICE).exists()
        version = _installation.driver().driver_version()
        found.driver = f"{version // 1000}.{version % 1000 // 10}"
        from ._devices import devices

        found.devices = [asdict(device) for device in devices()]
    except (ImportError, RuntimeError) as error:
        found.problem = str(error)
    if found.root:
        driver = _preload.loaded_path("libnvvm.so.4") or _preload.loaded_path("libcudart.so.13")
        found.activated = bool(driver) and pathlib.Path(driver).resolve().is_relative_to(pathlib.Path(found.root).resolve())
    return found


def numba_problem(found: Environment) -> str | None:
    """Why Numba's kernels cannot run here; None when they can."""
    if found.problem:
        return found.problem
    if found.packages["numba"] is None:
        return "Numba is not installed"
    missing = [name for name in ("libnvvm.so.4", "libnvrtc.so.13") if not found.libraries.get(name)]
    missing += [] if found.libdevice else ["libdevice.10.bc"]
    return f"this installation of Cupola has no {', '.join(missing)}" if missing else None


def report(found: Environment) -> str:
    """`found` in lines."""
    lines = [f"cupola {found.cupola}, Python {found.python}, {found.machine}"]
    lines.append(f"libraries: {found.root or 'none'}")
    for name, there in found.libraries.items():
        lines.append(f"  {name:22} {'yes' if there else 'no':4} {LIBRARIES[name]}")
    if found.root:
        lines.append(f"  {'libdevice.10.bc':22} {'yes' if found.libdevice else 'no':4} Numba's mathematics")
        lines.append(f"CUDA_HOME for others: {found.toolkit}")
        lines.append(f"driver: CUDA {found.driver}")
    for device in found.devices:
        lines.append(f"device {device['index']}: {device['name']}, compute capability {'.'.join(map(str, device['compute_capability']))}, "
                     f"{device['multiprocessors']} multiprocessors, {device['memory'] / 2**30:.1f} GiB")
    lines.append("packages: " + ", ".join(f"{name} {version}" for name, version in found.packages.items() if version))
    lines.append("Numba: " + (numba_problem(found) or f"ready; import cupola.numba before numba.cuda{' (done)' if found.activated else ''}"))
    lines += [f"{name}={value}" for name, value in found.settings.items()]
    if found.problem:
        lines.append(f"problem: {found.problem}")
    return "\n".join(lines)


def main(words: list[str]) -> int:
    found = detect()
    print(json.dumps(asdict(found), indent=1) if "--json" in words else report(found))
    return 1 if found.problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
