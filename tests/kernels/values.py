"""Runs a kernel test and compares the values that its checks look at (values.h) with those of a GPU, in golden_h200.

values.py PROGRAM NAME DEVICE   PROGRAM: its path; NAME: NAME.cu; DEVICE: cpu, or what kernels become on the metal device, msl or air
values.py --self-test           that a changed value is seen, of every series

Integers are equal, floating point too where the check asks it; else it is as near as the check has it to what is right, to the
next whole ulp. What a GPU does otherwise is not recorded: the check says so and why (check::Unrecorded). Left out are the cases
that tests/metal/programs.tsv lists. A series that the GPU's file has not was added since, or did not run there.
"""

import collections
import math
import os
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
GOLDEN = FOLDER / "golden_h200"
NOT_ON_METAL = FOLDER.parent / "metal" / "programs.tsv"
NOT_HERE = "(not here)"
DIGITS = {"f64": (53, -1074), "f32": (24, -149), "f16": (11, -24), "bf16": (8, -133)}  # of the fraction; the least exponent

Series = collections.namedtuple("Series", "tolerance count values")


def read(path):
    """Case to its series by check and type; a case that the device cannot run has NOT_HERE among them."""
    cases = collections.defaultdict(dict)
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            case, check, *rest = line.split("\t")
            cases[case][check if check == NOT_HERE else (check, rest[0])] = Series(*rest[1:]) if check != NOT_HERE else rest[0]
    return cases


def ulp(kind, x):
    """Of the type at this value."""
    digits, least = DIGITS[kind]
    return math.ldexp(1.0, max(math.frexp(x)[1] - digits, least))


def samples(series):
    """Pairs of a value and its tolerance."""
    for word in series.values.split():
        value, _, tolerance = word.partition("~")
        yield float.fromhex(value), float(tolerance or series.tolerance)


def near(name, ours, theirs, tolerance):
    kind, unit = name.split(" ", 1)
    if not math.isfinite(theirs) or not math.isfinite(ours):
        return ours == theirs or math.isnan(ours) and math.isnan(theirs)
    return abs(ours - theirs) <= (math.ceil(tolerance) * ulp(kind, theirs) if unit == "in ulps" else tolerance)


def difference(name, ours, theirs):
    """Of two series, in words; None if there is none. `name` is the type, and what tolerances are in."""
    if (ours.tolerance, ours.count) != (theirs.tolerance, theirs.count):
        return f"{ours.count} values ({ours.tolerance}); of the GPU there are {theirs.count} ({theirs.tolerance})"
    if theirs.tolerance == "equal":
        return None if ours.values == theirs.values else f"{ours.values}; the GPU has {theirs.values}"
    for (x, x_tolerance), (y, y_tolerance) in zip(samples(ours), samples(theirs), strict=True):
        if x_tolerance != y_tolerance or not near(name, x, y, y_tolerance):
            return f"{x.hex()} is not within {x_tolerance:g} {name} of {y.hex()}, which the GPU has"
    return None


def problems_of(case, ours, theirs):
    """How many series are compared, and what is wrong."""
    compared = 0
    found = []
    if NOT_HERE in ours or NOT_HERE in theirs:
        return 0, []
    for key, golden in theirs.items():
        if key not in ours:
            found.append(f"{case}: no values of {key[0]} ({key[1]})")
            continue
        compared += 1
        if (what := difference(key[1], ours[key], golden)) is not None:
            found.append(f"{case}: {key[0]}: {what}")
    return compared, found


def left_out(name, device):
    """Cases that do not run to their end there."""
    if device == "cpu":
        return set()
    rows = [line.split("\t") for line in NOT_ON_METAL.read_text().splitlines() if not line.startswith("#")]
    return {case for program, case, _, *codes in rows if program == name and codes in ([], [device])}


def values_of(program, device):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "values.tsv"
        settings = {"CUPOLA_DEVICE": "cpu"} if device == "cpu" else {"CUPOLA_DEVICE": "metal", "CUPOLA_METAL": device}
        subprocess.run([program], env=os.environ | settings | {"CUPOLA_TEST_VALUES": str(path)}, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False, timeout=240)
        return read(path)


def compare(program, name, device):
    theirs = read(GOLDEN / f"{name}.tsv")
    ours = values_of(program, device)
    skipped = left_out(name, device)
    total = 0
    found = []
    for case, golden in theirs.items():
        if device == "cpu" and NOT_HERE in ours.get(case, {}) and NOT_HERE not in golden:
            found.append(f"{case}: is not here, but the GPU has it")
        elif case not in skipped:
            compared, more = problems_of(case, ours.get(case, {}), golden)
            total += compared
            found += more
    if total == 0:
        found.append("nothing was compared")
    print("\n".join(f"{name}: {problem}" for problem in found))
    print(f"{name} on {device}: {total} series, {len(found)} differ; left out: {' '.join(sorted(skipped & set(theirs))) or 'none'}")
    return 1 if found else 0


def changed(name, series):
    """The same with its last value beyond what is allowed."""
    *words, last = series.values.split()
    if series.tolerance == "equal":
        return series._replace(values=" ".join([*words, last[:-1] + ("1" if last[-1] != "1" else "2")]))
    value, tolerance = list(samples(series))[-1]
    kind, unit = name.split(" ", 1)
    step = (math.ceil(tolerance) + 1) * ulp(kind, value) if unit == "in ulps" and math.isfinite(value) else 2 * tolerance
    moved = value + step if math.isfinite(value) else 0.0
    return series._replace(values=" ".join([*words, moved.hex() + "".join(last.partition("~")[1:])]))


def self_test():
    rows = failures = 0
    for path in sorted(GOLDEN.glob("*.tsv")):
        for case, each in read(path).items():
            for (check, name), series in (row for row in each.items() if row[0] != NOT_HERE):
                rows += 1
                if difference(name, series, series) is not None or difference(name, changed(name, series), series) is None:
                    failures += 1
                    print(f"{path.name}: {case}: {check}: a change is not seen")
    print(f"{rows} series, {failures} failures")
    return 1 if failures or rows == 0 else 0


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else compare(*sys.argv[1:]))
