"""build/test-results/results.tsv: what ./test found, which ./features holds claims against. A row is a test's name and its status; the first
is `commit`, and instead of a status the state of the checkout that was tested (checkout()).
"""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "test-results"
TABLE = FOLDER / "results.tsv"
DIRTY = "-dirty"


def checkout(root=ROOT):
    """The hash of HEAD, with -dirty behind it where files are not as committed, new ones among them; empty where there is no checkout."""
    def git(*words):
        return subprocess.run(["git", "--no-optional-locks", *words], cwd=root, capture_output=True, text=True).stdout.strip()
    head = git("rev-parse", "--verify", "-q", "HEAD")
    return head + DIRTY if head and git("status", "--porcelain") else head


def write(rows, tested, path=TABLE):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{name}\t{status}\n" for name, status in [("commit", tested), *rows]))


def read(path=TABLE):
    """The statuses by test, none where there is no table; and what was tested, empty where that is not known."""
    rows = dict(line.split("\t") for line in path.read_text().splitlines()) if path.exists() else {}
    return rows, rows.pop("commit", "")


def age(tested, now):
    """A line on what results of the state `tested` say of the state `now`."""
    if not tested:
        return "results: of an unknown commit; run ./test"
    commit, head = tested.removesuffix(DIRTY), now.removesuffix(DIRTY)
    text = f"results: of commit {commit[:9]}{' with changes that were not committed' if tested != commit else ''}"
    if commit != head:
        return f"{text}; HEAD is {head[:9]}: what changed since is not tested; run ./test"
    if tested != commit:
        return f"{text}, which need not be those that are here now"
    return f"{text}, which is HEAD{'' if now == head else '; what is not committed is not tested; run ./test'}"
