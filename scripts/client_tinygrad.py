"""tinygrad's own tests of operations and back-ends on Cupola: device CUDA, against what passes on tinygrad's CPU device.

The tests are only in tinygrad's repository: --source names a checkout. The reference run is kept, and made again for another commit.
Tests for several GPUs get as many devices; they skip themselves, or fail, where there is one.
"""

import os
import pathlib
import subprocess
import sys

from client_results import Results, share, summary
from client_suite import run_pytest
from client_venv import ROOT, venv_python, with_cupola

TESTS = ["test/backend"]  # test_ops.py is there too
DEVICES = "8"  # as many as one test asks for


def require_source(options):
    if not options.source or not (options.source / "test" / "backend" / "test_ops.py").exists():
        sys.exit("tinygrad: --source names a checkout of https://github.com/tinygrad/tinygrad (with test/backend)")
    return options.source


def revision(source):
    answer = subprocess.run(["git", "-C", source, "rev-parse", "HEAD"], capture_output=True, text=True)
    return answer.stdout.strip() or str(int((source / "pyproject.toml").stat().st_mtime))


def environment_for(device, options, folder):
    """tinygrad keeps what it compiled, and its settings, out of the user's folders."""
    base = with_cupola(options.build, folder)
    if os.environ.get("PYTHONPATH"):
        base["PYTHONPATH"] = os.environ["PYTHONPATH"]
    ours = {"CUPOLA_DEVICE_COUNT": DEVICES, "XDG_CACHE_HOME": str(folder / "home"), "CC": os.environ.get("CC", "clang-22")}
    return {**base, **ours, "DEV": device, "TEST_TIMEOUT": str(options.timeout)}  # tinygrad's own limit of time


def reference_run(options, python, source, folder):
    """The reports of the run on tinygrad's CPU device."""
    reports, mark = folder / "cpu.jsonl", folder / "cpu.revision"
    wanted = f"{revision(source)} {options.select}"
    if not (reports.exists() and mark.exists() and mark.read_text() == wanted):
        environment = environment_for("CPU", options, folder)
        run_pytest("tinygrad", python, TESTS, environment, folder / "source", options, "cpu", whole=True)
        mark.write_text(wanted)
    return reports


def parts(results, before, reference):
    """Lines of what the score does not say: test_ops alone, what tinygrad leaves out on this device by itself, and the time."""
    operations = [name for name in reference if "/test_ops.py::" in name]
    good = results.passed_of(operations)
    left_out = sum(1 for name in reference if results.outcomes.get(name) in ("skipped", "xfailed"))
    both = [name for name in reference if results.outcomes.get(name) == "passed"]
    return [f"test_ops: {good} of {len(operations)} ({share(good, len(operations))})",
            f"of the list, {left_out} are left out by tinygrad itself on this device",
            f"seconds in tests that pass on both: CPU {sum(before.seconds[n] for n in both):.0f}, here {sum(results.seconds[n] for n in both):.0f}"]


def run(options):
    source = require_source(options)
    folder = ROOT / "build" / "clients" / "tinygrad"
    python = options.python or venv_python("tinygrad", folder)
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / "source"
    place.unlink(missing_ok=True)
    place.symlink_to(source)
    before = Results.read(reference_run(options, python, source, folder))
    reference = [name for name, outcome in before.outcomes.items() if outcome == "passed"]
    environment = environment_for(options.device, options, folder)
    results = Results.read(run_pytest("tinygrad", python, TESTS, environment, place, options))
    results.write_failures(folder / "failures.txt", set(reference))
    print(f"failures: {os.path.relpath(folder / 'failures.txt')}")
    print(*parts(results, before, reference), sep="\n")
    print(summary("tinygrad", results, reference, "CPU"))
    return results
