"""tinygrad's own tests of operations and back-ends on Cupola: device CUDA, against what passes on tinygrad's CPU device.

The tests are only in tinygrad's repository: --source names a checkout. The reference run is kept, and made again for another commit.
"""

import os
import pathlib
import subprocess
import sys

from client_results import Results, summary
from client_suite import run_pytest
from client_venv import ROOT, venv_python, with_cupola

TESTS = ["test/backend"]  # test_ops.py is there too


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
    return {**base, "DEV": device, "XDG_CACHE_HOME": str(folder / "home"), "CC": os.environ.get("CC", "clang-22")}


def reference_run(options, python, source, folder):
    """The reports of the run on tinygrad's CPU device."""
    reports, mark = folder / "cpu.jsonl", folder / "cpu.revision"
    wanted = f"{revision(source)} {options.select}"
    if not (reports.exists() and mark.exists() and mark.read_text() == wanted):
        environment = environment_for("CPU", options, folder)
        run_pytest("tinygrad", python, TESTS, environment, folder / "source", options, "cpu")
        mark.write_text(wanted)
    return reports


def run(options):
    source = require_source(options)
    folder = ROOT / "build" / "clients" / "tinygrad"
    python = options.python or venv_python("tinygrad", folder)
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / "source"
    place.unlink(missing_ok=True)
    place.symlink_to(source)
    reference = [n for n, outcome in Results.read(reference_run(options, python, source, folder)).outcomes.items() if outcome == "passed"]
    environment = environment_for(options.device, options, folder)
    results = Results.read(run_pytest("tinygrad", python, TESTS, environment, place, options))
    results.write_failures(folder / "failures.txt", set(reference))
    print(f"failures: {os.path.relpath(folder / 'failures.txt')}")
    print(summary("tinygrad", results, reference, "CPU"))
    return results
