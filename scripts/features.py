"""Coverage of the tables: docs/features.tsv, driver.def, runtime.def, intrinsics.def; exit status 1 on an unproven claim.

A claim is a row whose status is done or partial (Full or Partial in a .def table). A features row names its tests (test names
or prefixes as build/test-results/results.tsv lists them, separated by spaces); each must have passed and none failed. A
function of a .def table must be called by name in a test source.

README.md holds a table of feature groups by device, which --readme writes anew from docs/readme_table.tsv: each cell is a list
of feature ids, or table:NAME for the coverage of a .def table. A stale table is a problem too.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DRIVER_TABLE = ROOT / "src/cuda/driver/driver.def"
RUNTIME_TABLE = ROOT / "src/cuda/cudart/runtime.def"
# A row with a signature: name, suffix (none for internal rows), status.
FUNCTION_ROW = r"^\s*\w+_(?:FN\(|FN_AS\([^,]*,|INTERNAL\([^,]*,)\s*(\w+)\s*,(?:\s*(\w*)\s*,)?\s*\d+\s*,\s*(\w+)"
STATUSES = {"done", "partial", "todo", "na", "needs-mac"}
DEVICES = ("cpu", "metal", "nvidia")
PTX_CENSUS_FORMS = 673  # forms over 517 public programs; the PTX reader will bring isa.def


def read_results():
    path = ROOT / "build" / "test-results" / "results.tsv"
    if not path.exists():
        return {}
    return dict(line.split("\t") for line in path.read_text().splitlines())


def read_features():
    lines = (ROOT / "docs" / "features.tsv").read_text().splitlines()
    if lines[0] != "id\tcapability\tstatus\ttest\tnote":
        sys.exit("features: docs/features.tsv: wrong header")
    return [(line.split("\t") + [""] * 5)[:5] for line in lines[1:]]


def check_features(rows, results, problems):
    counts = dict.fromkeys(STATUSES, 0)
    seen = set()
    for id_, _, status, tests, _ in rows:
        if id_ in seen:
            problems.append(f"{id_}: listed twice")
        seen.add(id_)
        if status not in STATUSES:
            problems.append(f"{id_}: unknown status '{status}'")
            continue
        counts[status] += 1
        if status not in ("done", "partial"):
            continue
        if not tests:
            problems.append(f"{id_}: claimed {status} without a test")
        for wanted in tests.split():
            matching = [s for name, s in results.items() if name == wanted or name.startswith(wanted)]
            if not matching:
                problems.append(f"{id_}: test {wanted} did not run")
            elif "failed" in matching or "passed" not in matching:
                problems.append(f"{id_}: test {wanted} did not pass")
    return counts


def test_sources():
    patterns = ("src/**/*_test.cpp", "tools/**/*_test.cpp", "tests/**/*.cpp", "tests/**/*.cu", "tests/**/*.h", "tests/**/*.c")
    return "\n".join(path.read_text(errors="replace") for pattern in patterns for path in ROOT.glob(pattern))


def check_functions(label, path, sources, problems):
    counts = {"Full": 0, "Partial": 0, "Todo": 0}
    text = re.sub(r"//.*", "", path.read_text()) if path.exists() else ""
    for match in re.finditer(FUNCTION_ROW, text, re.M):
        name, suffix, status = match.groups()
        counts[status] += 1
        if status != "Todo" and not re.search(rf"\b{name}(_v\d)?(_ptsz|_ptds)?\b", sources):
            problems.append(f"{label}: {name}{suffix} is {status}, but no test calls it")
    counts["Todo"] += len(re.findall(r"^\s*\w+_TODO\(", text, re.M))
    return counts


def function_names(path, status):
    text = re.sub(r"//.*", "", path.read_text())
    rows = re.findall(FUNCTION_ROW, text, re.M)
    names = [name for name, _, found in rows if found == status]
    if status == "Todo":
        names += re.findall(r"^\s*\w+_TODO\((\w+)", text, re.M)
    return sorted(set(names))


def api_page():
    """docs/api.md: the tables' functions by status."""
    parts = ["# API functions by status\n\nMade by `./features --readme` from driver.def and runtime.def. A function listed as not there yet is exported,\n"
             "says its name and returns the documented \"not supported\" code. Names stand without `_v2`, `_ptsz` and the like."]
    for title, path in (("Runtime API", RUNTIME_TABLE), ("Driver API", DRIVER_TABLE)):
        parts.append(f"## {title}")
        for status, heading in (("Full", "As documented"), ("Partial", "With the gap that its row states"), ("Todo", "Not there yet")):
            parts.append(f"**{heading}:** " + ", ".join(f"`{name}`" for name in function_names(path, status)))
    return "\n\n".join(parts) + "\n"


