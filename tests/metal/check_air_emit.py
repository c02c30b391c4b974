"""What `cupola air emit` makes of CUDA programs, judged by LLVM 14, by `cupola air validate` and by check_metallib.py.

    check_air_emit.py CUPOLA

Every program of tests/kernels and examples is emitted, or refused with the words of REFUSED; a row there that no longer holds is a
problem too. The kernels of `air/run` run on the CPU: LLVM 14 links what was emitted with a main function and with what the
functions of AIR mean, and the exit status says whether the results are right. Exit status 77 where a tool is missing.
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOOLS = ("opt-14", "llvm-dis-14", "llvm-link-14", "lli-14")
REFUSED = {  # what the last line of the error holds
    "control_flow.cu": "calls itself, which Metal does not allow",
    "cooperative_groups.cu": "is not supported yet",
    "dynamic_parallelism.cu": "could not compile",  # wants -rdc=true
    "dynamic_parallelism_errors.cu": "could not compile",
    "errors.cu": "calls itself, which Metal does not allow",
    "math.cu": "'llvm.is.fpclass.f32' is not supported yet",
    "matrices.cu": "'cupola.warp_publish' is not supported yet",
}
problems = []


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=250, **options)


def expect(condition, what):
    if not condition:
        problems.append(what)
    return condition


def modules_of(container):
    """The modules, without Apple's wrapper."""
    data, at = container.read_bytes(), 0
    while (at := data.find(b"\xde\xc0\x17\x0b", at)) >= 0:
        _, start, size = struct.unpack("<3I", data[at + 4:at + 16])
        yield data[at + start:at + start + size]
        at += start + size


def check_container(cupola, source, container, bitcode):
    checks = [[sys.executable, HERE / "check_metallib.py", container],
              [cupola, "air", "validate", "--require-function-list", "--require-metadata", container]]
    for check in checks:
        checked = run(*check)
        expect(checked.returncode == 0, f"{source.name}: {checked.stdout}{checked.stderr}")
    count = 0
    for module in modules_of(container):
        bitcode.write_bytes(module)
        verified = run("opt-14", "-mtriple=arm64-apple-macosx13.0.0", "-passes=verify", "-disable-output", bitcode)
        expect(verified.returncode == 0, f"{source.name}: LLVM 14 refuses it: {verified.stderr}")
        count += 1
    return count


def check_program(cupola, source, folder):
    """How many kernels were emitted."""
    container = folder / "a.metallib"
    made = run(cupola, "air", "emit", source, "-o", container, "--overwrite")
    wanted = REFUSED.get(source.name)
    if wanted:
        last = (made.stderr.strip().splitlines() or [""])[-1]
        expect(made.returncode == 1 and wanted in last, f"{source.name}: wanted '{wanted}', got {made.returncode} '{last}'")
        return 0
    if not expect(made.returncode == 0, f"{source.name}: not emitted: {made.stderr}"):
        return 0
    return check_container(cupola, source, container, folder / "a.bc")


def check_run(cupola, source, folder):
    """One kernel, run by LLVM 14 with the main function beside it."""
    container, text, whole = folder / "r.metallib", folder / "r.ll", folder / "whole.ll"
    made = run(cupola, "air", "emit", "--input", source, "--output", container)
    if not expect(made.returncode == 0, f"{source.name}: not emitted: {made.stderr}"):
        return
    (module,) = modules_of(container)
    container.unlink()
    (folder / "r.bc").write_bytes(module)
    # For this machine.
    emitted = run("llvm-dis-14", folder / "r.bc", "-o", "-").stdout
    text.write_text(re.sub(r"^target .*$|^!llvm.module.flags.*$", "", emitted, flags=re.M))
    linked = run("llvm-link-14", "-S", source.with_suffix(".main.ll"), HERE / "air/run/functions.ll", text, "-o", whole)
    if expect(linked.returncode == 0, f"{source.name}: {linked.stderr}"):
        ran = run("lli-14", whole)
        expect(ran.returncode == 0, f"{source.name}: exit status {ran.returncode}: {ran.stderr}")


def check_options(cupola, folder):
    source = ROOT / "examples" / "vector_add.cu"
    here = {"cwd": folder}
    first = run(cupola, "air", "emit", source, **here)
    expect(first.returncode == 0 and first.stdout == "vector_add.metallib\n", f"default name: {first.stdout}{first.stderr}")
    again = run(cupola, "air", "emit", source, **here)
    expect(again.returncode == 1 and "--overwrite" in again.stderr, f"overwrites: {again.returncode} {again.stderr}")
    over = run(cupola, "air", "emit", source, "--overwrite", "--mode", "experimental", **here)
    expect(over.returncode == 0, f"--overwrite: {over.stderr}")
    whole = (folder / "vector_add.metallib").read_bytes()
    no_xcode = dict(os.environ, PATH=str(folder))
    refused = run(cupola, "air", "emit", source, "--overwrite", "--mode", "xcrun", env=no_xcode, **here)
    expect(refused.returncode == 1 and "needs a Mac with Xcode" in refused.stderr, f"xcrun: {refused.stderr}")
    expect((folder / "vector_add.metallib").read_bytes() == whole, "a refused emit changed the output")
    metal = folder / "source.metal"
    metal.write_text("kernel void k() {}\n")
    refused = run(cupola, "air", "emit", metal, **here)
    expect(refused.returncode == 1 and "--mode xcrun" in refused.stderr, f".metal: {refused.stderr}")
    for form, ending in (("--ptx", "ptx"), ("--kir", "ll")):  # the same kernel from other forms of it
        fatbin = folder / "k.fatbin"
        if not expect(run(cupola.parent / "cupolac", "-fatbin", source, "-o", fatbin).returncode == 0, "no fat binary"):
            return
        printed = run(cupola, "ptx", form, fatbin)
        (folder / f"k.{ending}").write_text(printed.stdout)
        made = run(cupola, "air", "emit", f"k.{ending}", **here)
        if expect(made.returncode == 0, f".{ending}: {made.stderr}"):
            check_container(cupola, folder / f"k.{ending}", folder / "k.metallib", folder / "k.bc")
            (folder / "k.metallib").unlink()


def main():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"skipped: {', '.join(missing)} of LLVM 14 are not there")
        return 77
    cupola = pathlib.Path(sys.argv[1]).resolve()
    programs = sorted((ROOT / "tests" / "kernels").glob("*.cu")) + sorted((ROOT / "examples").glob("*.cu"))
    runs = sorted((HERE / "air" / "run").glob("*.cu"))
    expect(programs and runs, "there is nothing to check")
    stale = set(REFUSED) - {source.name for source in programs}
    expect(not stale, f"no such programs: {stale}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        kernels = sum(check_program(cupola, source, folder) for source in programs)
        for source in runs:
            check_run(cupola, source, folder)
        check_options(cupola, folder)
    for problem in problems:
        print(problem)
    print(f"{len(programs)} programs, {len(REFUSED)} of them refused, {kernels} kernels, {len(runs)} run, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
