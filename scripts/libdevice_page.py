#!/usr/bin/env python3
"""docs/libdevice.md from libdevice's table (src/device/libdevice.def). Without arguments writes it, with --check says whether it is what
the table makes."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "src/device/libdevice.def"
PAGE = ROOT / "docs/libdevice.md"
COLUMNS = ("name", "signature", "family", "oracle", "cuda", "ulps", "absolute", "where", "low", "high")
TYPES = {"v": "void", "f": "float", "d": "double", "i": "int", "u": "unsigned", "l": "long long", "U": "unsigned long long", "h": "unsigned short",
         "c": "const char*", "I": "int*", "F": "float*", "D": "double*", "p": "const float*", "q": "const double*"}
FAMILIES = (
    ("Ulps", "Functions with an error bound", ""),
    ("Fast", "Fast functions", "They are the full functions: CUDA's bounds for them are wider. PTX that Cupola makes has a GPU's instructions for them (`sin.approx`, "
     "`ex2.approx`, `lg2.approx`, `tanh.approx`), with CUDA's bounds, and `ex2.approx` for `__nv_exp2f`. `__nv_fast_powf(x, y)` is 2 to the y log2 x, with the exponent "
     "rounded to float: the bound is times 1 + |y log2 x|. `__nv_rcp64h` keeps the upper half of 1/x; its unit is 2^-33 of the value."),
    ("Exact", "Exact functions", "Each result is the exact one, or it rounded to nearest where it is no number of the type."),
    ("Rounded", "Arithmetic with a rounding", "Correctly rounded in the mode of the name: to nearest (rn), to zero (rz), up (ru), down (rd)."),
    ("Conversion", "Conversions", "Rounded in the mode of the name; integers saturate, and of NaN they are 0 from float to 32 bits, else the highest bit alone."),
    ("Integer", "Integer functions", ""),
    ("Bits", "Bits", "What is done to the bits of a number. Denormals are not flushed."),
)
HEAD = """# libdevice

Made by `scripts/libdevice_page.py` from `src/device/libdevice.def`. `lib/cupola/toolkit/nvvm/libdevice/libdevice.10.bc` is Cupola's own:
LLVM 22 bitcode with the {count} `__nv_*` functions of NVIDIA's libdevice, made of the device library (`src/device`) and, for some functions of
double, of LLVM's libclc. Compilers that link programs with a libdevice take it (Numba, clang with `--cuda-path`, and others whose LLVM
is 22 or newer; older ones cannot read its bitcode). `libnvvm.so.4` of Cupola takes the same functions from its device library instead,
so that on the CPU some come from the C library; the test holds those to CUDA's bounds.

- **Closed.** Nothing but `__nvvm_reflect` is undefined, nothing but the listed functions is external, and none touches memory other than
  through its arguments.
- **`__nvvm_reflect("__CUDA_FTZ")`** stays open: where the program's compiler answers 1, float arguments and results that are
  denormal become zeros of their sign. `__CUDA_PREC_SQRT` and `__CUDA_PREC_DIV` are not asked: roots and quotients are always
  correctly rounded.
- **Bounds.** *CUDA* is the greatest error that the CUDA C++ Programming Guide gives ("Mathematical Functions"), in units in the last place
  from the rounded exact value; *Cupola* is ours from the exact value itself, so that up to half a unit more is as good. An absolute
  error stands where it bounds instead. The test (`libdevice-test`) runs each function as shipped on the CPU device, over special values, random
  ones of all magnitudes, and those near special ones, against GNU MPFR, and fails where ours is exceeded; it is measured, not proven.
- NaNs are quiet; which NaN is not specified, but for a half's, which is 0x7fff. To `__nv_fmin` and `__nv_fmax` -0 is less than +0.
- `__nv_remquo` stores the low three bits of the quotient, with its sign.
"""
WHERE = {"from8": "{ulps}; {absolute} absolute from |x| = 8", "everywhere": "{ulps} or {absolute} absolute", "poles": "{ulps}; {absolute} absolute from -24 to -2"}
CUDA_WHERE = {"j0f": "9 below 8, then 2.2e-6 absolute", "j0": "7 below 8, then 5e-12 absolute", "jnf": "2.2e-6 absolute at n = 128",
              "jn": "5e-12 absolute at n = 128", "ynf": "ceil(2 + 2.5 n) below n, then 2.2e-6 absolute", "yn": "5e-12 absolute from 1.5 n",
              "lgammaf": "6, more from -10.001 to -2.264", "lgamma": "4, more from -23.0001 to -2.2637"}
for name in ("j1", "y0", "y1"):
    CUDA_WHERE[name], CUDA_WHERE[name + "f"] = CUDA_WHERE["j0"], CUDA_WHERE["j0f"]


def rows():
    found = []
    for line in TABLE.read_text().splitlines():
        match = re.match(r"LIBDEVICE\((.*)\)$", line)
        if match:
            found.append(dict(zip(COLUMNS, (word.strip() for word in match[1].split(",")), strict=True)))
    return found


def prototype(row):
    signature = row["signature"]
    arguments = ", ".join(TYPES[letter] for letter in signature[2:-1])
    return f"`{TYPES[signature[0]]} __nv_{row['name']}({arguments})`"


def ours(row):
    unit = " (2 + 2.5 n)" if row["oracle"] == "yn" else ""
    return WHERE.get(row["where"], "{ulps}").format(ulps=row["ulps"] + unit, absolute=row["absolute"])


def wider(row):
    return row["cuda"] != "none" and row["family"] == "Ulps" and float(row["ulps"]) > float(row["cuda"]) + 0.5


def page():
    table = rows()
    text = HEAD.format(count=len(table))
    for family, title, note in FAMILIES:
        members = [row for row in table if row["family"] == family]
        text += f"\n## {title}\n\n" + (f"{note}\n\n" if note else "")
        if family in ("Ulps", "Fast"):
            text += "| function | CUDA | Cupola |\n|---|---|---|\n"
            for row in members:
                published = CUDA_WHERE.get(row["name"], "not given" if row["cuda"] == "none" else row["cuda"])
                text += f"| {prototype(row)} | {published} | {ours(row)} |\n"
        else:
            text += "".join(f"- {prototype(row)}\n" for row in members)
    beyond = [row for row in table if wider(row)]
    text += "\n## Bounds that are not met\n\n"
    text += "".join(f"- {prototype(row)}: {row['ulps']}, CUDA's is {row['cuda']}\n" for row in beyond) or "None is known.\n"
    return text


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text() != page():
            sys.exit("docs/libdevice.md is not what scripts/libdevice_page.py makes of src/device/libdevice.def")
    else:
        PAGE.write_text(page())
