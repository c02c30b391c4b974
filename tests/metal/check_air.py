"""What becomes of LLVM 22's modules as AIR, judged by LLVM 14, which reads typed pointers only.

    check_air.py WRITE_AIR [CUPOLA]

air/kernels: LLVM 14 verifies the result and prints each `; WANT:` line of the source; in a container it passes `cupola air validate`
and check_metallib.py. air/programs: LLVM 14 runs the result and LLVM 22 the source; both exit with the status that `; EXIT:` says.
air/refused: the error begins with the words of `; REFUSED:`. Exit status 77 where a tool is missing.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = ("opt-14", "llvm-dis-14", "lli-14", "lli-22")
problems = []


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=100)


def expect(condition, what):
    if not condition:
        problems.append(what)


def words_of(source, keyword):
    return re.findall(rf"^; {keyword}: (.*)$", source.read_text(), re.M)


def written(write_air, source, *files):
    """Whether the module is written and verifies."""
    made = run(write_air, source, *files)
    expect(made.returncode == 0, f"{source.name}: not written: {made.stderr}")
    if made.returncode:
        return False
    # A triple that LLVM 14 knows, or it complains of the module's.
    verified = run("opt-14", "-mtriple=arm64-apple-macosx13.0.0", "-passes=verify", "-disable-output", files[0])
    expect(verified.returncode == 0, f"{source.name}: LLVM 14 refuses it: {verified.stderr}")
    return verified.returncode == 0


def check_kernel(write_air, cupola, source, folder):
    bitcode, container = folder / "a.bc", folder / "a.metallib"
    if not written(write_air, source, bitcode, container):
        return
    text = run("llvm-dis-14", bitcode, "-o", "-").stdout
    wanted = words_of(source, "WANT")
    expect(wanted, f"{source.name}: wants nothing")
    for line in wanted:
        expect(line in text, f"{source.name}: LLVM 14 does not print '{line}'")
    checks = [[sys.executable, HERE / "check_metallib.py", container]]
    if cupola:
        checks.append([cupola, "air", "validate", "--require-function-list", "--require-metadata", container])
    for check in checks:
        checked = run(*check)
        expect(checked.returncode == 0, f"{source.name}: {checked.stdout}{checked.stderr}")


def check_program(write_air, source, folder):
    bitcode, (status,) = folder / "a.bc", words_of(source, "EXIT")
    if not written(write_air, source, bitcode):
        return
    for command in (["lli-22", source], ["lli-14", bitcode]):
        ran = run(*command)
        expect(ran.returncode == int(status), f"{source.name}: {command[0]} exits with {ran.returncode}, not {status}: {ran.stderr}")


def check_refusal(write_air, source, folder):
    (words,) = words_of(source, "REFUSED")
    refused = run(write_air, source, folder / "a.bc")
    expect(refused.returncode == 1 and refused.stderr.startswith(words), f"{source.name}: {refused.returncode} {refused.stderr}")


def main():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"skipped: {', '.join(missing)} of LLVM 14 and 22 are not there")
        return 77
    write_air, cupola = sys.argv[1], (sys.argv[2:] or [None])[0]
    kernels, programs, refused = (sorted((HERE / "air" / part).glob("*.ll")) for part in ("kernels", "programs", "refused"))
    expect(kernels and programs and refused, "there is nothing to check")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for source in kernels:
            check_kernel(write_air, cupola, source, folder)
        for source in programs:
            check_program(write_air, source, folder)
        for source in refused:
            check_refusal(write_air, source, folder)
    for problem in problems:
        print(problem)
    print(f"{len(kernels)} kernels, {len(programs)} programs, {len(refused)} refusals, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
