"""Checks on_a_gpu.tsv: each row names a case that its program still has, each case once, and every program is there."""

import collections
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
NOT_BUILT = "(not built)"


def cases_of(program):
    """Given to macros in capitals, as the first or a later word."""
    text = (FOLDER / f"{program}.cu").read_text()
    return {word for call in re.findall(r"^[A-Z_]+\(([^()]*)", text, re.MULTILINE) for word in re.findall(r"\w+", call)}


def problems():
    listed = collections.defaultdict(list)
    for line in (FOLDER / "on_a_gpu.tsv").read_text().splitlines():
        if line.startswith("#"):
            continue
        program, case, result = line.split("\t")
        listed[program].append(case)
        if case != NOT_BUILT and result != "passes" and not re.fullmatch(r"differs: .+", result):
            yield f"{program}, {case}: '{result}' is no result"
    programs = {path.stem for path in FOLDER.glob("*.cu")}
    for program in sorted(programs ^ set(listed)):
        yield f"{program} is no program, or is not listed"
    for program, names in sorted(listed.items()):
        if program not in programs or names == [NOT_BUILT]:
            continue
        for name, count in collections.Counter(names).items():
            if count > 1 or name not in cases_of(program):
                yield f"{program}, {name}: not one case of it"


if __name__ == "__main__":
    found = list(problems())
    print("\n".join(found))
    sys.exit(1 if found else 0)
