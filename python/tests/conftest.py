"""Prints `case NAME: ok|FAILED` for each test, which scripts/run_tests.py counts."""

import os
import re
import subprocess
import sys

import pytest

if os.environ.get("CUPOLA_TEST_BUILTIN") == "1":  # numba-cuda, where it is installed, has a finder that puts it in the place of the built-in target
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "NumbaCudaFinder"]


def pytest_terminal_summary(terminalreporter):
    for outcome, word in (("passed", "ok"), ("failed", "FAILED"), ("error", "FAILED")):
        for report in terminalreporter.stats.get(outcome, []):
            name = re.sub(r"^.*?test_(\w+)\.py(::test_)?", r"\1.", report.nodeid, count=1, flags=re.S).rstrip(".")
            terminalreporter.write_line(f"case {'_'.join(name.split())}: {word}")


@pytest.fixture
def python():
    """Runs a program in a process of its own and gives what it printed."""

    def run(text, *, status=0, **options):
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, **options)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    return run


class Gate:
    """`gate.kernel[1, 1, stream](gate.buffer, x, by)` waits until the gate is open, then does x = 10 x + by."""

    SOURCE = """__global__ void pass(volatile int* gate, int* x, int by) {
      while (!*gate) {}
      *x = *x * 10 + by;
    }"""

    def __init__(self):
        import cupola

        self.kernel = cupola.jit(self.SOURCE)
        self.buffer = cupola.Buffer(1, "i4")
        self._view = self.buffer.host()
        self._view[0] = 0

    def open(self):
        self._view[0] = 1


@pytest.fixture
def gate():
    import cupola

    gate = Gate()
    yield gate
    gate.open()  # a test that fails leaves nothing waiting
    cupola.synchronize()
