"""What ./clients counts, on reports made here; and that every row of the tables is used. Prints nothing when all is right."""

import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import client_numba
import client_tinygrad
from client_results import Results, replace_reports, summary


def report(test, outcome, when="call", subtest=False, expected=False, reason=""):
    return {"id": f"../site-packages/numba/cuda/tests/{test}", "when": when, "outcome": outcome, "seconds": 0.5, "subtest": subtest,
            "expected": expected, "reason": reason, "first": ""}


REPORTS = [
    report("a.py::plain", "passed", "setup"), report("a.py::plain", "passed"),
    report("a.py::parts", "passed"), report("a.py::parts", "failed", subtest=True, reason="of a part"), report("a.py::parts", "passed"),
    report("a.py::end", "passed"), report("a.py::end", "failed", "teardown", reason="at the end"),
    report("a.py::left", "skipped", "setup", reason="not here"),
    report("a.py::part_left", "skipped", subtest=True), report("a.py::part_left", "passed"),
    report("a.py::known", "skipped", expected=True, reason="known"),
    report("a.py::dead", "failed", reason="worker 'gw0' crashed"),
]


def main():
    results = Results()
    for row in REPORTS:
        results.add(row)
    assert results.outcomes == {"a.py::plain": "passed", "a.py::parts": "failed", "a.py::end": "failed", "a.py::left": "skipped",
                                "a.py::part_left": "passed", "a.py::known": "xfailed", "a.py::dead": "failed"}, results.outcomes
    reference = ["a.py::plain", "a.py::parts", "a.py::left", "a.py::never"]
    line = summary("sample", results, reference, "H200")
    assert line == "sample: 2 passed, 3 failed, 2 skipped of 7; reference list H200: 25.0%", line
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "failures.txt"
        results.write_failures(path, set(reference))
        rows = [line.split("\t") for line in path.read_text().splitlines()]
    assert [row[:3] for row in rows] == [["failed", "unlisted", "a.py::dead"], ["failed", "unlisted", "a.py::end"], ["skipped", "listed", "a.py::left"],
                                         ["not run", "listed", "a.py::never"], ["failed", "listed", "a.py::parts"]], rows
    assert rows[4][3] == "of a part"

    before, after = Results(), Results()
    for test in ("t/test_ops.py::a", "t/test_ops.py::b", "t/test_nn.py::c", "t/test_jit.py::d"):
        before.add(report(test, "passed"))
    for test, outcome in (("t/test_ops.py::a", "passed"), ("t/test_ops.py::b", "failed"), ("t/test_nn.py::c", "skipped"), ("t/test_jit.py::d", "passed")):
        after.add(report(test, outcome))
    lines = client_tinygrad.parts(after, before, list(before.outcomes))
    assert lines == ["test_ops: 1 of 2 (50.0%)", "of the list, 1 are left out by tinygrad itself on this device",
                     "seconds in tests that pass on both: CPU 1, here 1"], lines

    with tempfile.TemporaryDirectory() as folder:
        first, later = pathlib.Path(folder) / "first", pathlib.Path(folder) / "later"
        first.write_text("".join(json.dumps(row) + "\n" for row in REPORTS + [report("b.py", "failed", "collect")]))
        later.write_text("".join(json.dumps(row) + "\n" for row in [report("a.py::dead", "passed"), report("b.py::one", "passed")]))
        again = Results.read(replace_reports(first, later))
    assert again.outcomes == {**results.outcomes, "a.py::dead": "passed", "b.py::one": "passed"}, again.outcomes

    names = client_numba.read_list(client_numba.DATA / "numba_h200.txt")
    assert len(names) == len(set(names)) == 2003
    classes = client_numba.classes_of(names)
    assert {label: len(found) for label, found in classes.items()} == {"execution": 1805, "ptx-text": 120, "linking": 78}
    assert "nrt/test_nrt.py::TestNrtLinking::test_nrt_detect_linkable_code" in classes["linking"]
    used = client_numba.patterns_of(names)
    unused = [row for row in client_numba.read_list(client_numba.DATA / "numba_classes.tsv") if row.split("\t")[1] not in used]
    assert not unused, unused


if __name__ == "__main__":
    main()
