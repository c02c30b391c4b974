"""What ./test counts, on CTest tests made here; what its results say of which commit; and which sources clang-tidy is given. What CTest
itself prints is shown; of ours, nothing when all is right.
"""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import run_tests
import test_results

# What a build folder tells CTest.
TESTS = """
add_test(good true)
add_test(bad false)
add_test(skips sh -c "exit 77")
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
add_test(skips-in-words echo "nothing to do")
set_tests_properties(skips-in-words PROPERTIES SKIP_REGULAR_EXPRESSION "nothing to do")
add_test(off true)
set_tests_properties(off PROPERTIES DISABLED TRUE)
add_test(no-program /nowhere/program)
add_test(ground false)
set_tests_properties(ground PROPERTIES FIXTURES_SETUP ground)
add_test(on-ground true)
set_tests_properties(on-ground PROPERTIES FIXTURES_REQUIRED ground)
"""
OUTCOMES = {"good": "passed", "bad": "failed", "skips": "skipped", "skips-in-words": "skipped", "off": "skipped", "no-program": "failed", "ground": "failed",
            "on-ground": "failed"}


def rows(pattern, tests=TESTS):
    """What a run of `tests` adds to the tally."""
    tally = run_tests.Tally()
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "CTestTestfile.cmake").write_text(tests)
        run_tests.run_ctest(tally, folder, pattern, "label:")
    return sorted(tally.rows)


def check(found, expected):
    assert found == expected, f"{found}\ninstead of {expected}"


def test_outcomes():
    check(rows("."), sorted(("label:" + name, status) for name, status in OUTCOMES.items()))
    check(rows("^(good|skips|off)$"), [("label:good", "passed"), ("label:off", "skipped"), ("label:skips", "skipped")])


@contextlib.contextmanager
def ctest_ending_with(status):
    with tempfile.TemporaryDirectory() as folder:
        ctest = pathlib.Path(folder) / "ctest"
        ctest.write_text(f'#!/bin/sh\n{shutil.which("ctest")} "$@"\nexit {status}\n')
        ctest.chmod(0o755)
        with unittest.mock.patch.dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"):
            yield


def test_nothing_to_run():
    check(rows("misspelt"), [("label:ctest", "failed")])
    check(rows(".", tests=""), [("label:ctest", "failed")])
    with ctest_ending_with(0):
        check(rows("misspelt"), [("label:ctest", "failed")])


def test_exit_status():
    """CTest's own counts where no test says that anything failed."""
    with ctest_ending_with(5):
        check(rows("^good$"), [("label:ctest", "failed"), ("label:good", "passed")])
        check(rows("^(good|bad)$"), [("label:bad", "failed"), ("label:good", "passed")])


def test_commit():
    """Results name what was tested, and are held against what is there."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def git(*words):
            settings = ("-c", "user.name=test", "-c", "user.email=", "-c", "commit.gpgsign=false")
            subprocess.run(["git", *settings, "-C", name, *words], check=True, capture_output=True)

        def tested():
            return test_results.checkout(folder)
        check(tested(), "")
        git("init")
        (folder / ".gitignore").write_text("results.tsv\n")
        git("add", ".gitignore")
        git("commit", "-m", "one")
        one = tested()
        assert re.fullmatch("[0-9a-f]{40,}", one), one
        (folder / "new").write_text("")
        check(tested(), one + "-dirty")
        git("add", "new")
        git("commit", "-m", "two")
        two = tested()
        assert two not in (one, one + "-dirty"), two

        table = folder / "results.tsv"
        check(test_results.read(table), ({}, ""))
        test_results.write([("a", "passed"), ("b", "failed")], one, table)
        check(table.read_text().splitlines()[0], f"commit\t{one}")
        check(test_results.read(table), ({"a": "passed", "b": "failed"}, one))
        table.write_text("a\tpassed\n")
        check(test_results.read(table), ({"a": "passed"}, ""))

    a, b = "a" * 40, "b" * 40
    for then, now, line in (
            (a, a, "of commit aaaaaaaaa, which is HEAD"),
            (a, a + "-dirty", "of commit aaaaaaaaa, which is HEAD; what is not committed is not tested; run ./test"),
            (a + "-dirty", a + "-dirty", "of commit aaaaaaaaa with changes that were not committed, which need not be those that are here now"),
            (a, b, "of commit aaaaaaaaa; HEAD is bbbbbbbbb: what changed since is not tested; run ./test"),
            (a + "-dirty", b, "of commit aaaaaaaaa with changes that were not committed; HEAD is bbbbbbbbb: what changed since is not tested; run ./test"),
            ("", a, "of an unknown commit; run ./test")):
        check(test_results.age(then, now), f"results: {line}")


def test_sources_of_headers():
    def include(*names):
        return "".join(f'#include "{name}"\n' for name in names)
    texts = {
        "src/base/log.h": "", "src/base/log.def": "", "src/base/log.cpp": include("base/log.h"), "src/base/early.cpp": include("base/log.h"),
        "src/base/errors.def": "", "src/base/only.h": include("errors.def"), "src/base/tool.h": "",
        "src/base/unused.h": include("base/user.h"), "src/base/user.h": include("base/unused.h"),
        "src/hal/a.h": include("base/only.h", "hal/b.h"), "src/hal/b.h": include("hal/a.h"),
        "src/hal/user.cpp": '#include <vector>\n\n# include "hal/a.h"\n', "src/hal/user_test.cpp": include("hal/a.h"),
        "tools/t/report.h": "", "tools/t/main/main.cpp": include("report.h"), "tools/u/report.h": "", "tools/u/main.cpp": include("base/tool.h", "report.h")}
    for changed, sources in (
            ("src/base/log.cpp", "src/base/log.cpp"),
            ("src/base/log.h", "src/base/log.cpp"),
            ("src/base/log.def src/base/log.h", "src/base/log.cpp"),
            ("src/base/only.h", "src/hal/user.cpp"),
            ("src/base/errors.def", "src/hal/user.cpp"),
            ("tools/t/report.h", "tools/t/main/main.cpp"),
            ("tools/u/report.h", "tools/u/main.cpp"),
            ("src/base/tool.h", "tools/u/main.cpp"),
            ("src/base/log.h src/hal/b.h src/hal/user_test.cpp", "src/hal/user_test.cpp src/base/log.cpp src/hal/user.cpp"),
            ("src/base/unused.h", "")):
        check(run_tests.sources_that_show(changed.split(), texts), sources.split())


def main():
    test_outcomes()
    test_nothing_to_run()
    test_exit_status()
    test_commit()
    test_sources_of_headers()


if __name__ == "__main__":
    main()
