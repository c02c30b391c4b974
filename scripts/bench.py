"""./bench SUITE --json FILE: runs a suite of benchmarks, prints a table (ratios first) and writes JSON.

A suite is a list of programs under build/bin/bench that print one JSON object a line (see bench/measure.h). A ratio is baseline
seconds over ours: above 1 we are faster.
"""

import argparse
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

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


def run_program(name, results, metrics, arguments=()):
    out = subprocess.run([PROGRAMS / name, *arguments], capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit(f"bench: {name} failed: {out.stderr.strip()}")
    for line in out.stdout.splitlines():
        row = json.loads(line)
        if "metric" in row:
            metrics[row["metric"]] = row["value"]
        else:
            results.append(row)


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


SUITES = {
    "compile": lambda results, metrics: (run_read_ptx(results, metrics), run_program("cache", results, metrics)),
    "launch": lambda results, metrics: (run_program("launch", results, metrics), run_first_kernel(results, metrics)),
    "cpu": lambda results, metrics: run_program("cpu", results, metrics),
}


def print_table(results):
    names = sorted({b for row in results for b in row["baselines"]})
    header = [f"{n}/ours" for n in names] + ["limit/ours", "seconds", "benchmark"]
    print("  ".join(f"{h:>12}" for h in header[:-1]) + "  benchmark")
    for row in results:
        cells = [row["baselines"][n] / row["seconds"] if n in row["baselines"] else None for n in names]
        cells.append(row["limit_seconds"] / row["seconds"] if "limit_seconds" in row else None)
        print("  ".join(f"{c:12.3f}" if c is not None else f"{'-':>12}" for c in cells) + f"  {row['seconds']:12.3e}  {row['name']}")
    for n in names:
        ratios = [row["baselines"][n] / row["seconds"] for row in results if n in row["baselines"]]
        print(f"geometric mean {n}/ours: {math.exp(statistics.fmean(map(math.log, ratios))):.3f} over {len(ratios)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("suite", choices=sorted(SUITES))
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    results, metrics = [], {}
    SUITES[arguments.suite](results, metrics)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine(), "commit": commit, "metrics": metrics, "results": results}, indent=1) + "\n")
    print(f"# {arguments.suite} on {machine()}, commit {commit}")
    print_table(results)
    for name, value in metrics.items():
        print(f"{name}: {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
