"""Runs the test stages and counts what passed. STAGES is the table of them; --list prints it.

--only names the stages to run. Every GoogleTest case counts as one test, every other CTest entry as one, every further step as one. What a
stage leaves out counts as skipped. The results go to build/test-results/results.tsv (test_results.py), which scripts/features.py reads.
"""

import argparse
import concurrent.futures
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

import test_results

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Tally:
    def __init__(self):
        self.rows = []
        self.is_built = None  # not known yet
        self.checkout = test_results.checkout()  # before the build: a commit that is made meanwhile is not tested

    def add(self, name, status):
        self.rows.append((name, status))

    def count(self, status):
        return sum(1 for _, s in self.rows if s == status)


def step(tally, name, command, **options):
    begin = time.monotonic()
    print(f"== {name}", flush=True)
    status = subprocess.run(command, cwd=ROOT, **options).returncode
    tally.add(name, "passed" if status == 0 else "failed")
    print(f"   {name}: {'ok' if status == 0 else 'FAILED'} in {time.monotonic() - begin:.0f} s", flush=True)
    return status == 0


def is_built(tally):
    """Whether the release build, made once a run by the first stage that needs it, is there."""
    if tally.is_built is None:
        tally.is_built = step(tally, "build", ["scripts/build", "release"])
    return tally.is_built


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True).stdout
    return [line for line in out.splitlines() if (ROOT / line).exists()]


def check_format(tally, _):
    tool = shutil.which("clang-format-22") or shutil.which("clang-format")
    step(tally, "format", [tool, "--dry-run", "--Werror", *tracked("*.h", "*.cpp", "*.cu")])


def includers(texts):
    """Of files, texts by path: those that include each. A name is looked for in the folder of the file that has it, in those above, and in src."""
    found = {}
    for path, text in texts.items():
        folders = [*pathlib.PurePosixPath(path).parents, pathlib.PurePosixPath("src")]
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M):
            file = next((f"{folder / name}" for folder in folders if f"{folder / name}" in texts), None)
            found.setdefault(file, set()).add(path)
    return found


def sources_that_show(changed, texts):
    """Sources by which clang-tidy sees the changed files: those that are sources, then for each header or table the one of its name beside it, or else the
    first that includes it, maybe by way of others."""
    sources, users = [file for file in changed if file.endswith(".cpp")], includers(texts)
    for file in (file for file in changed if not file.endswith(".cpp")):
        beside = f"{pathlib.PurePosixPath(file).with_suffix('.cpp')}"
        found, seen, level = [beside] if beside in texts else [], {file}, {file}
        while level and not found:
            level = set().union(*(users.get(user, ()) for user in level)) - seen
            seen |= level
            found = sorted(user for user in level if user.endswith(".cpp"))[:1]
        if not found:
            print(f"== tidy: no C++ source includes {file}")
        sources += found
    return list(dict.fromkeys(sources))


