"""The PTX front end's table (src/ptx/syntax/isa): which forms of the census lower and are tested, and docs/ptx.md.

A form of tests/ptx/census_forms.txt is done when its row lowers and a passing test holds it: one of EVIDENCE, files that list or
contain what a test runs. docs/ptx_gaps.tsv says of every row that Cupola refuses why, and of rows whose forms nothing tests yet; a form that is neither is a
problem.
"""

import functools
import pathlib
import re
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent
SYNTAX = ROOT / "src/ptx/syntax"
GAPS = "docs/ptx_gaps.tsv"
UNTESTED = "untested"  # how a gap begins that is about a row which lowers
# Where forms stand: the first column of a list, or statements in the text of a test.
EVIDENCE = (
    ("lists", "tests/ptx/golden.tsv", "ptx-golden"),
    ("lists", "tests/ptx/values/*.tsv", "ptx-values"),
    ("lists", "tests/ptx/matrix_forms.txt", "ptx-matrices"),
    ("texts", "tests/ptx/round_trip/*.ptx", "ptx-round-trip"),
    ("texts", "tests/api/driver_ptx.cu", "api.driver_ptx"),
    ("texts", "tests/api/driver_textures.cu", "api.driver_textures"),
    ("texts", "src/compile/ptx_device_test.cpp", "cupola-compile-test/Ptx cupola-compile-test/Forms/Ptx"),
)
OPEN = "tests/ptx/open_forms.txt"  # cases that are known to differ from the golden data: their forms do not count
STATEMENT = re.compile(r"(?:^|[\s;{}\":])([a-z]\w*(?:\.\w+(?:::\w+)*)*)(?=[\s;\"])", re.M)
PAGE_HEAD = """# PTX instructions

Made by `./features --readme` from the table that the parser and the lowering use (`src/ptx/syntax/isa`) and docs/ptx_gaps.tsv.
Each line is a family of forms. *Modifiers and types*: slots between spaces, `|` between the words of which one fills a slot, `?` behind a
slot that may stay empty, `*` for any words; their order, types and state spaces apart, is free. *Operands*: `d` is written, the others are
read; `[a]` is an address, `{a}` a vector where the form has .v2, .v4 or .v8, `{a*}` a vector of any length, `d/p` a destination and a
predicate, `#a` a constant, `@a` a label, `a~` may sit in a wider register, `a+` may be a variable's name, `a?` may be left out, `a?w`
stands exactly where the form has one of the words w, `a?w?` must stand there and may elsewhere; `:` gives a type (`0` the form's first, `1`
its second, `2` its third, `w` twice as wide as its last, `b` bits of that width, `any` the register's), without it the form's last.
*Since*: the PTX version and the least target. *Status*: lowered, or why a module that holds it is refused when it is loaded.

Sets of words:

"""

ERRORS_HEAD = """## Errors of approximate forms

The bounds that the PTX ISA documents, and the worst errors found against the exact value (MPFR, 200 bits): edge values, 10,000 random
operands and a dense sweep of each range, all values of halves. *Apart*: how far Cupola and the H200 are from each other at the most, in {sets}
of these operand sets. Where the ISA gives no bound, the test's own stands with an asterisk; beyond ±100π sine and cosine need only be of
size 1. `ptx-approximations` fails when Cupola breaks a bound, or when what it finds is not what stands here; quotients and roots of f32 start
from the estimates of the processor, here an Intel one with AVX-512, and are correctly rounded where it has none of 14 bits. The H200 breaks {broken} of the
bounds by a hair itself. Made from tests/ptx/errors_cupola.tsv and tests/ptx/errors_h200.tsv, which `ptx-approximations --table` writes on either.

| forms | operand | bound | Cupola | H200 | apart |
|---|---|---|---|---|---|
"""


@dataclass
class Row:
    chapter: str
    opcode: str
    version: int
    target: int
    pattern: str
    operands: str
    lowering: str
    slots: list = field(default_factory=list)  # (words, optional)
    refused: bool = False


def sets():
    body = (SYNTAX / "isa.cpp").read_text().partition("kSets[] = {")[2].partition("\n};")[0]
    return dict(re.findall(r'\{"(\w+)", "([^"]+)"\}', body))


def slot(text, known):
    words = []
    for word in text.partition("?")[0].split("|"):
        words += known[word[1:]].split("|") if word.startswith("@") else [word]
    return words, text.endswith("?")


