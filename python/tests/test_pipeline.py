"""cupola.pipeline: building, running, and what it refuses. What each operation computes is test_operations.py's."""

import subprocess
import sys
import threading

import cupola
import numpy as np
import pytest


def doubled_plus(outputs=1):
    e = cupola.pipeline.Expression(np.float32)
    x, a = e.input(), e.scalar()
    y = 2 * x + a
    for _ in range(outputs):
        e.output(y)
        y = -y
    return e.compile()


@pytest.fixture
def x():
    return np.arange(1000, dtype=np.float32)


def test_one_operation_takes_arrays_and_numbers(x):
    assert np.array_equal(cupola.pipeline.run("fma", x, 2, x), 3 * x)
    assert np.array_equal(cupola.pipeline.run("subtract", 1, x.reshape(10, 100)), 1 - x.reshape(10, 100))
    assert cupola.pipeline.run("add", 1, 2) == 3


def test_the_type_is_the_arrays():
    for dtype in cupola.pipeline.TYPES:
        y = cupola.pipeline.run("multiply", np.arange(10, dtype=dtype), 3)
        assert y.dtype == dtype and np.array_equal(y, 3 * np.arange(10))


def test_operators_are_fused(x):
    e = cupola.pipeline.Expression(np.float32)
    a, b = e.input(), e.input()
    e.output(-((a + b) * (a - 1) / (2 - b)))
    with np.errstate(all="ignore"):
        assert np.array_equal(e.compile()(x, x + 1), -((x + (x + 1)) * (x - 1) / (2 - (x + 1))), equal_nan=True)


def test_several_outputs_and_in_place(x):
    y, z = doubled_plus(2)(x, 5)
    assert np.array_equal(y, 2 * x + 5) and np.array_equal(z, -y)
    wanted = 2 * x + 7
    assert doubled_plus()(x, 7, out=x) is x and np.array_equal(x, wanted)


def test_arrays_with_gaps(x):
    target = np.zeros((20, 100), np.float32)
    doubled_plus()(x.reshape(100, 10).T, 1, out=target[::2])
    assert np.array_equal(target[::2], 2 * x.reshape(100, 10).T + 1) and not target[1::2].any()


def test_memory_of_the_device_and_streams(x):
    stream, buffer = cupola.Stream(), cupola.Buffer.from_numpy(x)
    result = doubled_plus()(buffer, 1, stream=stream)
    doubled_plus()(result, 0, out=result, stream=stream)
    stream.synchronize()
    assert isinstance(result, cupola.Buffer) and np.array_equal(result.to_numpy(), 4 * x + 2)


def test_an_empty_array():
    assert cupola.pipeline.run("exp", np.empty((3, 0), np.float64)).shape == (3, 0)


def test_many_threads_run_one_pipeline():
    pipeline, wrong = doubled_plus(), []

    def work(number):
        mine = np.full(5000, number, np.float32)
        for addend in range(20):
            if not (pipeline(mine, addend) == 2 * number + addend).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_pipeline_outlives_a_reset(x):
    assert np.array_equal(cupola.pipeline.run("add", x, 1), x + 1)
    cupola.devices()[0].reset()
    assert np.array_equal(cupola.pipeline.run("add", x, 1), x + 1)


def test_what_it_refuses(x):
    run = cupola.pipeline.run
    for arguments, error, words in [
            (("nonsense", x), ValueError, "there is no operation 'nonsense'"), (("add", x), ValueError, "takes 2 arguments, .x, y.; 1 were given"),
            (("sin", x.astype(np.int32)), ValueError, "'sin' does not take elements of type i32: it takes f32, f64"),
            (("add", x, x[:5]), ValueError, "one shape"), (("add", x, x.astype(np.float64)), TypeError, "dtype float64, the pipeline float32"),
            (("sin", x.astype(np.float16)), TypeError, "dtype float16 are not computed with"), (("add", x.astype(np.int32), 0.5), TypeError, "no whole number"),
            (("add", x.astype(np.int32), 2**40), OverflowError, "does not fit into int32"), (("add", x, cupola.Buffer.from_numpy(x)), TypeError, "some arrays are NumPy's")]:
        with pytest.raises(error, match=words):
            run(*arguments)
    with pytest.raises(ValueError, match="'add' has no fast variant"):
        run("add", x, x, fast=True)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        run("add", x, x, out=x)
    with pytest.raises(TypeError, match="takes 2 arguments"):
        doubled_plus()(x)
    with pytest.raises(ValueError, match="no output"):
        cupola.pipeline.Expression(np.float32).compile()
    one, other = cupola.pipeline.Expression("f4"), cupola.pipeline.Expression("f4")
    with pytest.raises(ValueError, match="another expression"):
        one.apply("sin", other.input())


def test_import_stays_light(python):
    python("import sys, cupola\nassert not {'numpy', 'ctypes', 'cupola.pipeline', 'cupola._driver'} & sys.modules.keys()\n"
           "assert cupola.pipeline.run('add', 1, 2) == 3")


def test_demo():
    done = subprocess.run([sys.executable, "-m", "cupola.demos.pipeline", "--size", "10000"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.startswith("pipeline: right, 10000 elements"), done.stdout + done.stderr
