"""Runs a program of the other tests on the metal device, and compares which of its cases fail with programs.tsv: one that fails
and is not there, and one that is there and passes, are both errors.

programs.py PROGRAM NAME CODE     PROGRAM: its path; NAME: in programs.tsv; CODE: what kernels become, msl or air
"""

import os
import pathlib
import re
import subprocess
import sys

TABLE = pathlib.Path(__file__).with_name("programs.tsv")
WHOLE = "(program)"  # a case of its own: that the program comes to its end; of one without cases, that it exits with 0


def expected(name, code):
    """Case to reason. A row of one kind of code only says which in a fourth column."""
    rows = [line.split("\t") for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    return {case: reason for program, case, reason, *codes in rows if program == name and codes in ([], [code])}


def results(program, code):
    """Case to whether it passed, and what was printed."""
    try:
        run = subprocess.run([program], env=os.environ | {"CUPOLA_DEVICE": "metal", "CUPOLA_METAL": code}, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace", check=False, timeout=240)
    except subprocess.TimeoutExpired as late:
        return {WHOLE: False}, f"{late}"
    cases = {case: word == "ok" for case, word in re.findall(r"^case (\S+): (ok|FAILED)", run.stdout, re.MULTILINE)}
    if not cases or run.returncode not in (0, 1):
        cases[WHOLE] = run.returncode == 0
    return cases, run.stdout


def main():
    program, name, code = sys.argv[1:]
    known = expected(name, code)
    cases, output = results(program, code)
    problems = [f"{case} is in {TABLE.name} and did not run" for case in known if case not in cases]
    for case, passed in cases.items():
        if passed and case in known:
            problems.append(f"{case} passes: take it out of {TABLE.name}")
        if not passed and case not in known:
            problems.append(f"{case} fails")
        print(f"case {case}: ok" if passed else f"case {case} is not there on metal: {known.get(case, 'no reason is known')}")
    if problems:
        print(output)
    for problem in problems:
        print(f"{name}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
