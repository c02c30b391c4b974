"""./bench SUITE --json FILE: runs a suite of benchmarks, prints a table (ratios first) and writes JSON.

A suite is a list of programs under build/bin/bench that print one JSON object a line (see benchmarks/measure.h); `python` is
benchmarks/python/suite.py, in the virtual environment of `./clients numba`. A ratio is baseline seconds over ours: above 1 we are
faster. `--only REGEX` runs the cases of cpu and python with such a name.
"""

import argparse
import json
import math
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile

import growth
from client_venv import venv_python, with_cupola

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "build" / "bin" / "bench"


def machine():
    name = platform.processor() or platform.machine()
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    return f"{name}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def run_program(name, results, metrics, arguments=(), environment=None):
    run_command(name, [PROGRAMS / name, *arguments], results, metrics, environment)


def run_cpu(results, metrics, level, arguments):
    """With a level of x86-64 both sides are compiled for it: the loops by their compilers, the kernels by the cpu device."""
    if not level:
        return run_program("cpu", results, metrics, arguments)
    subprocess.run([ROOT / "scripts" / "build", "release", f"bench-cpu-{level}"], check=True, stdout=sys.stderr)
    metrics["cpu/level"] = level
    run_program(f"cpu-{level}", results, metrics, arguments, os.environ | {"CUPOLA_PROCESSOR": level})


def run_command(name, command, results, metrics, environment=None):
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as program:
        for line in program.stdout:
            row = json.loads(line)
            if "metric" in row:
                metrics[row["metric"]] = row["value"]
            else:
                results.append(row)
                if sys.stderr.isatty():
                    print(f"bench: {row['name']}: {row['seconds']:.3e} s", file=sys.stderr)
    if program.returncode != 0:
        metrics["failed"] = f"{name} exited with {program.returncode}"


def run_first_kernel(results, metrics):
    """Fresh processes; the first one fills the disk cache and is not counted."""
    rows = []
    for _ in range(22):
        out = subprocess.run([PROGRAMS / "first_kernel"], capture_output=True, text=True, check=True).stdout.split()
        rows.append((float(out[0]), out[1] == "1"))
    metrics["first-kernel/uncached-or-first-seconds"] = rows[0][0]
    metrics["first-kernel/cached-libllvm-mapped"] = any(mapped for _, mapped in rows[1:])
    results.append({"name": "first-kernel/cached", "seconds": statistics.median(t for t, _ in rows[1:]), "limit_seconds": 0.010, "baselines": {}})


def run_read_ptx(results, metrics):
    """The PTX that cupolac packed into our own programs, as one text a program."""
    tool = PROGRAMS.parent / "cupola"
    with tempfile.TemporaryDirectory() as folder:
        for program in sorted(p for p in PROGRAMS.parent.glob("*/*") if p.is_file() and os.access(p, os.X_OK)):
            subprocess.run([tool, "fatbin", program, "--extract", folder], capture_output=True)
        run_program("read_ptx", results, metrics, sorted(pathlib.Path(folder).glob("*.ptx")))


