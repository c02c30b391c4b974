"""Where Cupola's libraries are: CUPOLA_HOME, else what the wheel brought."""

import functools
import importlib.util
import os
import pathlib

from . import _preload


@functools.cache
def root() -> pathlib.Path:
    """The folder with lib, include and bin. Raises ImportError where there is none."""
    if home := os.environ.get("CUPOLA_HOME"):
        if not _preload.is_installation(pathlib.Path(home)):
            raise ImportError(f"CUPOLA_HOME is '{home}', where there is no lib/libcuda.so.1: name the folder of an installation or a build")
        return pathlib.Path(home).resolve()
    places = [pathlib.Path(__file__).parent]
    extension = importlib.util.find_spec("cupola._driver")
    if extension and extension.origin:  # of an editable installation it lies elsewhere
        places.append(pathlib.Path(extension.origin).parent)
    for place in places:
        if _preload.is_installation(place / "_toolkit"):
            return (place / "_toolkit").resolve()
    raise ImportError("Cupola's libraries are not in the package: install the wheel, or set CUPOLA_HOME to an installation or a build")


@functools.cache
def driver():
    """The extension, with this installation's libcuda."""
    from . import _driver

    _driver.set_library(str(root() / "lib" / "libcuda.so.1"))
    return _driver
