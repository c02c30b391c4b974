"""Coverage of the tables: docs/features.tsv, driver.def, runtime.def, nvml.def, intrinsics.def; exit status 1 on an unproven claim.

A claim is a row whose status is done or partial (Full or Partial in a .def table). A features row names its tests (test names
or prefixes as build/test-results/results.tsv lists them, separated by spaces); each must have passed and none failed. Of which
commit the results are is printed: where that is not HEAD, nothing is known of what changed since. A
function of a .def table must be called by a test that expects it to succeed (api_calls.py), under the very name that it is exported by;
one that is Partial must have its gap in docs/api_gaps.tsv, with the tests that show it.

Every form of the PTX census must lower and be run by a test, or have its gap in docs/ptx_gaps.tsv (ptx_table.py).

Every setting of settings.def must stand in the table of docs/using.md, and nothing else.

README.md holds a table of feature groups by device, which --readme writes anew from docs/readme_table.tsv: each cell is a list
of feature ids, or table:NAME for the coverage of a .def table. A stale table is a problem too, as are docs/api.md, docs/ptx.md, docs/libdevice.md and docs/operations.md.
"""

import argparse
import pathlib
import re
import sys

import api_calls
import api_errors
import libdevice_page
import operations_page
import ptx_table
import test_results

ROOT = pathlib.Path(__file__).resolve().parent.parent
DRIVER_TABLE = ROOT / "src/cuda/driver/driver.def"
RUNTIME_TABLE = ROOT / "src/cuda/cudart/runtime.def"
NVML_TABLE = ROOT / "src/cuda/nvml/nvml.def"
FUNCTION_TABLES = {"driver": DRIVER_TABLE, "runtime": RUNTIME_TABLE, "nvml": NVML_TABLE}
SETTINGS_TABLE = ROOT / "src/base/settings.def"
UFUNC_STAGES = ("python.operations", "python.operations-metal", "python.operations-air")
# A row with a signature: name, suffix (none for internal rows), version (none in nvml.def), status.
FUNCTION_ROW = r"^\s*\w+_(?:FN\(|FN_AS\([^,]*,|INTERNAL\([^,]*,)\s*(\w+)\s*,(?:\s*((?!\d)\w*)\s*,)?(?:\s*\d+\s*,)?\s*(\w+)\s*,\s*\("
STATUSES = {"done", "partial", "todo", "na", "needs-mac"}
DEVICES = ("cpu", "metal", "nvidia")
LONG_TESTS = ("bare-root", "asan:", "tsan:", "python.pythons", "macos")  # only ./test --full runs them: a claim that names one is not checked without --full


def read_features():
    lines = (ROOT / "docs" / "features.tsv").read_text().splitlines()
    if lines[0] != "id\tcapability\tstatus\ttest\tnote":
        sys.exit("features: docs/features.tsv: wrong header")
    return [(line.split("\t") + [""] * 5)[:5] for line in lines[1:]]


def check_tests(who, tests, results, full, problems):
    """Each of the tests has passed, where there are results."""
    for wanted in tests.split() if results else ():
        if wanted.startswith(LONG_TESTS) and not full:
            continue
        matching = [s for name, s in results.items() if name == wanted or name.startswith(wanted)]
        if not matching:
            problems.append(f"{who}: test {wanted} did not run")
        elif "failed" in matching or "passed" not in matching:
            problems.append(f"{who}: test {wanted} did not pass")


def check_features(rows, results, full, problems):
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
        check_tests(id_, tests, results, full, problems)
    return counts


def table_rows(path):
    """(name, suffix, status) of each function in a .def table."""
    text = re.sub(r"//.*", "", path.read_text()) if path.exists() else ""
    rows = [(name, suffix or "", status) for name, suffix, status in re.findall(FUNCTION_ROW, text, re.M)]
    rows += [(name, suffix, "Refused") for name, suffix in re.findall(r"^\s*\w+_REFUSED\(\s*(\w+)\s*,\s*(\w*)\s*,", text, re.M)]
    return rows + [(name, "", "Refused") for name in re.findall(r"^\s*\w+_ABSENT\((\w+)", text, re.M)]


def refusals(path):
    """The reason of each Refused function, by exported name."""
    text = path.read_text() if path.exists() else ""
    row = r'^\s*\w+_(?:REFUSED\(\s*(\w+)\s*,\s*(\w*)\s*,.*|ABSENT\((\w+)\s*),\s*"([^"]*)"\)$'
    return {(name + suffix) or absent: why for name, suffix, absent, why in re.findall(row, text, re.M)}


def without_stream_variant(name):
    return re.sub(r"_pt[sd][sz]$", "", name)


