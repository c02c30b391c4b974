"""./clients NAME: runs another project's own test suite with Cupola's libraries; the last line counts.

  numba     numba-cuda's suite, against the tests that pass on an H200 (tests/clients/numba_h200.txt)
  tinygrad  test/backend of a checkout (test_ops is a part of it), on device CUDA, against what passes on its own CPU device

The line is `NAME: P passed, F failed, S skipped of N; reference list R: X%`. Every test that failed is in build/clients/NAME/failures.txt.
"""

import argparse
import pathlib
import sys

import client_numba
import client_tinygrad

RUNNERS = {"numba": client_numba.run, "tinygrad": client_tinygrad.run}


def main():
    parser = argparse.ArgumentParser(prog="clients", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=RUNNERS)
    parser.add_argument("--source", "--testing", type=pathlib.Path, metavar="DIR", help="numba: the folder testing of a checkout; tinygrad: a checkout")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), metavar="DIR", help="the build folder whose libraries are used")
    parser.add_argument("--select", default="", metavar="WORDS", help="only tests that match, as pytest's -k")
    parser.add_argument("--again", action="store_true", help="numba: only what failed in the last run, whose other results stay")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes that run tests")
    parser.add_argument("--timeout", type=int, default=300, metavar="S", help="seconds that a test may take")
    parser.add_argument("--limit", type=int, default=1800, metavar="S", help="seconds that the suite may take (tinygrad: each of two runs)")
    parser.add_argument("--device", default="CUDA", metavar="NAME", help="tinygrad: its device, CUDA or CUDA:PTX")
    parser.add_argument("--python", type=pathlib.Path, metavar="FILE", help="tinygrad: an interpreter that has its packages, in place of a new environment")
    parser.add_argument("--no-binaries", action="store_true", help="numba: do not make what the tests of linking link")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.source = options.source and options.source.resolve()
    RUNNERS[options.name](options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
