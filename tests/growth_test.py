"""What ./bench growth fits to times, and what it draws of them. Nothing is printed when all is right."""

import os
import pathlib
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "scripts"))

import growth

GRIDS = (1000, 10_000, 100_000, 1_000_000)


def expect(what, holds):
    if not holds:
        sys.exit(f"growth_test: {what}")


def near(value, wanted):
    return abs(value - wanted) <= 1e-9 * abs(wanted)


def line(a, b, grids=GRIDS):
    return [(blocks, a + b * blocks) for blocks in grids]


a, b = growth.fit(line(5e-6, 2e-7))
expect("a line is found", near(a, 5e-6) and near(b, 2e-7))
expect("a line's points lie on it", growth.largest_deviation(line(5e-6, 2e-7), (a, b)) < 1e-9)
late = [*line(0, 2e-7)[:-1], (GRIDS[-1], 1.5 * 2e-7 * GRIDS[-1])]
expect("a grid that takes half longer is seen", growth.largest_deviation(late, growth.fit(late)) > 0.1)
slow = [(blocks, 1e-9 * blocks ** 1.2) for blocks in GRIDS]
expect("growth that is no line is seen", growth.largest_deviation(slow, growth.fit(slow)) > 0.2)


def run_program(rows, environment, arguments):
    """Stands for the bench program: twice as fast for each core."""
    each = 4e-7 / int(environment["CUPOLA_WORKERS"])
    expect("the rounds are handed on", arguments == ["7"])
    for kernel in ("some", "other"):
        rows.extend({"name": f"{kernel}/{n}", "kernel": kernel, "blocks": n, "seconds": s, "baselines": {}} for n, s in line(1e-5, each))


os.cpu_count = lambda: 2
results, metrics = [], {}
with tempfile.TemporaryDirectory() as folder:
    plot = pathlib.Path(folder) / "plots" / "growth.svg"
    growth.run(run_program, results, metrics, plot, "7")
    drawn = ElementTree.parse(plot).getroot()
expect("a row for each grid of each kernel, with one core beside all", len(results) == 8 and all(row["baselines"]["one-core"] > row["seconds"] for row in results))
expect("what a block takes", near(metrics["growth/some/2-cores/block-seconds"], 2e-7) and near(metrics["growth/other/1-cores/block-seconds"], 4e-7))
count = {name: sum(part.tag.endswith(name) for part in drawn.iter()) for name in ("circle", "polyline")}
expect("a point for each time, a line for each kernel and number of cores", count == {"circle": 16, "polyline": 4})
