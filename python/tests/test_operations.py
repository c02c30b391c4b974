"""Every row of the table of operations, on the device that CUPOLA_DEVICE names, against NumPy, SciPy, mpmath and Python's integers
(operation_references.py). The bounds are the table's own, as `cupola.pipeline.operations()` gives them.

On the cpu device each operation is a kernel of its own. On the metal device, whose double takes half a second a kernel, operations share kernels,
each with inputs and an output of its own: printed as MSL, or compiled to AIR with CUPOLA_METAL=air."""

import functools
import os
import zlib

import cupola
import numpy as np
import pytest

pytest.importorskip("scipy")
from mpmath import mp  # noqa: E402

from operation_references import LIMIT, OTHER_FAST, REALS, Unasked, SHIFTS, SIGNED, STEPS, WHOLES  # noqa: E402

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
OPERATIONS = cupola.pipeline.operations()
FLOATS = [name for name, row in OPERATIONS.items() if F32 in row.dtypes]
INTEGERS = [name for name, row in OPERATIONS.items() if np.dtype(np.int32) in row.dtypes]
FAST = [name for name, row in OPERATIONS.items() if row.fast_bound]
RANDOM = 240
SUBNORMAL_ALLOWANCE = 1024
# Where the fast functions' bounds hold, which are absolute.
FAST_RANGE = {name: np.pi for name in ("sin", "cos", "tan", "sec", "csc", "cot")} | {"tanpi": 0.4}