def changed_sources():
    """Sources that show what differs from the main branch's last landed commit, or from the commit before this one; changed sources come first."""
    base = subprocess.run(["git", "rev-parse", "--verify", "-q", "origin/main"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    base = base or "HEAD~1"
    changed = subprocess.run(["git", "diff", "--name-only", base], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    texts = {path: (ROOT / path).read_text() for path in tracked(*(f"{folder}/*.{kind}" for folder in ("src", "tools") for kind in ("h", "def", "cpp")))}
    return sources_that_show([path for path in changed if path in texts], texts)


def check_tidy(tally, sources, most=None):
    """clang-tidy over `most` of the sources that are ours to check, or all of them; the others are skipped tests."""
    tool = shutil.which("clang-tidy-22") or shutil.which("clang-tidy")
    sources = [s for s in sources if s.startswith(("src/", "tools/"))]
    sources, left_out = sources[:most], sources[most:] if most else []
    for source in left_out:
        print(f"== tidy: left out {source}; --only tidy-all checks it")
        tally.add(f"tidy:{source}", "skipped")
    if not sources:
        print("== tidy: nothing that differs from the main branch is for it")
        tally.add("tidy", "skipped")
        return
    if not is_built(tally):
        return
    step(tally, "tidy", ["xargs", "-n", "1", "-P", str(os.cpu_count()), tool, "--quiet", "-p", "build"],
         input="\n".join(sources), text=True, stderr=subprocess.DEVNULL)


def unit_tests():
    """What runs under the sanitizers: the unit tests of every folder in src, programs that are instrumented as a whole. CUDA
    test programs are not: they would load an instrumented libcuda into a plain process."""
    rows = re.findall(r"^(?:cupola_folder|add_subdirectory)\(src/([\w/]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)
    return [f"cupola-{folder.replace('/', '-')}-test" for folder in rows if any((ROOT / "src" / folder).glob("*_test.cpp"))]


def status_of(case):
    """Of CTest's `testcase`. A test that did not run has failed, as where its program is missing or what it needs failed, unless it is switched off or said
    itself that it skips: the reason is then the property by which it may (SKIP_RETURN_CODE, SKIP_REGULAR_EXPRESSION)."""
    status, reason = case.get("status"), case.find("skipped")
    if status == "run":
        return "passed"
    may_skip = status == "disabled" or (reason is not None and reason.get("message", "").startswith("SKIP_"))
    return "skipped" if may_skip else "failed"


def run_ctest(tally, folder, pattern, label="", configuration=""):
    before = tally.count("failed")
    results = ROOT / folder / "test-results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)
    junit = results / "ctest.xml"
    environment = dict(os.environ, GTEST_BRIEF="1",
                       ASAN_OPTIONS="detect_leaks=0",  # objects that outlive main are kept on purpose
                       TSAN_OPTIONS=f"report_thread_leaks=0 suppressions={ROOT}/tests/tsan.supp")  # so are threads of the device
    ctest = subprocess.run(["ctest", "--test-dir", folder, "-C", configuration, "-j", str(os.cpu_count()), "--output-on-failure", "--no-tests=error", "-R", pattern,
                            "--test-output-size-passed", "1000000", "--test-output-size-failed", "1000000", "--output-junit", str(junit)], cwd=ROOT, env=environment)
    cases = list(ElementTree.parse(junit).getroot().iter("testcase")) if junit.exists() else []
    for case in cases:
        name, status = case.get("name"), status_of(case)
        report = results / "gtest" / (name + ".xml")  # cupola_test has CTest set it
        lines = re.findall(r"^case (\S+): (ok|FAILED)$", case.findtext("system-out") or "", re.M)
        for part, outcome in lines:
            tally.add(f"{label}{name}/{part}", "passed" if outcome == "ok" else "failed")
        if not report.exists():
            if status == "failed" or not lines:
                tally.add(label + name, status)
            continue
        for test in ElementTree.parse(report).getroot().iter("testcase"):
            outcome = "failed" if test.find("failure") is not None else "skipped" if test.get("result") == "skipped" else "passed"
            if test.get("status") == "run":
                tally.add(f"{label}{name}/{test.get('classname')}.{test.get('name')}", outcome)
        if status == "failed":
            tally.add(label + name, "failed")
    if not cases or (ctest.returncode != 0 and tally.count("failed") == before):
        print(f"   ctest -R '{pattern}' ends with {ctest.returncode}; of the {len(cases)} tests that it lists none failed", flush=True)
        tally.add(label + "ctest", "failed")


def tests(tally, arguments):
    if is_built(tally):
        run_ctest(tally, "build", arguments.pattern)
    test_results.write(tally.rows, tally.checkout)


def levels(tally, _):
    if platform.machine() not in ("x86_64", "AMD64"):
        tally.add("levels", "skipped")
    elif is_built(tally):
        run_ctest(tally, "build", "-x86-64(-v3)?$", configuration="levels")


def long_tests(tally, _):
    if is_built(tally):
        run_ctest(tally, "build", "-long", configuration="long")


def pythons(tally, _):
    if is_built(tally):
        run_ctest(tally, "build", "^python.(wheel|pythons)$", configuration="pythons")


def cases(tally, label, command):
    """A step that prints `case NAME: ok|FAILED` lines, each of which is a test of its own."""
    print(f"== {label}", flush=True)
    run = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True)
    lines = re.findall(r"^case (\S+): (ok|FAILED)$", run.stdout, re.M)
    for part, outcome in lines:
        tally.add(f"{label}/{part}", "passed" if outcome == "ok" else "failed")
    if run.returncode != 0 or not lines:
        print(run.stdout + run.stderr)
        tally.add(label, "failed")


def macos(tally, _):
    if not step(tally, "macos:build", [sys.executable, "scripts/macos_build.py"]):
        return
    cases(tally, "macos", [sys.executable, "tests/macos/products.py", "build-macos", "--self-test"])
    cases(tally, "macos", ["build-macos/tools/venv/bin/python", "tests/macos/fibres.py", "build-macos"])


def sanitizer(preset):
    def run(tally, _):
        programs = unit_tests()
        if step(tally, f"build:{preset}", ["scripts/build", preset, *programs, "stress-mix"]):
            run_ctest(tally, f"build-{preset}", f"^(({'|'.join(programs)})(-cpu)?|stress-mix)$", f"{preset}:")
    return run


def fuzzing(seconds):
    """All are built first, and run as many at a time as there are cores, each alone on its own."""
    def run(tally, _):
        fuzzers = subprocess.run(["./fuzz", "--list"], cwd=ROOT, capture_output=True, text=True).stdout.split()
        if not fuzzers:
            tally.add("fuzz", "failed")
            return
        if not step(tally, "build:fuzz", ["./fuzz", "--build"]):
            return

        def fuzz(fuzzer):
            log = test_results.FOLDER / f"fuzz-{fuzzer}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("w") as out:
                good = step(tally, f"fuzz:{fuzzer}", ["./fuzz", fuzzer, "--built", "--seconds", str(seconds)], stdout=out, stderr=subprocess.STDOUT)
            if not good:
                print("\n".join(log.read_text(errors="replace").splitlines()[-60:]))

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(fuzz, fuzzers))
    return run


def features(tally, arguments):
    if arguments.full:
        test_results.write(tally.rows, tally.checkout)
    step(tally, "features", [sys.executable, "scripts/features.py", *(["--full"] if arguments.full else [])])


MOST_TIDY = 12
# What --only takes: what is done, and the function that does it.
STAGES = {
    "format": ("clang-format over all C++ and CUDA sources", check_format),
    "tests": ("the release build, then all of CTest, or what PATTERN matches", tests),
    "tidy": (f"clang-tidy over the sources that differ from the main branch and one for each such header, {MOST_TIDY} at most",
             lambda tally, _: check_tidy(tally, changed_sources(), MOST_TIDY)),
    "fuzz": ("every fuzzer for 10 seconds", fuzzing(10)),
    "levels": ("the kernel tests with code for plain x86-64 and for x86-64-v3", levels),
    "long": ("libdevice at a million points a function, and all forms of the PTX golden data", long_tests),
    "pythons": ("the Python package's tests with the other Pythons of the machine", pythons),
    "macos": ("the half that runs, built for macOS on Apple Silicon with zig, and looked at", macos),
    "asan": ("the unit tests under the address and undefined-behaviour sanitizers, and many kinds of work together", sanitizer("asan")),
    "tsan": ("the same under the thread sanitizer", sanitizer("tsan")),
    "long-fuzz": ("every fuzzer for 2 minutes", fuzzing(120)),
    "tidy-all": ("clang-tidy over everything", lambda tally, _: check_tidy(tally, tracked("src/*.cpp", "tools/*.cpp"))),
    "bare-root": ("./demo and ./test where there is nothing but Debian", lambda tally, _: step(tally, "bare-root", ["tests/bare-root"])),
    "features": ("the claims of docs/features.tsv and of the API tables", features),
}
DEFAULT = ("format", "tests", "tidy", "fuzz", "features")
FULL = ("format", "tests", "levels", "long", "pythons", "macos", "asan", "tsan", "long-fuzz", "tidy-all", "bare-root", "features")
ONE_PATTERN = ("format", "tests", "tidy")


def list_stages():
    for name, (what, _) in STAGES.items():
        when = [label for label, stages in (("./test", DEFAULT), ("--full", FULL), ("with PATTERN", ONE_PATTERN)) if name in stages]
        print(f"  {name:<10} {what} ({', '.join(when)})")


def stages_of(arguments):
    if arguments.only:
        return arguments.only.split(",")
    if arguments.pattern != ".":
        return ONE_PATTERN
    return FULL if arguments.full else DEFAULT


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", help="stages, separated by commas")
    parser.add_argument("--pattern", default=".")
    parser.add_argument("--list", action="store_true", help="print the stages")
    arguments = parser.parse_args()
    if arguments.list:
        list_stages()
        return 0
    stages = stages_of(arguments)
    unknown = [stage for stage in stages if stage not in STAGES]
    if unknown:
        sys.exit(f"test: no stage '{unknown[0]}'; there are: {', '.join(STAGES)}")
    tally = Tally()
    arguments.full = arguments.full and not arguments.only
    for stage in stages:
        STAGES[stage][1](tally, arguments)
    if "tests" in stages:
        test_results.write(tally.rows, tally.checkout)
    for name, status in tally.rows:
        if status == "failed":
            print(f"failed: {name}")
    print(f"{tally.count('passed')} passed, {tally.count('failed')} failed, {tally.count('skipped')} skipped")
    return 1 if tally.count("failed") or not tally.rows else 0


if __name__ == "__main__":
    sys.exit(main())
