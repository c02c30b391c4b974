"""Several operations on the elements of arrays, fused into one kernel: `softplus(a x + b) * sigmoid(x) - log1p(y^2)`, without a line of CUDA. Checks the
answer with NumPy and prints its time beside NumPy's; `--size N` is another size."""

from __future__ import annotations

import sys

import numpy as np

from . import _demo

SIZE = 1 << 20
TOLERANCE = 1e-6


def with_numpy(x, y, a, b):
    return np.logaddexp(0, a * x + b) / (1 + np.exp(-x)) - np.log1p(y * y)


def fused():
    """The pipeline, which takes x, y, a and b."""
    import cupola

    e = cupola.pipeline.Expression(np.float32)
    x, y, a, b = e.input(), e.input(), e.scalar(), e.scalar()
    gate = e.apply("softplus", a * x + b) * e.apply("sigmoid", x)
    e.output(gate - e.apply("log1p", e.apply("square", y)))
    return e.compile()


def main(words: list[str]) -> int:
    options = dict(zip(words, [*words[1:], ""]))
    size = int(options.get("--size", SIZE))
    x, y = np.random.default_rng(1).normal(size=(2, size)).astype(np.float32)
    pipeline, out = fused(), np.empty_like(x)
    wanted = with_numpy(x.astype(np.float64), y.astype(np.float64), 1.5, -0.25)
    error = np.max(np.abs(pipeline(x, y, 1.5, -0.25, out=out) - wanted), initial=0)
    if not error <= TOLERANCE * 8:
        print(f"pipeline: wrong by {error}")
        return 1
    seconds = _demo.best(lambda: pipeline(x, y, 1.5, -0.25, out=out))
    numpy = _demo.best(lambda: with_numpy(x, y, np.float32(1.5), np.float32(-0.25)))
    print(f"pipeline: right, {size} elements in {seconds * 1e3:.3f} ms; NumPy {numpy * 1e3:.3f} ms, {numpy / seconds:.1f} times")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
