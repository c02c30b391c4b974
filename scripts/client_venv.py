"""Virtual environments for other people's packages, with pinned versions, and what makes them use Cupola."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def venv_python(name, folder):
    """The interpreter of FOLDER/venv, which has what tests/clients/NAME.requirements names; made anew when that has changed."""
    requirements = ROOT / "tests" / "clients" / f"{name}.requirements"
    stamp = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()
    venv = folder / "venv"
    mark = venv / "installed"
    if not (mark.exists() and mark.read_text() == stamp):
        shutil.rmtree(venv, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{name}: installing into {os.path.relpath(venv)}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements], check=True)
        mark.write_text(stamp)
    return venv / "bin" / "python"


def with_cupola(build, folder):
    """Environment variables for a process whose CUDA is the one of the build folder BUILD; kernels are cached under FOLDER."""
    libraries, toolkit = build / "lib", build / "lib" / "cupola" / "toolkit"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA_", "NUMBA_", "PYTHON"))}
    environment["LD_LIBRARY_PATH"] = os.pathsep.join([str(libraries), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    environment["PATH"] = os.pathsep.join([str(build / "bin"), os.environ.get("PATH", "")])
    return {**environment, "CUDA_HOME": str(toolkit), "CUDA_PATH": str(toolkit), "CUPOLA_LIBRARY_PATH": str(libraries),
            "CUPOLA_CACHE_DIR": str(folder / "cache")}
