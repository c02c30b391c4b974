"""numba-cuda's own test suite on Cupola.

The suite is installed with the package. Its pytest.ini, its conftest.py and the sources of what its tests of linking link are only in
numba-cuda's repository, in the folder testing: --testing names it, else the tag of the pinned version is cloned from GitHub.
"""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

from client_results import Results, replace_reports, share, summary
from client_suite import run_pytest
from client_venv import ROOT, venv_python, with_cupola

DATA = ROOT / "tests" / "clients"
REPOSITORY, TAG = "https://github.com/NVIDIA/numba-cuda", "v0.30.4"


@functools.cache
def read_list(path):
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def class_row(name):
    """The class of a test id, and the pattern that says so."""
    for row in read_list(DATA / "numba_classes.tsv"):
        label, pattern, _ = row.split("\t")
        if re.search(pattern, name):
            return label, pattern
    return "execution", ""


def classes_of(names):
    """Test ids by class, with execution first."""
    found = {"execution": [], "ptx-text": [], "linking": []}
    for name in names:
        found[class_row(name)[0]].append(name)
    return found


def patterns_of(names):
    return {class_row(name)[1] for name in names}


def testing_folder(given, folder):
    if given:
        if not (given / "pytest.ini").exists():
            sys.exit(f"numba: {given} has no pytest.ini: name the folder 'testing' of a checkout of {REPOSITORY} at {TAG}")
        return given
    source = folder / "source"
    if not source.exists():
        clone = subprocess.run(["git", "clone", "--quiet", "--depth", "1", "--branch", TAG, REPOSITORY, source])
        if clone.returncode != 0:
            sys.exit(f"numba: {REPOSITORY} cannot be cloned: give the folder 'testing' of a checkout at {TAG} with --testing")
    return source / "testing"


class Binaries:
    """What the tests of linking link: made by the suite's own Makefile, where cupolac takes the place of nvcc."""

    def __init__(self, testing, python, environment, folder):
        self.folder = folder / "testing"
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(testing, self.folder)
        paths = [python.parent, pathlib.Path(environment["CUDA_HOME"]) / "bin", environment["PATH"]]
        self.environment_ = {**environment, "PATH": os.pathsep.join(map(str, paths))}

    def make(self):
        """Makes what it can; the log says what failed."""
        with (self.folder / "make.log").open("w") as log:
            status = subprocess.run(["make", "--keep-going", "GPU_CC=89", "all"], cwd=self.folder, env=self.environment_, stdout=log, stderr=log).returncode
        if status != 0:
            lines = (self.folder / "make.log").read_text().splitlines()
            missing = [match[1] for line in lines if (match := re.search(r"\*\*\* \[\S+ (\S+)\]", line))]
            print(f"numba: not made: {' '.join(missing)} (see {os.path.relpath(self.folder / 'make.log')})", file=sys.stderr)


LOAD = """
import ctypes, sys
from cuda import pathfinder
for name in ("nvvm", "nvrtc", "nvJitLink", "cudart"):
    print(pathfinder.load_nvidia_dynamic_lib(name).abs_path)
ctypes.CDLL("libcuda.so.1")
print(next(line.split()[-1] for line in open("/proc/self/maps") if "/libcuda.so" in line))
"""


def require_own_libraries(python, environment, build):
    """That what numba-cuda will load lies in the build folder: a toolkit of the machine's own must not pass for Cupola."""
    found = subprocess.run([python, "-c", LOAD], env=environment, capture_output=True, text=True)
    if found.returncode != 0:
        sys.exit(f"numba: the libraries are not all there: {found.stderr.strip().splitlines()[-1]}")
    foreign = [line for line in found.stdout.splitlines() if not pathlib.Path(line).resolve().is_relative_to(build)]
    if foreign:
        sys.exit(f"numba: not Cupola's, but found first: {' '.join(foreign)}")


def run_suite(options, python, environment, folder):
    """The reports of the whole suite; with --again those of the last run, with those of its failures in their place."""
    environment = {**environment, "NUMBA_CUDA_TEST_BIN_DIR": str(folder / "testing")}
    # loadscope: the tests of a class share a context
    arguments = ["-c", folder / "testing" / "pytest.ini", "--dist", "loadscope"]
    if not options.again:
        return run_pytest("numba", python, arguments, environment, folder / "testing", options)
    only = folder / "again.txt"
    only.write_text("".join(line.split("\t")[2] + "\n" for line in (folder / "failures.txt").read_text().splitlines()))
    environment["CUPOLA_ONLY"] = str(only)
    reports = run_pytest("numba", python, arguments, environment, folder / "testing", options, "again")
    return replace_reports(folder / "suite.jsonl", reports)


def run(options):
    folder = ROOT / "build" / "clients" / "numba"
    python = venv_python("numba", folder)
    environment = with_cupola(options.build, folder)
    require_own_libraries(python, environment, options.build)
    binaries = Binaries(testing_folder(options.source, folder), python, environment, folder)
    if not options.no_binaries:
        binaries.make()
    results = Results.read(run_suite(options, python, environment, folder))
    reference = read_list(DATA / "numba_h200.txt")
    if options.select:
        reference = [name for name in reference if name in results.outcomes]
    results.write_failures(folder / "failures.txt", set(reference))
    for label, names in classes_of(reference).items():
        print(f"{label}: {results.passed_of(names)} of {len(names)} of the reference list pass, {share(results.passed_of(names), len(names))}")
    print(f"failures: {os.path.relpath(folder / 'failures.txt')}")
    print(summary("numba", results, reference, "H200"))
    return results