def read_gaps(results, full, problems):
    """What Partial functions refuse, by exported name; the variants for per-thread default streams have the same gaps."""
    gaps = {}
    for line in (ROOT / "docs" / "api_gaps.tsv").read_text().splitlines()[1:]:
        names, gap, tests = (line.split("\t") + ["", ""])[:3]
        if not gap or not tests:
            problems.append(f"docs/api_gaps.tsv: no gap, or no test of it, for {names}")
        check_tests(f"docs/api_gaps.tsv: {names}", tests, results, full, problems)
        gaps.update(dict.fromkeys(names.split(), gap))
    return gaps


def check_functions(label, path, called, gaps, problems):
    counts = {"Full": 0, "Partial": 0, "Refused": 0, "Todo": 0}
    for name, suffix, status in table_rows(path):
        counts[status] += 1
        exported = name + suffix
        if status in ("Full", "Partial") and exported not in called:
            problems.append(f"{label}: {exported} is {status}, but no test expects it to succeed")
        if status == "Partial" and without_stream_variant(exported) not in gaps:
            problems.append(f"{label}: {exported} is Partial, but docs/api_gaps.tsv does not state its gap")
    return counts


def check_gaps(gaps, problems):
    partial = {without_stream_variant(name + suffix) for path in FUNCTION_TABLES.values() for name, suffix, status in table_rows(path)
               if status == "Partial"}
    problems += [f"docs/api_gaps.tsv: {name} is not Partial" for name in gaps if name not in partial]


def functions_text(path, status):
    """The functions of one status: each name once, with the suffixes that it is exported with."""
    suffixes = {}
    for name, suffix, found in table_rows(path):
        if found == status:
            suffixes.setdefault(name, []).append(suffix)
    texts = []
    for name, found in sorted(suffixes.items()):
        first = name if "" in found else name + min(found)
        texts.append(" ".join([f"`{first}`", *(f"`{suffix}`" for suffix in sorted(found) if suffix and name + suffix != first)]))
    return ", ".join(texts)


def gaps_text(path, gaps):
    names = {without_stream_variant(name + suffix) for name, suffix, status in table_rows(path) if status == "Partial"}
    texts = {}
    for name in sorted(names & gaps.keys()):
        texts.setdefault(gaps[name], []).append(f"`{name}`")
    return "\n".join(f"- {', '.join(functions)}: {gap}." for gap, functions in texts.items())


def refusals_text(path):
    texts = {}
    for name, why in sorted(refusals(path).items()):
        if without_stream_variant(name) not in texts.setdefault(why, []):
            texts[why].append(without_stream_variant(name))
    return "\n".join(f"- {', '.join(f'`{name}`' for name in names)}: {why}." for why, names in texts.items()) or "- none."


def api_page(gaps):
    """docs/api.md: the tables' functions by status."""
    parts = ["# API functions by status\n\nMade by `./features --readme` from driver.def, runtime.def, nvml.def and docs/api_gaps.tsv. A function listed as "
             "not there yet is exported,\nsays its name and returns the documented \"not supported\" code. Suffixes behind a name are further "
             "exports of it: `_v2` and so on are\nits newer signatures, `_ptsz` and `_ptds` its variants for per-thread default streams."]
    for title, path in (("Runtime API", RUNTIME_TABLE), ("Driver API", DRIVER_TABLE), ("NVML", NVML_TABLE)):
        parts.append(f"## {title}")
        parts.append(f"**As documented:** {functions_text(path, 'Full')}")
        parts.append(f"**With a gap,** also in their variants for per-thread default streams:\n\n{gaps_text(path, gaps)}")
        parts.append(f"**Refused, and why:**\n\n{refusals_text(path)}")
        parts.append(f"**Not there yet:** {functions_text(path, 'Todo')}")
    return "\n\n".join(parts) + "\n"


def functions_line(label, counts):
    return f"{label}: {counts['Full']} full, {counts['Partial']} partial, {counts['Refused']} refused, {counts['Todo']} todo of {sum(counts.values())}"


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
    # What waits for a Mac's word but has tests works in part: on a double.
    statuses = {id_: "partial" if status == "needs-mac" and tests else status for id_, _, status, tests, _ in rows}
    lines = (ROOT / "docs" / "readme_table.tsv").read_text().splitlines()
    if lines[0].split("\t") != ["group", *DEVICES]:
        sys.exit("features: docs/readme_table.tsv: wrong header")
    table = [f"| | {' | '.join(f'`{device}`' for device in DEVICES)} |", "|---" * (len(DEVICES) + 1) + "|"]
    for line in lines[1:]:
        group, *cells = line.split("\t")
        table.append(f"| {group} | {' | '.join(cell(items, statuses, tables, problems) for items in cells)} |")
    return "\n".join(table)