def compile_times(hot):
    """Of the kernels of ./bench cpu, with an empty cache: seconds to make their code, in the compiler's own words, by the blocks that it is for and the kernel."""
    took = re.compile(r"kernel (\S+) \(blocks ([^)]*)\) took, in ms: (.*)")
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"CUPOLA_HOT": hot, "CUPOLA_CACHE_DIR": folder, "CUPOLA_LOG": "compile,error"}
        log = subprocess.run([PROGRAMS / "cpu", "", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment).stderr
    return [(blocks, kernel, sum(float(stage.rsplit(" ", 1)[1]) for stage in stages.split(", ")) / 1e3) for kernel, blocks, stages in took.findall(log)]


def run_kernel_code(results, metrics):
    """What the kernels of ./bench cpu take to compile: first code, which is code for a thread where code for warps would take long, and hot code. First code for
    warps is timed without hot code, of which some would be made in the background meanwhile."""
    def longest(times):  # of kernels that are launched with blocks of several kinds
        return {kernel: max(seconds for _, other, seconds in times if other == kernel) for _, kernel, _ in times}

    first = [time for time in compile_times("auto") if not time[0].endswith(", hot")]
    for_warps = {kernel for blocks, kernel, _ in first if blocks != "of one thread"}
    by_thread = longest([time for time in first if time[1] not in for_warps])
    for name, kernels, limit in (("first-code", longest(compile_times("off")) | by_thread, {"limit_seconds": 0.030}), ("hot-code", longest(compile_times("now")), {})):
        metrics[f"{name}/kernels"], metrics[f"{name}/seconds"] = len(kernels), sum(kernels.values())
        results.extend({"name": f"{name}/{kernel}", "seconds": seconds, "baselines": {}} | limit for kernel, seconds in kernels.items())
    metrics["first-code/by-thread"] = len(by_thread)


def run_metal(results, metrics):
    """The kernels of the examples, of the kernel tests and of cupola selftest."""
    tool = PROGRAMS.parent / "cupola"
    sources = sorted((ROOT / "examples").glob("*.cu")) + sorted((ROOT / "tests" / "kernels").glob("*.cu")) + [ROOT / "tools" / "cupola" / "selftest" / "kernels.cu"]
    with tempfile.TemporaryDirectory() as name:
        folder, modules = pathlib.Path(name), []
        for source in sources:
            flags = ["-rdc=true"] if source.stem.startswith("dynamic_parallelism") else []
            fatbin, module = folder / "k.fatbin", folder / f"{source.stem}.ll"
            subprocess.run([PROGRAMS.parent / "cupolac", *flags, "-fatbin", source, "-o", fatbin], check=True)
            module.write_text(subprocess.run([tool, "ptx", "--kir", fatbin], capture_output=True, text=True, check=True).stdout)
            modules.append(module)
        environment = os.environ | {"CUPOLA_COMPILER": str(ROOT / "build" / "lib" / "libcupola-compiler.so")}
        run_command("metal", [PROGRAMS / "metal", *modules], results, metrics, environment)


def run_growth(results, metrics, rounds):
    growth.run(lambda rows, environment, arguments: run_program("growth", rows, metrics, arguments, environment), results, metrics, ROOT / "build" / "bench" / "growth.svg", rounds)


def run_python(results, metrics, arguments):
    """Numba's programs; the build folder's libraries are the CUDA that they find."""
    folder = ROOT / "build" / "clients" / "numba"
    environment = with_cupola(ROOT / "build", folder)
    environment["PYTHONPATH"] = str(ROOT / "python")
    run_command("the python suite", [venv_python("numba", folder), ROOT / "benchmarks" / "python" / "suite.py", *arguments], results, metrics, environment)


SUITES = {
    "compile": lambda results, metrics: (run_read_ptx(results, metrics), run_program("cache", results, metrics), run_program("nvrtc", results, metrics),
                                         run_kernel_code(results, metrics)),
    "metal": run_metal,
    "launch": lambda results, metrics: (run_program("launch", results, metrics), run_first_kernel(results, metrics)),
}

CLIP = 2  # one kernel that wins by far must not hide others that lose


def geometric_mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def print_means(results, names):
    """What each baseline says of all kernels together."""
    for n in names:
        ratios = {row["name"]: row["baselines"][n] / row["seconds"] for row in results if n in row["baselines"]}
        values = list(ratios.values())
        lowest = min(ratios, key=ratios.get)
        print(f"geometric mean {n}/ours: {geometric_mean(values):.3f} over {len(values)}, "
              f"{geometric_mean([min(r, CLIP) for r in values]):.3f} with each clipped at {CLIP}; "
              f"{sum(r >= 0.9 for r in values)} of {len(values)} >= 0.9, lowest {ratios[lowest]:.3f} ({lowest})")
        together = [ratios[row["name"]] for row in results if row.get("trait") and row["name"] in ratios]
        if together:
            print(f"  over the {len(together)} with barriers, shuffles or divergence: {geometric_mean(together):.3f}")


def print_table(results):
    names = sorted({b for row in results for b in row["baselines"]})
    header = [f"{n}/ours" for n in names] + ["limit/ours", "seconds", "benchmark"]
    print("  ".join(f"{h:>12}" for h in header[:-1]) + "  benchmark")
    for row in results:
        cells = [row["baselines"][n] / row["seconds"] if n in row["baselines"] else None for n in names]
        cells.append(row["limit_seconds"] / row["seconds"] if "limit_seconds" in row else None)
        print("  ".join(f"{c:12.3f}" if c is not None else f"{'-':>12}" for c in cells) + f"  {row['seconds']:12.3e}  {row['name']}")
    print_means(results, names)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("suite", choices=sorted([*SUITES, "cpu", "growth", "python"]))
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="REGEX", help="cpu, python: the cases whose names match")
    parser.add_argument("--rounds", default="11", metavar="N", help="cpu, growth, python: how often each version is timed")
    parser.add_argument("--level", default="", choices=["", "x86-64-v3"], help="cpu: the processor that kernels and loops are compiled for; this one, unless said")
    parser.add_argument("--cpu-time", action="store_true", help="cpu, python: count what threads work, not what passes: for a busy machine, no figures to report")
    arguments = parser.parse_args()
    results, metrics = [], {}
    if arguments.suite in ("cpu", "python"):
        clock = metrics[f"{arguments.suite}/clock"] = "cpu-time" if arguments.cpu_time else "wall"
        if arguments.suite == "cpu":
            run_cpu(results, metrics, arguments.level, [arguments.only, arguments.rounds, clock])
        else:
            run_python(results, metrics, ["--only", arguments.only, "--rounds", arguments.rounds, "--clock", clock])
    elif arguments.suite == "growth":
        run_growth(results, metrics, arguments.rounds)
    else:
        SUITES[arguments.suite](results, metrics)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine(), "commit": commit, "metrics": metrics, "results": results}, indent=1) + "\n")
    print(f"# {arguments.suite} on {machine()}, commit {commit}")
    print_table(results)
    for name, value in metrics.items():
        print(f"{name}: {value}")
    return 1 if "failed" in metrics else 0


if __name__ == "__main__":
    sys.exit(main())