def random_of(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def edges(dtype):
    info = np.finfo(dtype)
    one = dtype.type(1)
    return np.array([0.0, -0.0, 1, -1, 0.5, -0.5, 2, -3, np.inf, -np.inf, np.nan, info.smallest_subnormal, -info.smallest_subnormal, info.tiny, info.max, -info.max,
                     np.nextafter(one, dtype.type(0)), np.nextafter(one, dtype.type(2)), -np.nextafter(one, dtype.type(2)), 100, -100, 0.04045, 0.0031308], dtype)


def floats(name, count, dtype):
    """Arguments: combinations of special values; random ones near 0, from 0 to 1, of all usual sizes, and of any bits."""
    random = random_of(f"{name} {dtype}")
    special = edges(dtype)
    if count == 1:
        columns = [special]
    elif count == 2:
        columns = [c.ravel() for c in np.meshgrid(special, special)]
    else:
        columns = [random.choice(special, 300) for _ in range(count)]
    bits = f"u{dtype.itemsize}"
    arguments = []
    for special_column in columns:
        parts = [special_column, random.uniform(-10, 10, RANDOM), random.uniform(0, 1, RANDOM), random.uniform(-1, 1, RANDOM) * 2.0 ** random.integers(-30, 30, RANDOM),
                 random.uniform(0, 100, RANDOM // 4), 1 + random.uniform(-1, 1, RANDOM // 4) * 2.0 ** random.integers(-22, -1, RANDOM // 4)]
        any_bits = random.integers(0, np.iinfo(bits).max, RANDOM // 4, bits).view(dtype)
        arguments.append(np.concatenate([part.astype(dtype) for part in parts] + [any_bits]))
    near = arguments[0][-RANDOM // 4:]
    if count > 1:  # and pairs that are nearly the same
        with np.errstate(all="ignore"):
            arguments = [np.concatenate([a, near * dtype.type(1 + i * 2.0**-15)]) for i, a in enumerate(arguments)]
    return arguments


# -- running them --


@functools.cache
def shared_kernel(of, dtype, names, fast):
    """Arguments and result of each of the operations, computed by one kernel."""
    expression, given = cupola.pipeline.Expression(dtype), {}
    for name in names:
        given[name] = of(name, len(OPERATIONS[name].parameters), dtype)
        expression.output(expression.apply(name, *(expression.input() for _ in given[name]), fast=fast))
    longest = max(len(arguments[0]) for arguments in given.values())
    columns = [np.resize(column, longest) for arguments in given.values() for column in arguments]
    results = expression.compile()(*columns)
    results = results if isinstance(results, tuple) else (results,)
    return {name: (arguments, result[:len(arguments[0])]) for (name, arguments), result in zip(given.items(), results)}


def groups(names):
    """In the table's order, of at most 20 operations and 60 inputs."""
    found, inputs = [[]], 0
    for name in names:
        inputs += len(OPERATIONS[name].parameters)
        if len(found[-1]) == 20 or inputs > 60:
            found.append([])
            inputs = len(OPERATIONS[name].parameters)
        found[-1].append(name)
    return [tuple(group) for group in found]


def computed(name, dtype, of, fast=False):
    """Arguments, and what the device makes of them."""
    if os.environ.get("CUPOLA_DEVICE") != "metal":
        arguments = of(name, len(OPERATIONS[name].parameters), dtype)
        return arguments, cupola.pipeline.run(name, *arguments, fast=fast)
    names = FAST if fast else [each for each, row in OPERATIONS.items() if dtype in row.dtypes]
    return shared_kernel(of, dtype, next(group for group in groups(names) if name in group), fast)[name]


def unit_at(exact, dtype):
    """What the last place is worth at an exact value."""
    digits, least = (24, -126) if dtype == F32 else (53, -1022)
    exponent = max(least, mp.floor(mp.log(abs(exact), 2))) if exact else least
    return mp.mpf(2) ** (exponent - digits + 1)


def exact_values(name, arguments):
    """For each point the exact value, or what NumPy says of it (and then True), or None where nobody does; and the scale."""
    exact, others = REALS[name]
    LIMIT[0] = float(np.finfo(arguments[0].dtype).max)
    with np.errstate(all="ignore"):
        said = None if others is None else np.broadcast_to(others(*(a.astype(np.float64) for a in arguments)), arguments[0].shape)
    finite = np.all([np.isfinite(a) for a in arguments], axis=0)
    for i in range(len(arguments[0])):
        if finite[i]:
            try:
                found = exact(*(mp.mpf(float(a[i])) for a in arguments))
                value, scale = found if isinstance(found, tuple) else (found, abs(found))
                if not mp.isnan(value):
                    yield (mp.nan if isinstance(value, mp.mpc) and value.imag else mp.re(value)), abs(scale), False
                    continue
            except Unasked:
                yield None, 0, False
                continue
            except (ValueError, ZeroDivisionError, OverflowError, TypeError):
                pass
        yield (None if said is None else float(said[i])), 0, True


def problem(got, exact, scale, bound, row_unit, dtype):
    """None, or how many units it is wrong."""
    most = mp.mpf(float(np.finfo(dtype).max))
    if mp.isnan(exact):
        return None if np.isnan(got) else "no NaN"
    if np.isnan(got):
        return "NaN"
    if np.isinf(got) or mp.isinf(exact):
        beyond = mp.isinf(exact) or abs(exact) * (1 + (bound + 1) * np.finfo(dtype).eps) > most
        return None if beyond and (got > 0) == (exact > 0) and abs(got) * (1 + (bound + 2) * float(np.finfo(dtype).eps)) >= most else "infinite"
    error = abs(mp.mpf(float(got)) - exact)
    tiny = SUBNORMAL_ALLOWANCE * mp.mpf(float(np.finfo(dtype).smallest_subnormal)) if abs(exact) < float(np.finfo(dtype).tiny) * 2 else 0
    return None if error <= bound * row_unit + tiny else f"{mp.nstr(error / row_unit, 4)} units"


def check_reals(name, dtype, got, arguments, bound, terms, floor=0):
    """Every point is within the bound. Points whose terms are out of the type's range are not asked about, nor those of which nobody says anything;
    most points are."""
    row = OPERATIONS[name]
    most, asked = mp.mpf(float(np.finfo(dtype).max)), 0
    worst = []
    for i, (exact, scale, said) in enumerate(exact_values(name, arguments)):
        if exact is None:
            continue
        exact = mp.mpf(exact)
        if terms and (scale > most or said and np.isfinite(float(exact)) and not np.isnan(float(got[i]))):
            continue
        if said and not np.isnan(float(exact)) and not np.isinf(float(exact)) and np.isfinite(float(exact)):
            allowed = problem(got[i], exact, 0, bound + 4, unit_at(exact, dtype), dtype)
        else:
            size = max(abs(exact), scale if terms else 0, floor)
            allowed = problem(got[i], exact, scale, bound, unit_at(size, dtype) if mp.isfinite(size) else mp.inf, dtype)
        asked += 1
        if allowed:
            worst.append((tuple(float(a[i]) for a in arguments), float(got[i]), mp.nstr(exact, 17), allowed, said))
    assert not worst, f"{name} {row.formula}: {len(worst)} of {asked} wrong: {worst[:6]}"
    assert asked > len(got) / 4, f"{name}: only {asked} of {len(got)} points were asked about"


def check_steps(name, got, wanted, arguments):
    wanted = np.asarray(wanted).astype(got.dtype)
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    if name in SIGNED:
        same &= np.isnan(got) | (np.signbit(got) == np.signbit(wanted))
    wrong = np.flatnonzero(~same)
    assert wrong.size == 0, f"{name}: {wrong.size} of {got.size} wrong: {[(tuple(float(a[i]) for a in arguments), float(got[i]), float(wanted[i])) for i in wrong[:6]]}"


def test_the_table_is_whole():
    assert len(OPERATIONS) == 190
    for name, row in OPERATIONS.items():
        if row.dtypes[0].kind == "f":
            assert (row.accuracy == "exact") == (name in STEPS), name
            assert name in STEPS or name in REALS, name
        if np.dtype(np.int32) in row.dtypes:
            assert name in WHOLES or name in SHIFTS or name in STEPS, name


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", FLOATS)
def test_floats(name, dtype):
    row = OPERATIONS[name]
    arguments, got = computed(name, dtype, floats)
    if row.accuracy == "exact":
        with np.errstate(all="ignore"):
            wanted = STEPS[name](*arguments)
        check_steps(name, got, wanted, arguments)
    else:
        check_reals(name, dtype, got, arguments, row.bounds[dtype], row.accuracy == "terms")


@pytest.mark.parametrize("name", FAST)
def test_fast(name):
    row = OPERATIONS[name]
    arguments, got = computed(name, F32, floats, fast=True)
    usual = np.all([(np.abs(a) <= FAST_RANGE.get(name, 80)) & np.isfinite(a) & (np.abs(a) > 1e-4) for a in arguments], axis=0)
    arguments, got = [a[usual] for a in arguments], got[usual]
    if name in OTHER_FAST:
        check_steps(name, got, OTHER_FAST[name](*arguments), arguments)
    else:
        check_reals(name, F32, got, arguments, row.fast_bound, True, floor=1)


@pytest.mark.parametrize("name", [name for name in FAST if name not in ("hash", "hash2", "noise_white")][:3])
def test_fast_of_double_is_the_precise_one(name):
    x = np.linspace(0.1, 2, 50)
    assert np.array_equal(cupola.pipeline.run(name, x, fast=True), cupola.pipeline.run(name, x))


def integers(name, count, dtype):
    random, info = random_of(f"{name} {dtype}"), np.iinfo(dtype)
    special = np.array(sorted({v for v in (0, 1, 2, 3, -1, -2, 5, 31, 32, 33, 63, 64, 65, 1000, info.max, info.max - 1, info.min, info.min + 1) if info.min <= v <= info.max}), dtype)
    columns = [c.ravel() for c in np.meshgrid(*[special] * count)] if count <= 2 else [random.choice(special, 400) for _ in range(count)]
    return [np.concatenate([c, random.integers(info.min, info.max, RANDOM, dtype, endpoint=True), random.integers(max(info.min, -40), 40, RANDOM).astype(dtype)]) for c in columns]


@pytest.mark.parametrize("dtype", cupola.pipeline.TYPES[2:], ids=str)
@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name, dtype):
    arguments, got = computed(name, dtype, integers)
    if name in WHOLES or name in SHIFTS:
        width = 8 * dtype.itemsize
        of = WHOLES.get(name) or (lambda *x: SHIFTS[name](*x, width))
        values = [int(of(*map(int, point))) % (1 << width) for point in zip(*arguments)]
        wanted = np.array(values, f"u{dtype.itemsize}").view(dtype)
    else:
        wanted = STEPS[name](*arguments)
    wrong = np.flatnonzero(got != wanted)
    assert wrong.size == 0, f"{name}: {wrong.size} wrong: {[(tuple(int(a[i]) for a in arguments), int(got[i]), int(wanted[i])) for i in wrong[:6]]}"
