"""Takes kernels from PTX to kir and back to PTX, and runs all forms: each must give what the file's comments say.

usage: round_trip.py CUPOLA FILE.ptx... The first lines of a file are

    // RUN: KERNEL --grid 2 --block 4 --args inout:u32:1,2,3
    // EXPECT: argument 0: 1 4 9

with the oracle of the values in the comment behind them. The forms: the text itself; the parser's print of it; kir; PTX
made from that kir (which must parse and verify); kir from that PTX; PTX made from that once more.
"""

import pathlib
import subprocess
import sys


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def forms(cupola, text):
    def through(source, *flags):
        return run([cupola, "ptx", "-", *flags], source)

    kir = through(text, "--kir")
    again = through(kir, "--ptx", "--sm", "89")
    through(again)
    kir_again = through(again, "--kir")
    return {
        "text": text,
        "printed": through(text),
        "kir": kir,
        "ptx from kir": again,
        "kir from that": kir_again,
        "ptx from that": through(kir_again, "--ptx", "--sm", "89"),
    }


def headed(text, word):
    return [line.split(word, 1)[1].strip() for line in text.splitlines() if line.startswith(f"// {word}")]


def check(cupola, path):
    text = path.read_text()
    commands, expected = headed(text, "RUN:"), headed(text, "EXPECT:")
    if not commands or not expected:
        return [f"{path.name}: no RUN or no EXPECT line"]
    failures = []
    for name, form in forms(cupola, text).items():
        got = []
        for command in commands:
            got += run([cupola, "ptx", "-", "--run", *command.split()], form).splitlines()
        if got != expected:
            failures.append(f"{path.name}: {name}: expected {expected}, got {got}")
    return failures


def main():
    cupola, files = sys.argv[1], [pathlib.Path(word) for word in sys.argv[2:]]
    failures = []
    for path in files:
        try:
            failures += check(cupola, path)
        except RuntimeError as error:
            failures.append(f"{path.name}: {error}")
    print("\n".join(failures) or f"{len(files)} kernels keep their results in 6 forms each")
    return 1 if failures or not files else 0


if __name__ == "__main__":
    sys.exit(main())
