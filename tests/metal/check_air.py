"""What becomes of LLVM 22's modules as AIR, judged by LLVM 14, which reads typed pointers only.

    check_air.py [--corpus] WRITE_AIR [CUPOLA]

air/kernels: LLVM 14 verifies the result and prints each `; WANT:` line of the source; in a container it passes `cupola air validate`
and check_metallib.py. air/programs: LLVM 14 runs the result and LLVM 22 the source; both exit with the status that `; EXIT:` says.
air/refused: the error begins with the words of `; REFUSED:`. Exit status 77 where a tool is missing.

--corpus takes modules from the Apple-built .metallib files below the folder that CUPOLA_METALLIB_CORPUS names, at most 40 from
each file, evenly. LLVM 14 prints a module, kir::with_opaque_pointers makes its pointers opaque, LLVM 22 reads it, write-air
writes it. LLVM 14 must verify the result, and llvm-diff find nothing between what it prints, opaque again, and the text that went
in, but for calls that AIR is written without; AIR's functions must have the types that they had.
"""

import argparse
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = ("opt-14", "llvm-dis-14", "lli-14", "lli-22", "opt-22", "llvm-diff-22")
KNOWN_TRIPLE = "-mtriple=arm64-apple-macosx13.0.0"  # LLVM complains of the modules' own
LEFT_OUT = re.compile(r"@llvm\.(lifetime|assume|experimental\.noalias)")
MODULES_OF_A_FILE = 40
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
    verified = run("opt-14", KNOWN_TRIPLE, "-passes=verify", "-disable-output", files[0])
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


def modules_of(file):
    """Some of a container's modules, evenly, out of their wrappers."""
    data = file.read_bytes()
    start, size = struct.unpack_from("<2Q", data, 72)
    modules, at = [], start
    while at < start + size:
        _, _, offset, length, _ = struct.unpack_from("<5I", data, at)
        modules.append(data[at + offset:at + offset + length])
        at += (offset + length + 15) // 16 * 16
    return modules[::max(1, len(modules) // MODULES_OF_A_FILE)]


def declarations(text):
    """AIR's functions with their types, without attributes."""
    return sorted(re.sub(r" local_unnamed_addr| #\d+| (?:nocapture|readonly|readnone|writeonly|immarg|noundef)\b", "", line)
                  for line in re.findall(r"^declare .*@air\..*$", text, re.M))


def without_names(text):
    """The text with structures spelled out where they are named: llvm-diff holds those of two modules for different types."""
    bodies = dict(re.findall(r"^(%\S+) = type (\{.*\}|<\{.*\}>)$", text, re.M))
    before = None
    while before != text:
        before, text = text, re.sub(r'%"[^"]*"|%[-\w.$]+', lambda name: bodies.get(name[0], name[0]), text)
        text = re.sub(r"^(?:\{.*\}|<\{.*\}>) = type .*\n", "", text, flags=re.M)
    return text


def comparable(write_air, text, folder, name):
    """The file of the text with opaque pointers, without names of structures, bitcasts that do nothing and what is left out."""
    (folder / "typed.ll").write_text(text)
    run(write_air, "--opaque", folder / "typed.ll", folder / "opaque.ll")
    lines = without_names((folder / "opaque.ll").read_text()).splitlines()
    (folder / "opaque.ll").write_text("\n".join(line for line in lines if not LEFT_OUT.search(line)) + "\n")
    simplified = run("opt-22", KNOWN_TRIPLE, "-S", "-passes=instsimplify", folder / "opaque.ll", "-o", folder / name)
    expect(simplified.returncode == 0, f"LLVM 22 refuses {name}: {simplified.stderr}")
    return folder / name


def check_module(write_air, module, name, folder):
    (folder / "apple.bc").write_bytes(module)
    (folder / name).write_text(apple := run("llvm-dis-14", folder / "apple.bc", "-o", "-").stdout)
    if not written(write_air, folder / name, folder / "ours.bc"):
        return
    ours = run("llvm-dis-14", folder / "ours.bc", "-o", "-").stdout
    expect(declarations(ours) == declarations(apple), f"{name}: other types: {declarations(ours)} {declarations(apple)}")
    difference = run("llvm-diff-22", *(comparable(write_air, text, folder, side) for text, side in ((apple, "a.ll"), (ours, "b.ll"))))
    expect(difference.returncode == 0, f"{name}: {difference.stdout}{difference.stderr}")


def check_corpus(write_air, folder):
    corpus = pathlib.Path(os.environ["CUPOLA_METALLIB_CORPUS"])
    files, modules = sorted(corpus.rglob("*.metallib")), 0
    expect(files, f"no .metallib file below '{corpus}'")
    for file in files:
        for number, module in enumerate(modules_of(file)):
            check_module(write_air, module, f"{file.stem}.{number}.ll", folder)
            modules += 1
    print(f"{len(files)} files, {modules} modules")


def check_ours(write_air, cupola, folder):
    kernels, programs, refused = (sorted((HERE / "air" / part).glob("*.ll")) for part in ("kernels", "programs", "refused"))
    expect(kernels and programs and refused, "there is nothing to check")
    for source in kernels:
        check_kernel(write_air, cupola, source, folder)
    for source in programs:
        check_program(write_air, source, folder)
    for source in refused:
        check_refusal(write_air, source, folder)
    print(f"{len(kernels)} kernels, {len(programs)} programs, {len(refused)} refusals")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", action="store_true")
    parser.add_argument("write_air")
    parser.add_argument("cupola", nargs="?")
    options = parser.parse_args()
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if options.corpus and not os.environ.get("CUPOLA_METALLIB_CORPUS"):
        missing = ["CUPOLA_METALLIB_CORPUS, a folder of Apple-built files,"]
    if missing:
        print(f"skipped: {', '.join(missing)} is not there")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        if options.corpus:
            check_corpus(options.write_air, pathlib.Path(folder))
        else:
            check_ours(options.write_air, options.cupola, pathlib.Path(folder))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