def functions_line(label, counts):
    return f"{label}: {counts['Full']} full, {counts['Partial']} partial, {counts['Todo']} todo of {sum(counts.values())}"


def cell(items, statuses, tables, problems):
    """yes: all of it is done; not yet: none of it; partly otherwise."""
    seen = []
    for item in items.split():
        if item.startswith("table:"):
            counts = tables[item.removeprefix("table:")]
            done = counts["Full"] == sum(counts.values())
            seen.append("done" if done else "partial" if counts["Full"] + counts["Partial"] else "todo")
        elif item in statuses:
            seen.append(statuses[item])
        else:
            problems.append(f"docs/readme_table.tsv: {item} is no feature")
    if seen and all(status == "done" for status in seen):
        return "yes"
    return "partly" if "done" in seen or "partial" in seen else "not yet"


def readme_table(rows, tables, problems):
    statuses = {id_: status for id_, _, status, _, _ in rows}
    lines = (ROOT / "docs" / "readme_table.tsv").read_text().splitlines()
    if lines[0].split("\t") != ["group", *DEVICES]:
        sys.exit("features: docs/readme_table.tsv: wrong header")
    table = [f"| | {' | '.join(f'`{device}`' for device in DEVICES)} |", "|---" * (len(DEVICES) + 1) + "|"]
    for line in lines[1:]:
        group, *cells = line.split("\t")
        table.append(f"| {group} | {' | '.join(cell(items, statuses, tables, problems) for items in cells)} |")
    return "\n".join(table)


def check_readme(table, write, problems):
    path = ROOT / "README.md"
    begin, end = "<!-- made by ./features --readme -->\n", "<!-- end -->"
    before, found, rest = path.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        problems.append("README.md: no place for the table")
        return
    text = f"{before}{begin}{table}\n{end}{after}"
    for page, wanted in ((path, text), (ROOT / "docs" / "api.md", api_page())):
        if write:
            page.write_text(wanted)
        elif not page.exists() or wanted != page.read_text():
            problems.append(f"{page.relative_to(ROOT)} is stale; run ./features --readme")


def intrinsics_line():
    path = ROOT / "src" / "kir" / "intrinsics.def"
    rows = len(re.findall(r"^KIR_INTRINSIC\(", path.read_text(), re.M)) if path.exists() else 0
    return f"intrinsics: {rows} of {rows} lowered by cpu"  # the switch over them has no default: a missing one fails to build


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-results", action="store_true", help="do not check that tests ran")
    parser.add_argument("--readme", action="store_true", help="write the table of README.md and docs/api.md anew")
    arguments = parser.parse_args()
    problems = []
    rows = read_features()
    results = read_results()
    if not results and not arguments.no_results:
        sys.exit("features: no test results; run ./test first")
    counts = check_features(rows, results, problems)
    sources = test_sources()
    tables = {
        "driver": check_functions("driver", DRIVER_TABLE, sources, problems),
        "runtime": check_functions("runtime", RUNTIME_TABLE, sources, problems),
    }
    check_readme(readme_table(rows, tables, problems), arguments.readme, problems)
    for label, counted in tables.items():
        print(functions_line(label, counted))
    print(f"isa: 0 of {PTX_CENSUS_FORMS} census forms")
    print(intrinsics_line())
    print("ufunc: 0 full, 0 partial, 0 todo of 0 (no table yet)")
    for problem in problems:
        print(f"features: {problem}")
    print(f"features: {counts['done']} done, {counts['partial']} partial, {counts['todo']} todo of {len(rows)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
