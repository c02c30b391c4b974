"""What grids cost by the number of their blocks: runs build/bin/bench/growth with one core and with all, fits a + b * blocks to
each kernel's times, and draws both as an SVG.
"""

import math
import os
import xml.sax.saxutils as xml

COLOURS = ("#1b6ca8", "#c1442e", "#4d7c2a", "#8a5aa3")  # of kernels


def fit(points):
    """(a, b) with the least sum of squares of (a + b * blocks) / seconds - 1, of (blocks, seconds)."""
    weights = [1 / (s * s) for _, s in points]
    total = sum(weights)
    mean_n = sum(w * n for w, (n, _) in zip(weights, points)) / total
    mean_s = sum(w * s for w, (_, s) in zip(weights, points)) / total
    b = sum(w * (n - mean_n) * (s - mean_s) for w, (n, s) in zip(weights, points)) / sum(w * (n - mean_n) ** 2 for w, (n, _) in zip(weights, points))
    return mean_s - b * mean_n, b


def largest_deviation(points, line):
    a, b = line
    return max(abs(s / (a + b * n) - 1) for n, s in points)


def times(results):
    """Of rows of the bench program, by kernel: (blocks, seconds)."""
    found = {}
    for row in results:
        found.setdefault(row["kernel"], []).append((row["blocks"], row["seconds"]))
    return found


def run(run_program, results, metrics, path, rounds):
    """`run_program(results, environment)` runs it once. Adds a row for each grid, with all cores beside one, and writes the plot to `path`."""
    by_cores = {}
    for cores in sorted({1, os.cpu_count()}):
        rows = []
        # Hot code from the first launch on: else it would come somewhere on the way.
        run_program(rows, os.environ | {"CUPOLA_WORKERS": str(cores), "CUPOLA_HOT": "now"}, [rounds])
        by_cores[cores] = rows
    most = max(by_cores)
    one = {row["name"]: row["seconds"] for row in by_cores[1]}
    results.extend(row | {"baselines": {"one-core": one[row["name"]]}} for row in by_cores[most])
    series = []
    for cores, rows in by_cores.items():
        for colour, (kernel, points) in zip(COLOURS, times(rows).items(), strict=False):
            line = fit(points)
            series.append((f"{kernel}, {cores} core{'s' if cores > 1 else ''}", colour, "" if cores == most else ' stroke-dasharray="4 3"', points, line))
            metrics[f"growth/{kernel}/{cores}-cores/launch-seconds"], metrics[f"growth/{kernel}/{cores}-cores/block-seconds"] = line
            metrics[f"growth/{kernel}/{cores}-cores/largest-deviation"] = largest_deviation(points, line)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(plot(series))
    metrics["growth/plot"] = f"{path}"


def plot(series):
    """Of (name, colour, dashes, points, line). Both axes logarithmic; points are what was measured, lines what was fitted to them."""
    width, height, left, right, top, bottom = 760, 480, 70, 150, 20, 50
    columns = list(zip(*(point for one in series for point in one[3])))
    low, high = [math.floor(math.log10(min(column))) for column in columns], [math.ceil(math.log10(max(column))) for column in columns]

    def x(blocks):
        return left + (math.log10(blocks) - low[0]) / (high[0] - low[0]) * (width - left - right)

    def y(seconds):
        return height - bottom - (math.log10(seconds) - low[1]) / (high[1] - low[1]) * (height - top - bottom)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>']
    for power in range(low[0], high[0] + 1):
        at = x(10.0 ** power)
        out.append(f'<line x1="{at:.1f}" y1="{top}" x2="{at:.1f}" y2="{height - bottom}" stroke="#ddd"/>')
        out.append(f'<text x="{at:.1f}" y="{height - bottom + 18}" text-anchor="middle">{10 ** power:,}</text>')
    for power in range(low[1], high[1] + 1):
        at = y(10.0 ** power)
        out.append(f'<line x1="{left}" y1="{at:.1f}" x2="{width - right}" y2="{at:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{10.0 ** power:g} s</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 12}" text-anchor="middle">blocks of the grid</text>')
    label_at = None
    for name, colour, dashes, points, (a, b) in sorted(series, key=lambda one: -one[3][-1][1]):
        path = " ".join(f"{x(n):.1f},{y(max(a + b * n, 10.0 ** low[1])):.1f}" for n, _ in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}"{dashes}/>')
        out.extend(f'<circle cx="{x(n):.1f}" cy="{y(s):.1f}" r="3" fill="{colour}"/>' for n, s in points)
        last = y(points[-1][1])
        label_at = last if label_at is None else max(last, label_at + 14)  # none over another
        out.append(f'<text x="{width - right + 10}" y="{label_at + 4:.1f}" fill="{colour}">{xml.escape(name)}</text>')
    return "\n".join([*out, "</svg>", ""])
