"""Demonstrations: `python -m cupola.demos.add` and so on. Each checks its answer with NumPy and prints its time beside NumPy's, and beside
that of Numba's simulator where Numba is there. They use Numba where its kernels can run here, else cupola.jit."""
