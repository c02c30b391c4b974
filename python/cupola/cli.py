"""The commands `cupola ...` of an installed wheel: those of the tool beside the libraries, which docs/using.md describes."""

from __future__ import annotations

import os
import sys

from . import _installation


def main() -> None:
    """Becomes the tool. `cupola run PROGRAM` and the rest are its."""
    try:
        tool = _installation.root() / "bin" / "cupola"
        os.execv(tool, ["cupola", *sys.argv[1:]])
    except (ImportError, OSError) as error:
        sys.exit(f"cupola: {error}")
