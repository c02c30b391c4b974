"""cupola.pipeline: building, running, and what it refuses. What each operation computes is test_operations.py's."""

import subprocess
import sys
import threading

import cupola
import numpy as np
import pytest
from foreign import Foreign


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


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_python_operators_are_operations(dtype):
    a, b = np.array([1, 2, 3, 7], dtype), np.array([1, 5, 3, 2], dtype)
    cases = [lambda x, y: x == y, lambda x, y: x != y, lambda x, y: x < y, lambda x, y: x <= y, lambda x, y: x > y, lambda x, y: x >= y,
             lambda x, y: (x == y) * x + (x != y), lambda x, y: x % y, lambda x, y: x**y, lambda x, y: 2 < x, lambda x, y: 2**x, lambda x, y: 9 % x,
             lambda x, y: abs(-x), lambda x, y: +x, lambda x, y: dtype(3) * x, lambda x, y: x == dtype(3)]
    if dtype is np.int32:
        cases += [lambda x, y: x & y, lambda x, y: x | 4, lambda x, y: 6 ^ x, lambda x, y: ~x, lambda x, y: x << y, lambda x, y: 64 >> x]
    for number, case in enumerate(cases):
        e = cupola.pipeline.Expression(dtype)
        e.output(case(e.input(), e.input()))
        assert np.array_equal(e.compile()(a, b), case(a, b)), number


def test_a_node_is_neither_true_nor_false():
    e = cupola.pipeline.Expression(np.float32)
    a, b = e.input(), e.input()
    for use in (lambda: a and b, lambda: not a, lambda: 0 < a < 1, lambda: [a, b].index(b)):
        with pytest.raises(TypeError, match="logical_and"):
            use()
    assert len({a, b, a}) == 2


def test_outputs_are_apart(x):
    o, whole = np.empty(1000, np.float32), np.empty(1001, np.float32)
    for out in [(o, o), (whole[1:], whole[:-1])]:
        with pytest.raises(ValueError, match="array twice|outputs 0 and 1 overlap"):
            doubled_plus(2)(x, 5, out=out)
    with pytest.raises(ValueError, match="output 0 overlaps a part of input 0"):
        doubled_plus()(whole[1:], 5, out=whole[:-1])
    y, z = doubled_plus(2)(x, 5, out=[whole[1:], o])
    assert np.array_equal(whole[1:], 2 * x + 5) and np.array_equal(o, -whole[1:])


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


def test_arrays_of_other_packages():
    buffer = cupola.Buffer.from_numpy(np.arange(3, dtype=np.float32).reshape(1, 3, 1))
    array = Foreign(buffer, strides=(4, 4, 400))  # what dimensions of length 1 have says nothing
    assert doubled_plus()(array, 1, out=array) is array
    assert buffer.to_numpy().tolist() == [[[1], [3], [5]]]
    with pytest.raises(ValueError, match="has gaps, or is not in C order"):
        doubled_plus()(Foreign(buffer, strides=(24, 8, 4)), 1)
    with pytest.raises(ValueError, match="argument out 0: the array is read-only"):
        doubled_plus()(buffer, 1, out=Foreign(buffer, data=(buffer.address, True)))


@pytest.mark.parametrize("own", [False, True], ids=["in_the_default_stream", "in_a_stream"])
def test_an_array_in_work_in_another_stream_is_waited_for(gate, own):
    stream, other = cupola.Stream() if own else None, cupola.Stream()
    buffer = cupola.Buffer.from_numpy(np.array([4], np.int32))
    gate.kernel[1, 1, stream](gate.buffer, buffer, 1)
    array = Foreign(buffer, stream=stream.handle if own else 1)
    cupola.pipeline.run("add", array, 1, out=array, stream=other)
    assert not other.done
    gate.open()
    other.synchronize()
    assert buffer.to_numpy()[0] == 42


@pytest.mark.parametrize("step", [1, 2], ids=["whole", "with_gaps"])
def test_with_numpys_arrays_a_streams_work_comes_first(gate, step):
    stream, buffer, array = cupola.Stream(), cupola.Buffer.from_numpy(np.array([4, 0], np.int32)), cupola.pinned(2, np.int32)
    array[:] = 0
    gate.kernel[1, 1, stream](gate.buffer, buffer, 1)
    buffer.copy_to(array, stream)
    timer = threading.Timer(0.05, gate.open)
    timer.start()
    result = cupola.pipeline.run("add", array[::step], 1, stream=stream)
    timer.join()
    assert result[0] == 42


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
