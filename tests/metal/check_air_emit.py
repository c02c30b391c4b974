"""What `cupola air emit` makes of CUDA programs, judged by LLVM 14, by `cupola air validate` and by check_metallib.py.

    check_air_emit.py CUPOLA

Every program of tests/kernels and examples is emitted, or refused with the words of REFUSED; a row there that no longer holds is a
problem too. The kernels of `air/run` run on the CPU: LLVM 14 links what was emitted with a main function and with what the
functions of AIR mean, and the exit status says whether the results are right. Those of `air/compared`, k(const unsigned* in, unsigned*
out) of one block, give what the cpu device gives. Exit status 77 where a tool is missing.
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
    "dynamic_parallelism.cu": "could not compile",  # wants -rdc=true
    "dynamic_parallelism_errors.cu": "could not compile",
    "errors.cu": "calls itself, which Metal does not allow",
    "heap.cu": "can neither allocate memory",
}
# LLVM's atomics, doubles, functions that are not AIR's, and pointers that AIR's functions do not take.
FORBIDDEN = re.compile(r"^ +(%\d+ = )?(fence|atomicrmw|cmpxchg|load atomic|store atomic|freeze|[su]itofp|fpto[su]i) |^ .*[ (]double[ ,)*]|"
                       r"^declare (?!.*@air\.)|^declare .*i8\*?( addrspace\(\d\))?\*|^ *unreachable")
THREADS = 64  # of air/compared
MAIN = """; Its threads one after the other; then its words.
@in = global [64 x i32] [NUMBERS], align 8
@out = global [2048 x i32] zeroinitializer, align 8
@launch = global [20 x i32] zeroinitializer, align 8
@block = global [2 x i64] [i64 ptrtoint ([64 x i32]* @in to i64), i64 ptrtoint ([2048 x i32]* @out to i64)], align 8
@format = constant [4 x i8] c"%u\\0A\\00"
declare i32 @printf(i8*, ...)
declare void @kernel_k(i8 addrspace(2)*, i8 addrspace(2)*, i8 addrspace(3)*, i8 addrspace(3)*, <3 x i32>, <3 x i32>, <3 x i32>, <3 x i32>, i32, i32, i32)
define i32 @main() {
entry:
  %b = addrspacecast [2 x i64]* @block to i8 addrspace(2)*
  %l = addrspacecast [20 x i32]* @launch to i8 addrspace(2)*
  br label %launch
launch:
  %n = phi i32 [ 0, %entry ], [ %n1, %launch ]
  %lane = and i32 %n, 31
  %warp = lshr i32 %n, 5
  %tid = insertelement <3 x i32> zeroinitializer, i32 %n, i32 0
  call void @kernel_k(i8 addrspace(2)* %b, i8 addrspace(2)* %l, i8 addrspace(3)* null, i8 addrspace(3)* null, <3 x i32> %tid, <3 x i32> <i32 64, i32 1, i32 1>, <3 x i32> zeroinitializer, <3 x i32> <i32 1, i32 1, i32 1>, i32 %lane, i32 %warp, i32 2)
  %n1 = add i32 %n, 1
  %done = icmp eq i32 %n1, 64
  br i1 %done, label %show, label %launch
show:
  %i = phi i64 [ 0, %launch ], [ %i1, %show ]
  %p = getelementptr [2048 x i32], [2048 x i32]* @out, i64 0, i64 %i
  %v = load i32, i32* %p
  %c = call i32 (i8*, ...) @printf(i8* getelementptr ([4 x i8], [4 x i8]* @format, i64 0, i64 0), i32 %v)
  %i1 = add i64 %i, 1
  %all = icmp eq i64 %i1, 2048
  br i1 %all, label %good, label %show
good:
  ret i32 0
}
"""
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
        text = run("llvm-dis-14", bitcode, "-o", "-").stdout
        expect(text.count("define void @kernel_") == 1, f"{source.name}: not one kernel in a module")
        for line in text.splitlines():
            expect(not FORBIDDEN.search(line), f"{source.name}: {line}")
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


def run_kernel(cupola, source, main_function, folder):
    """One kernel, run by LLVM 14 with a main function; None if it does not get so far."""
    container, text, whole = folder / "r.metallib", folder / "r.ll", folder / "whole.ll"
    made = run(cupola, "air", "emit", "--input", source, "--output", container)
    if not expect(made.returncode == 0, f"{source.name}: not emitted: {made.stderr}"):
        return None
    (module,) = modules_of(container)
    container.unlink()
    (folder / "r.bc").write_bytes(module)
    # For this machine.
    emitted = run("llvm-dis-14", folder / "r.bc", "-o", "-").stdout
    text.write_text(re.sub(r"^target .*$|^!llvm.module.flags.*$", "", emitted, flags=re.M))
    linked = run("llvm-link-14", "-S", main_function, HERE / "air/run/functions.ll", text, "-o", whole)
    if expect(linked.returncode == 0, f"{source.name}: {linked.stderr}"):
        return run("lli-14", whole)
    return None


def check_run(cupola, source, folder):
    ran = run_kernel(cupola, source, source.with_suffix(".main.ll"), folder)
    expect(ran and ran.returncode == 0, f"{source.name}: {ran and (ran.returncode, ran.stderr)}")


def check_compared(cupola, source, folder):
    fatbin, main_function, numbers = folder / "c.fatbin", folder / "c.ll", [0, 1, 2**31, 2**32 - 1, 0x7F800000, 0x7FC00000, 0x7F800001, 0x80000001, 0xFF800000]
    while len(numbers) < THREADS:
        numbers.append((numbers[-1] * 1664525 + 1013904223) % 2**32)
    main_function.write_text(MAIN.replace("NUMBERS", ", ".join(f"i32 {number}" for number in numbers)))
    ran = run_kernel(cupola, source, main_function, folder)
    made = run(cupola.parent / "cupolac", "-fatbin", source, "-o", fatbin)
    expect(made.returncode == 0, f"{source.name}: {made.stderr}")
    on_cpu = run(cupola, "ptx", fatbin, "--run", "k", "--block", THREADS, "--args", "in:u32:" + ",".join(map(str, numbers)),
                 f"out:u32:{THREADS * 32}")
    wanted, got = on_cpu.stdout.partition(":")[2].split(), ran.stdout.split() if ran else []
    expect(len(wanted) == THREADS * 32 and len(set(wanted)) > THREADS, f"{source.name}: the cpu device: {on_cpu.stdout[:200]}{on_cpu.stderr}")
    if expect(len(got) == len(wanted), f"{source.name}: {len(got)} words: {ran and ran.stderr}"):
        different = [i for i in range(len(got)) if got[i] != wanted[i]]
        for i in different[:20]:
            expect(False, f"{source.name}: thread {i // 32} (in {numbers[i // 32]}), word {i % 32}: {got[i]}, on the cpu device {wanted[i]}")


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
    # A stand-in for Apple's compiler, which keeps its words and gives the source back.
    xcode = folder / "xcode"
    xcode.mkdir()
    (xcode / "xcrun").write_text(f'#!/bin/sh\necho "$1 $2 $3 $4" > {folder}/words\n[ "$FAILS" ] && echo "no: $5" && exit 3\ncp "$5" "$7"\n')
    (xcode / "xcrun").chmod(0o755)
    with_xcode = dict(os.environ, PATH=f"{xcode}:{os.environ['PATH']}")
    for given, wanted in ((source, "kernel void kernel_"), (metal, "kernel void k()")):
        made = run(cupola, "air", "emit", given, "-o", "x.metallib", "--overwrite", "--mode", "xcrun", env=with_xcode, **here)
        expect(made.returncode == 0 and wanted in (folder / "x.metallib").read_text(), f"xcrun, {given.name}: {made.stderr}")
    words = (folder / "words").read_text()
    expect(words == "-sdk macosx metal -fno-fast-math\n", f"xcrun was called with: {words}")
    failed = run(cupola, "air", "emit", metal, "--mode", "xcrun", env=with_xcode | {"FAILS": "1"}, **here)
    expect(failed.returncode == 1 and "exit status 3: no: " in failed.stderr, f"xcrun that fails: {failed.stderr}")
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
    runs, compared = (sorted((HERE / "air" / part).glob("*.cu")) for part in ("run", "compared"))
    expect(programs and runs and compared, "there is nothing to check")
    stale = set(REFUSED) - {source.name for source in programs}
    expect(not stale, f"no such programs: {stale}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        kernels = sum(check_program(cupola, source, folder) for source in programs)
        for source in runs:
            check_run(cupola, source, folder)
        for source in compared:
            check_compared(cupola, source, folder)
        check_options(cupola, folder)
    for problem in problems:
        print(problem)
    print(f"{len(programs)} programs, {len(REFUSED)} of them refused, {kernels} kernels, {len(runs) + len(compared)} run, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