def rows():
    known = sets()
    pending = {name for path in (ROOT / "src/ptx/lower").glob("*.cpp") for name in re.findall(r"^PENDING\((\w+)\)", path.read_text(), re.M)}
    made = []
    for chapter in re.findall(r'#include "ptx/syntax/isa/(\w+)\.def"', (SYNTAX / "isa.def").read_text()):
        text = (SYNTAX / "isa" / f"{chapter}.def").read_text()
        for opcode, version, target, pattern, operands, lowering in re.findall(
                r'^PTX\((\w+), (\d+), (\d+), "([^"]*)", "([^"]*)", (\w+)\)', text, re.M):
            row = Row(chapter, opcode, int(version), int(target), pattern, operands, lowering)
            row.slots = [slot(word, known) for word in pattern.split() if word != "*"]
            row.refused = lowering == "unsupported" or lowering in pending
            made.append(row)
    return made


def takes(row, words):
    """As FormTable::understand: a word goes to the first free slot that takes it; types and state spaces keep their order."""
    free, kinds = list(row.slots), (types(), spaces())
    for word in words:
        kind = next((kind for kind in kinds if word in kind), set())
        for i, (choices, optional) in enumerate(free):
            if word in choices:
                del free[i]
                break
            if not optional and kind.intersection(choices):
                return False
        else:
            if "*" not in row.pattern.split():
                return False
    return all(optional for _, optional in free)


def row_of(form, table):
    """The row that takes the form; one that lowers where several do, which their operands tell apart."""
    opcode, *words = form.split(".")
    found = [row for row in table if row.opcode == opcode and takes(row, words)]
    return min(found, key=lambda row: row.refused, default=None)


@functools.cache
def types():
    return set(re.findall(r'^PTX_TYPE\(\w+, "(\w+)"', (SYNTAX / "types.def").read_text(), re.M))


@functools.cache
def spaces():
    return set(sets()["space"].split("|"))


def ordered_words():
    return {"row", "col", *types()}


def spelling(form, ordered):
    """The same for two spellings of one form: only types and layouts stand in an order that counts."""
    opcode, *words = form.split(".")
    return opcode, tuple(sorted(word for word in words if word not in ordered)), tuple(word for word in words if word in ordered)


def forms_in(kind, path):
    text = path.read_text()
    if kind == "lists":
        return {re.split(r"[\t ]", line, maxsplit=1)[0] for line in text.splitlines() if line and not line.startswith("#")}
    return set(STATEMENT.findall(re.sub(r"//.*", "", text)))


def passed(tests, results):
    """Without results nothing is known, and the claim stands."""
    if not results:
        return True
    for test in tests.split():
        matching = [status for name, status in results.items() if name.startswith(test)]
        if "failed" in matching or "passed" not in matching:
            return False
    return True


def tested_forms(results, problems):
    ordered, found = ordered_words(), set()
    for kind, pattern, tests in EVIDENCE:
        paths = sorted(ROOT.glob(pattern))
        if not paths:
            problems.append(f"isa: {pattern}, which is to show what {tests} runs, is not there")
        elif not passed(tests, results):
            problems.append(f"isa: {tests} did not pass: the forms in {pattern} do not count")
        else:
            found.update(spelling(form, ordered) for path in paths for form in forms_in(kind, path))
    return found - {spelling(form, ordered) for form in forms_in("lists", ROOT / OPEN)}


@dataclass
class Gap:
    """A line of docs/ptx_gaps.tsv."""
    reason: str
    forms: int = 0  # of the census


def read_gaps(table, problems):
    """The lines of docs/ptx_gaps.tsv by the rows that they are about: those with the opcode whose words begin the pattern. Rows that
    are refused, or, where the reason begins so, untested ones."""
    gaps = {}
    lines = (ROOT / GAPS).read_text().splitlines()
    if lines[0] != "opcodes\tmodifiers begin with\treason":
        problems.append(f"{GAPS}: wrong header")
    for line in lines[1:]:
        opcodes, words, reason = (line.split("\t") + ["", ""])[:3]
        refused, gap = not reason.startswith(UNTESTED), Gap(reason)
        for opcode in opcodes.split():
            matching = [i for i, row in enumerate(table) if row.refused == refused and row.opcode == opcode and row.pattern.startswith(words)]
            if not matching or not reason:
                problems.append(f"{GAPS}: no row is refused as '{opcode} {words}', or no reason is given; remove the line when it lowers")
            for i in matching:
                gaps.setdefault(i, gap)
    problems += [f"{GAPS}: no reason why '{row.opcode} {row.pattern}' is refused" for i, row in enumerate(table) if row.refused and i not in gaps]
    return gaps


