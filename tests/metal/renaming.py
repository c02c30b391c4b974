"""That nothing but its name follows a kernel's name: every kernel of tests/kernels and examples is renamed and translated again.

    renaming.py CUPOLA [PROGRAM.cu ...]

As MSL under names that well-known kernels have: the text must be the same up to the entries' names. As AIR under names as long as the
old ones: every byte of every module must be the same up to them, but for the hash that the first module's note has of itself. What is
refused must be refused for the same reason.
"""

import concurrent.futures
import hashlib
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WELL_KNOWN = ("matrixMul", "vectorAdd", "saxpy", "reduce0", "bodyBodyInteraction", "axpy", "memset", "float4", "main0", "softmax_kernel")
FLAGS = {"dynamic_parallelism": ["-rdc=true"], "dynamic_parallelism_errors": ["-rdc=true"]}
NOTE_HASH_BYTES = 16


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace", timeout=250, check=False)


def kernels_of(text):
    return re.findall(r"^define [^@\n]*\bptx_kernel\b[^@\n]*@([\w$.]+)\(", text, re.MULTILINE)


def renamed(text, names):
    """Symbols, and the comdats of their names."""
    return re.sub(r"([@$])([\w$.]+)", lambda found: found[1] + names.get(found[2], found[2]), text)


def same_length(names):
    """New names as long as the old ones."""
    taken, made = set(names), {}
    for name in names:
        for attempt in range(1000):
            digest = hashlib.sha256(f"{name}{attempt}".encode()).hexdigest()
            new = ("k" + digest * (len(name) // 64 + 1))[: len(name)]
            if new not in taken:
                break
        taken.add(new)
        made[name] = new
    return made


def well_known(names):
    return {name: WELL_KNOWN[i % len(WELL_KNOWN)] + ("" if i < len(WELL_KNOWN) else f"_{i}") for i, name in enumerate(names)}


def modules_of(container):
    at = 0
    while (at := container.find(b"\xde\xc0\x17\x0b", at)) >= 0:
        _, start, size = struct.unpack("<3I", container[at + 4:at + 16])
        yield container[at + start:at + start + size]
        at += start + size


def reason(output):
    return re.sub(r"'[^']*'", "''", (output.stderr.strip().splitlines() or [""])[-1])


class Program:
    def __init__(self, cupola, source, folder):
        self.cupola, self.source, self.folder = cupola, source, folder
        self.problems = []
        self.kernels = 0

    def problem(self, what):
        self.problems.append(f"{self.source.name}: {what}")

    def check(self):
        fatbin = self.folder / "k.fatbin"
        made = run(self.cupola.parent / "cupolac", *FLAGS.get(self.source.stem, []), "-fatbin", self.source, "-o", fatbin)
        text = run(self.cupola, "ptx", "--kir", fatbin).stdout if made.returncode == 0 else ""
        names = kernels_of(text)
        if not names:
            self.problem(f"no kernels: {made.stderr}")
            return self
        self.kernels = len(names)
        (self.folder / "old.ll").write_text(text)
        self.check_msl(text, well_known(names))
        self.check_air(text, same_length(names))
        return self

    def both(self, text, names, command, ending):
        """What the old and the new names give; None where both are refused."""
        (self.folder / "new.ll").write_text(renamed(text, names))
        done = [run(self.cupola, *command, self.folder / f"{which}.ll", "-o", self.folder / f"{which}.{ending}") for which in ("old", "new")]
        if done[0].returncode != 0:
            if done[1].returncode == 0 or reason(done[0]) != reason(done[1]):
                self.problem(f"{ending}: refused with '{reason(done[0])}', renamed with '{reason(done[1])}'")
            return None
        if done[1].returncode != 0:
            self.problem(f"{ending}: renamed it is refused: {done[1].stderr}")
            return None
        return [(self.folder / f"{which}.{ending}").read_bytes() for which in ("old", "new")]

    def check_msl(self, text, names):
        texts = self.both(text, names, ["msl"], "metal")
        if not texts:
            return
        entries = {f"kernel_{old}": f"kernel_{new}" for old, new in names.items()}
        old, new = (each.decode() for each in texts)
        expected = re.sub(r"\bkernel_\w+", lambda found: entries.get(found[0], found[0]), old)
        if expected == old or len(re.findall(r"^kernel void ", old, re.MULTILINE)) != len(names):
            self.problem("msl: the kernels' names are not in the text")
        for number, (want, got) in enumerate(zip(expected.splitlines(), new.splitlines()), 1):
            if want != got:
                return self.problem(f"msl: line {number}: '{want}' became '{got}'")
        if expected != new:
            self.problem("msl: a text is longer than the other")

    def check_air(self, text, names):
        containers = self.both(text, names, ["air", "emit", "--overwrite"], "metallib")
        if not containers:
            return
        old, new = (list(modules_of(container)) for container in containers)
        if len(old) != len(names) or len(new) != len(names):
            self.problem(f"air: {len(old)} and {len(new)} modules of {len(names)} kernels")
        pattern = re.compile(b"|".join(re.escape(name.encode()) for name in sorted(names, key=len, reverse=True)))
        for number, (was, got) in enumerate(zip(old, new)):
            expected = pattern.sub(lambda found: names[found[0].decode()].encode(), was)
            different = [at for at in range(min(len(expected), len(got))) if expected[at] != got[at]]
            note = got.find(b"cupimage")
            if (note >= 0) != (number == 0):
                self.problem(f"air: module {number}: the note is in the wrong module")
            if number == 0 and different and note < different[0] and different[-1] - different[0] < NOTE_HASH_BYTES:
                different = []
            if different or len(expected) != len(got):
                self.problem(f"air: module {number} is another one from byte {different[:1]} on, of {len(was)}")


def main():
    cupola = pathlib.Path(sys.argv[1]).resolve()
    sources = [pathlib.Path(word).resolve() for word in sys.argv[2:]]
    if not sources:
        sources = sorted((ROOT / "tests" / "kernels").glob("*.cu")) + sorted((ROOT / "examples").glob("*.cu"))
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
        programs = []
        for number, source in enumerate(sources):
            folder = pathlib.Path(name) / str(number)
            folder.mkdir()
            programs.append(Program(cupola, source, folder))
        done = list(pool.map(Program.check, programs))
    problems = [problem for program in done for problem in program.problems]
    for problem in problems:
        print(problem)
    print(f"{len(done)} programs, {sum(program.kernels for program in done)} kernels renamed, {len(problems)} problems")
    return 1 if problems or not done else 0


if __name__ == "__main__":
    sys.exit(main())
