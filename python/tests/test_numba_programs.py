"""The programs of `./bench python`, at the size of Numba's simulator, on the device that CUPOLA_DEVICE names. NumPy is the judge."""

import importlib
import pathlib
import sys

import cupola.numba  # noqa: F401  before numba.cuda
import numpy as np
import pytest

pytest.importorskip("numba.cuda")
pytestmark = pytest.mark.filterwarnings("ignore")  # Numba's advice on speed

BENCH = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "python"
PROGRAMS = sorted(path.stem for path in (BENCH / "programs").glob("*.py"))


@pytest.fixture
def bench():
    sys.path.insert(0, str(BENCH))
    yield importlib.import_module("one_program")
    sys.path.remove(str(BENCH))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(bench, name):
    program = importlib.import_module(f"programs.{name}")
    arguments = program.arguments(program.SIMULATOR_SIZE, np.random.default_rng(1))
    expected = program.reference(*arguments)
    call, results = bench.device_call(program, arguments)
    call()
    assert bench.check(program, results(), expected) == ""