def census(results, problems):
    """Forms by status, as the .def tables of functions have them. Every form that is not done is a gap with a reason, or a problem."""
    table = rows()
    gaps, tested, ordered = read_gaps(table, problems), tested_forms(results, problems), ordered_words()
    forms = [line for line in (ROOT / "tests/ptx/census_forms.txt").read_text().splitlines() if line and not line.startswith("#")]
    done, untested = 0, []
    for form in forms:
        row = row_of(form, table)
        if row is None:
            problems.append(f"isa: no row takes {form}")
            continue
        gap = gaps.get(table.index(row))
        if not row.refused and spelling(form, ordered) in tested:
            done += 1
        elif gap is not None:
            gap.forms += 1
        elif not row.refused:  # read_gaps has said it of a refused one
            untested.append(form)
    if untested:
        problems.append(f"isa: {len(untested)} forms lower, but no test that passed runs them: {' '.join(untested[:20])}")
    stale = {gap.reason for gap in gaps.values() if gap.reason.startswith(UNTESTED) and not gap.forms}
    problems += [f"{GAPS}: a test runs all forms of '{reason}'; remove the line" for reason in stale]
    return {"Full": done, "Partial": 0, "Todo": len(forms) - done}


def code(text):
    return f"`{text}`".replace("|", "\\|") if text else ""


def chapter_note(chapter):
    lines = []
    for line in (SYNTAX / "isa" / f"{chapter}.def").read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].strip())
    return " ".join(lines)


def measured_errors(name):
    """A table of ptx-approximations by form and range: (bound, source, error, operands, apart)."""
    lines = (ROOT / "tests/ptx" / name).read_text().splitlines()
    return {tuple(line.split("\t")[:2]): line.split("\t")[2:] for line in lines}


def compared_sets():
    """How many outputs of each form the two devices are compared in: those of the golden file and the recorded ones."""
    def digits(name):
        lines = (ROOT / "tests/ptx" / name).read_text().splitlines()
        return {row[0]: len(row[1]) for row in (line.split("\t") for line in lines if line and not line.startswith("#"))}
    golden, width = digits("golden.tsv"), {"f16": 4, "bf16": 4, "f64": 16}
    (count,) = {(golden[form] + recorded) // width.get(form.split(".")[-1], 8) for form, recorded in digits("approximations.tsv").items()}
    return count


def broken_bounds(name):
    """How many documented bounds the errors of a table break."""
    def size(text):  # "2 ulp", "2^-22.9 relative"
        return float(re.match(r"(?:2\^)?([-\d.]+)", text)[1])
    return len({source for bound, source, error, *_ in measured_errors(name).values()
                if source.startswith("PTX ISA") and size(error) > size(bound)})


def error_lines():
    """The lines of the table of errors; forms with the same errors share one."""
    reference, forms = measured_errors("errors_h200.tsv"), {}
    for (form, place), (bound, source, error, operands, apart) in measured_errors("errors_cupola.tsv").items():
        _, _, theirs, at, _ = reference[form, place]
        bound += "*" if source.startswith("not documented") else ""
        forms.setdefault((place, bound, error, theirs, at, apart), []).append(form)
    for (place, bound, error, theirs, at, apart), names in forms.items():
        yield f"| {', '.join(f'`{name}`' for name in names)} | {place or 'any'} | {bound} | {error} | {theirs} at `{at}` | {apart} |"


def page():
    """docs/ptx.md."""
    table = rows()
    gaps = read_gaps(table, [])
    parts = [PAGE_HEAD + "| set | words |\n|---|---|\n" + "\n".join(f"| `@{name}` | {code(words)} |" for name, words in sets().items())]
    lowered = sum(not row.refused for row in table)
    parts.append(f"{lowered} of {len(table)} rows lower, of {len({row.opcode for row in table})} instructions.")
    for chapter in dict.fromkeys(row.chapter for row in table):
        lines = [f"## {chapter.capitalize()}\n\n{chapter_note(chapter)}\n", "| instruction | modifiers and types | operands | since | status |", "|---|---|---|---|---|"]
        for i, row in enumerate(table):
            if row.chapter != chapter:
                continue
            since = f"{row.version // 10}.{row.version % 10}" + (f", sm_{row.target}" if row.target else "")
            status = "refused: " if row.refused else "lowered, " if i in gaps else "lowered"
            status += gaps[i].reason if i in gaps else ""
            lines.append(f"| `{row.opcode}` | {code(row.pattern)} | {code(row.operands)} | {since} | {status} |")
        parts.append("\n".join(lines))
    head = ERRORS_HEAD.format(sets=compared_sets(), broken=broken_bounds("errors_h200.tsv"))
    parts.append(head + "\n".join(error_lines()))
    return "\n\n".join(parts) + "\n"
