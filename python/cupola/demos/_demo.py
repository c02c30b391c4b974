"""What the demonstrations share: which of the two ways to write kernels is there, checking, timing, and Numba's simulator."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import env

_ROUNDS = 10
_SIMULATOR_SECONDS = 60

Data = dict[str, np.ndarray]


@dataclass
class Demo:
    """One demonstration. `numba` and `jit` are handed the data and give what starts the kernel and waits for it, and what then reads its
    answer; `numpy` computes the same."""

    name: str
    size: int
    small: int  #: what the simulator can do
    data: Callable[[int], Data]
    numpy: Callable[[Data], Any]
    numba: Callable[[Data], tuple[Callable[[], None], Callable[[], Any]]]
    jit: Callable[[Data], tuple[Callable[[], None], Callable[[], Any]]]
    #: Most that an element may differ from NumPy's, relative to it: sums are in another order, for example.
    tolerance: float = 0.0
    #: How the simulator's time grows with size: its threads times their steps.
    work: Callable[[int], float] = float


def has_numba() -> bool:
    """Whether Numba's kernels run here; then Cupola's libraries are in place when this returns."""
    if simulating():
        return True
    if env.numba_problem(env.detect()):
        return False
    os.environ.setdefault("NUMBA_CUDA_WARN_ON_IMPLICIT_COPY", "0")  # they are what is shown
    from .. import numba  # noqa: F401

    return True


def simulating() -> bool:
    """Whether this process is the simulator's."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") == "1"


def timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def best(work: Callable[[], object]) -> float:
    """Seconds of the fastest of some runs, after one that is not counted (it compiles)."""
    work()
    return min(timed(work) for _ in range(_ROUNDS))


def check(demo: Demo, answer: Any, wanted: Any) -> None:
    if not np.allclose(answer, wanted, rtol=demo.tolerance, atol=0):
        sys.exit(f"{demo.name}: wrong: {answer} where NumPy has {wanted}")


def main(demo: Demo, words: list[str]) -> int:
    """Runs it: `--simulate N` prints the simulator's seconds for size N, `--jit` leaves Numba alone, `--size N` is another size,
    `--no-simulator` does without it."""
    options = dict(zip(words, [*words[1:], ""]))
    small = int(options.get("--simulate", 0))
    size = small or int(options.get("--size", demo.size))
    data = demo.data(size)
    wanted = demo.numpy(data)
    with_numba = "--jit" not in options and has_numba()
    run, answer = (demo.numba if with_numba else demo.jit)(data)
    first = timed(run)
    check(demo, answer(), wanted)
    if small:
        print(first)
        return 0
    ours, theirs = best(run), best(lambda: demo.numpy(data))
    print(f"{demo.name}: right, by {'Numba' if with_numba else 'cupola.jit'}, {size:,} elements")
    print(f"  Cupola {1e3 * ours:10.3f} ms")
    print(f"  NumPy  {1e3 * theirs:10.3f} ms   {theirs / ours:.2f} times ours")
    if with_numba and "--no-simulator" not in options:
        simulator(demo, ours, size)
    return 0


def simulator(demo: Demo, ours: float, size: int) -> None:
    """Numba's simulator, in another process, on as small a problem as it can do."""
    environment = dict(os.environ, NUMBA_ENABLE_CUDASIM="1")
    command = [sys.executable, "-m", f"cupola.demos.{demo.name}", "--simulate", str(demo.small)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_SIMULATOR_SECONDS)
        measured = float(done.stdout.split()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError):
        print("  Numba's simulator: no answer")
        return
    seconds = measured * demo.work(size) / demo.work(demo.small)
    print(f"  Numba's simulator {1e3 * seconds:.0f} ms   {seconds / ours:.0f} times ours; calculated from {1e3 * measured:.0f} ms for {demo.small:,} elements")
