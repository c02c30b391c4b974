"""What `cupola run` puts first on PYTHONPATH: Python programs that it starts, and their children, find Cupola's libraries before any others,
also where packages of NVIDIA's libraries are installed. Nothing is loaded until a package that uses CUDA is imported."""

import importlib.machinery
import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
USERS = {"numba", "numba_cuda", "cuda", "cupy", "pycuda"}


class Preload:
    """A finder of modules that finds none: it loads the libraries when one of USERS is asked for."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in USERS:
            sys.meta_path.remove(cls)
            from _cupola import _preload

            try:
                _preload.preload(HERE.parents[2])
            except (ImportError, OSError) as error:
                print(f"cupola run: {error}", file=sys.stderr)
        return None


def next_sitecustomize():
    """The one that would have been found without this."""
    elsewhere = [folder for folder in sys.path if pathlib.Path(folder or ".").resolve() != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec and spec.loader:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


sys.meta_path.insert(0, Preload)
next_sitecustomize()