def check_readme(table, pages, write, problems):
    """The table in README.md and `pages`, texts by path, are as the files hold them; writes them if `write`."""
    path = ROOT / "README.md"
    begin, end = "<!-- made by ./features --readme -->\n", "<!-- end -->"
    before, found, rest = path.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        problems.append("README.md: no place for the table")
        return
    text = f"{before}{begin}{table}\n{end}{after}"
    for file, wanted in ((path, text), *((ROOT / name, page) for name, page in pages.items())):
        if write:
            file.write_text(wanted)
        elif not file.exists() or wanted != file.read_text():
            problems.append(f"{file.relative_to(ROOT)} is stale; run ./features --readme")


def check_settings(problems):
    """The table of docs/using.md and settings.def name the same environment variables."""
    rows = re.findall(r'^CUPOLA_SETTING\(\w+, "(\w+)"', SETTINGS_TABLE.read_text(), re.M)
    _, _, section = (ROOT / "docs" / "using.md").read_text().partition("\n## Settings\n")
    cells = re.findall(r"^\| (`[^|]*`) \|", section, re.M)
    documented = [name for names in cells for name in re.findall(r"`(\w+)`", names)]
    problems += [f"docs/using.md: the table of settings lacks {name}" for name in rows if name not in documented]
    problems += [f"docs/using.md: {name} is no row of {SETTINGS_TABLE.relative_to(ROOT)}" for name in documented if name not in rows]


def intrinsics_line(problems):
    """How many rows of intrinsics.def each back-end's lowering has a case for."""
    rows = re.findall(r"^KIR_INTRINSIC\((\w+)", (ROOT / "src/kir/intrinsics.def").read_text(), re.M)
    texts = []
    for path in sorted((ROOT / "src/backend").glob("*/build/intrinsics.cpp")):
        device = path.parent.parent.name
        lowered = set(re.findall(r"\bcase Intrinsic::(\w+):", path.read_text()))
        missing = [row for row in rows if row not in lowered]
        problems += [f"intrinsics: {path.relative_to(ROOT)} does not lower {row}" for row in missing]
        texts.append(f"{len(rows) - len(missing)} of {len(rows)} lowered by {device}")
    return f"intrinsics: {', '.join(texts)}"


def ufunc_line(results, problems):
    """How many rows of ufunc.def have all their tests passed, by each of the stages that run them."""
    rows = operations_page.rows()
    if not results:
        return f"ufunc: {len(rows)} rows"
    held = {row["name"] for row in rows}
    for stage in UFUNC_STAGES:
        passed, other = set(), set()
        for test, status in results.items():
            if match := re.fullmatch(rf"{re.escape(stage)}/operations\.(?:floats|integers|fast)\[(\w+?)(?:-\w+)?\]", test):
                (passed if status == "passed" else other).add(match[1])
        held &= passed - other
    problems += [f"ufunc: {row['name']}: no passing test by each of {', '.join(UFUNC_STAGES)}" for row in rows if row["name"] not in held]
    return f"ufunc: {len(held)} of {len(rows)} rows held to their bounds on the cpu device, as MSL and as AIR"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-results", action="store_true", help="do not check that tests ran")
    parser.add_argument("--full", action="store_true", help="the results are of ./test --full")
    parser.add_argument("--readme", action="store_true", help="write the table of README.md, docs/api.md and docs/ptx.md anew")
    arguments = parser.parse_args()
    problems = []
    rows = read_features()
    results, tested = ({}, "") if arguments.no_results else test_results.read()
    if not results and not arguments.no_results:
        sys.exit("features: no test results; run ./test first")
    counts = check_features(rows, results, arguments.full, problems)
    called, gaps = api_calls.called_functions(), read_gaps(results, arguments.full, problems)
    tables = {label: check_functions(label, path, called, gaps, problems) for label, path in FUNCTION_TABLES.items()}
    check_gaps(gaps, problems)
    tables["isa"] = isa = ptx_table.census(results, problems)
    pages = {"docs/api.md": api_page(gaps), "docs/ptx.md": ptx_table.page(), "docs/libdevice.md": libdevice_page.page(), "docs/operations.md": operations_page.page()}
    check_readme(readme_table(rows, tables, problems), pages, arguments.readme, problems)
    check_settings(problems)
    errors = api_errors.expected_errors()
    for label in FUNCTION_TABLES:
        print(functions_line(label, tables[label]))
        print(api_errors.line(label, errors))
    print(f"isa: {isa['Full']} of {sum(isa.values())} census forms")
    print(intrinsics_line(problems))
    print(ufunc_line(results, problems))
    for problem in problems:
        print(f"features: {problem}")
    if results:
        print(test_results.age(tested, test_results.checkout()))
    print(f"features: {counts['done']} done, {counts['partial']} partial, {counts['todo']} todo of {len(rows)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
