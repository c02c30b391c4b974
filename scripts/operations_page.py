#!/usr/bin/env python3
"""docs/operations.md from the table of operations (src/array/ufunc.def). Without arguments writes it, with --check says whether it is what
the table makes."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "src/array/ufunc.def"
PAGE = ROOT / "docs/operations.md"
ROW = re.compile(r'UFUNC\((\w+), "(\w+)", \(([^)]*)\), (\w+), (\w+)\(([^)]*)\), (\w+)(?:\(([^)]*)\))?, "(.*)"\)$')
TYPES = {"kNumbers": "all", "kFloats": "floats", "kIntegers": "integers"}
CATEGORIES = {
    "arithmetic": ("Arithmetic and rounding", "Integers wrap."),
    "comparison": ("Comparison, truth, classes", "1 or 0, of the arguments' type. Whatever is not 0 is true, NaN too."),
    "bitwise": ("Bits", ""),
    "trigonometry": ("Trigonometric and hyperbolic functions, angles", "The bounds of fast ones hold for |x| up to pi, of `tanpi` up to 0.4."),
    "exponential": ("Roots, exponentials, logarithms, powers, special functions", ""),
    "activation": ("Activations", ""),
    "interpolation": ("Interpolation, colours, noise", ""),
    "vector": ("Distances and vectors", "Of vectors of one element: each place of the arrays stands for itself."),
    "distribution": ("Distributions", "NaN for parameters that make no distribution."),
    "loss": ("Losses and information", "Of one element; sums and means over arrays are not there yet."),
    "statistics": ("Statistics, arithmetic modulo a number", "What is known of the whole (mean, median, quartiles) is an argument."),
}
HEAD = """# Operations on arrays

Made by `scripts/operations_page.py` from `src/array/ufunc.def`. `libcupola-pipeline` computes these {count} operations on the elements of arrays, and fuses
any number of them into one kernel: from C by [`cupola/pipeline.h`](../include/cupola/pipeline.h), from Python by `cupola.pipeline` ([python.md](python.md)).

- **Types.** *floats*: f32, f64; *integers*: i32, i64, u32; *all*: both. Arguments and result are of one type.
- **Results of integers** are exact. NaN in, NaN out, but where the formula says otherwise.
- **Bounds** of floats, f32 / f64. *steps*: each step of the formula is rounded to the type, once, from the left. A number: units in the last place of the exact
  result. *terms*: units of the largest term that the formula adds up, or of the result times the exponent of what is raised to a power. A result below
  the least normal number may be wrong by 1024 times the least number besides. Nothing is promised where a step of a formula with terms is out of the
  type's range.
- **Fast** variants (`fast=True`, `CUPOLA_FAST`) are of f32, and stand for a GPU's approximate instructions where the device has such; the cpu and the metal
  device take few shortcuts. The number bounds the error in units of 2^-23 of the larger of 1 and the largest term. *own*: another function, exactly.
- Every row is held to its bound on the cpu device, as MSL and as AIR on the double of the metal device, over special values and some 1,200 random points a
  type, against NumPy (steps), mpmath and SciPy, and Python's integers. It is measured, not proven.
"""


def rows():
    found = []
    for line in TABLE.read_text().splitlines():
        if line.startswith("UFUNC("):
            match = ROW.match(line)
            if not match:
                sys.exit(f"ufunc.def: not understood: {line}")
            found.append(dict(zip(("name", "category", "parameters", "types", "accuracy", "bounds", "fast", "fast_bound", "formula"), match.groups())))
    return found


def bound(row):
    if row["types"] == "kIntegers":
        return "exact"
    if row["accuracy"] == "exact":
        return "steps"
    return " / ".join(row["bounds"].split(", ")) + (" of terms" if row["accuracy"] == "terms" else "")


def fast(row):
    return row["fast_bound"] or ("own" if row["fast"] == "kOtherFast" else "")


def page():
    table = rows()
    text = HEAD.format(count=len(table))
    for category, (title, note) in CATEGORIES.items():
        text += f"\n## {title}\n\n" + (f"{note}\n\n" if note else "") + "| operation | formula | types | bound | fast |\n|---|---|---|---|---|\n"
        for row in table:
            if row["category"] == category:
                formula = row["formula"].replace("|", "\\|")
                text += f"| `{row['name']}({row['parameters']})` | {formula} | {TYPES[row['types']]} | {bound(row)} | {fast(row)} |\n"
    return text


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text() != page():
            sys.exit("docs/operations.md is not what scripts/operations_page.py makes of src/array/ufunc.def")
    else:
        PAGE.write_text(page())
