"""What a client's suite gave: one outcome a test, and the scores against a reference list."""

import collections
import json
import re


def short_id(node):
    """A test's id without the folder that its package is installed in."""
    return re.sub(r"^.*?\bnumba/cuda/tests/", "", node)


def replace_reports(path, later):
    """Puts the reports of a later run in the place of those of the same tests (and of files that could not be read)."""
    new = [json.loads(line) for line in later.read_text().splitlines()]
    again = {short_id(row["id"]) for row in new} | {short_id(row["id"]).split("::")[0] for row in new}
    old = [row for row in map(json.loads, path.read_text().splitlines()) if short_id(row["id"]) not in again]
    path.write_text("".join(json.dumps(row) + "\n" for row in old + new))
    return path


class Results:
    """One of passed, failed, skipped, xfailed a test id; a test passes only if all its subtests and its teardown do."""

    def __init__(self):
        self.outcomes = {}
        self.reasons = {}
        self.seconds = collections.Counter()

    @staticmethod
    def read(path):
        results = Results()
        for line in path.read_text().splitlines():
            results.add(json.loads(line))
        return results

    def add(self, row):
        name = short_id(row["id"])
        self.seconds[name] += row["seconds"]
        if row["outcome"] == "failed" and not row["expected"]:
            self.outcomes[name] = "failed"
            self.reasons.setdefault(name, (row["first"], row["reason"]))
        elif row["outcome"] == "skipped" and not row["subtest"]:
            if self.outcomes.get(name) != "failed":
                self.outcomes[name] = "xfailed" if row["expected"] else "skipped"
                self.reasons[name] = ("", row["reason"])
        elif row["outcome"] == "passed" and row["when"] == "call" and not row["subtest"]:
            self.outcomes.setdefault(name, "passed")

    def count(self, outcome):
        return sum(1 for value in self.outcomes.values() if value == outcome)

    def passed_of(self, names):
        return sum(1 for name in names if self.outcomes.get(name) == "passed")

    def write_failures(self, path, reference):
        """Every test that failed, or that did not pass although the reference list has it, with its last line."""
        names = {n for n, outcome in self.outcomes.items() if outcome == "failed"} | {n for n in reference if self.outcomes.get(n) != "passed"}
        with path.open("w") as file:
            for name in sorted(names):
                first, last = self.reasons.get(name, ("", ""))
                text = first if first == last or not last else f"{first} | {last}" if first else last
                print(f"{self.outcomes.get(name, 'not run')}\t{'listed' if name in reference else 'unlisted'}\t{name}\t{text[:500]}", file=file)


def share(part, whole):
    return f"{100 * part / whole:.1f}%" if whole else "-"


def summary(name, results, reference, label):
    """The summary line; skipped holds what was expected to fail."""
    passed, failed, skipped = results.count("passed"), results.count("failed"), results.count("skipped") + results.count("xfailed")
    good = results.passed_of(reference)
    return (f"{name}: {passed} passed, {failed} failed, {skipped} skipped of {passed + failed + skipped}; "
            f"reference list {label}: {share(good, len(reference))}")
