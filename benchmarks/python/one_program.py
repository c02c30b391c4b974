"""Runs one program in one way, and times it when asked: `one_program.py WAY NAME`, where WAY is device, host or simulator.

The first line on standard output tells that the result agrees with NumPy's, as JSON (or what is wrong). Then each line of standard
input is a number of calls, and its answer the seconds of one of them. Device arrays are in device memory before; each call is synchronised.
"""

import importlib
import json
import sys
import time

import numpy as np

import compile_share


def agrees(program, result, expected):
    if hasattr(program, "agrees"):
        return program.agrees(result, expected)
    return np.allclose(result, expected, rtol=program.TOLERANCE, atol=program.TOLERANCE)


def check(program, results, expected):
    """The first difference, as text; nothing when all is right."""
    for index, result, right in zip(program.OUTPUTS, results, expected, strict=True):
        if not agrees(program, result, right):
            worst = np.abs(result.astype(np.float64) - right).max()
            return f"argument {index} differs from NumPy's by up to {worst:.3g}"
    return ""


def device_call(program, arguments):
    """A call that ends when the device has ended, and one that reads the results back."""
    from numba import cuda

    on_device = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]

    def call():
        program.launch(*on_device)
        cuda.synchronize()

    return call, lambda: [on_device[i].copy_to_host() for i in program.OUTPUTS]


def host_call(program, arguments):
    return lambda: program.compute(*arguments), lambda: [arguments[i] for i in program.OUTPUTS]


def begin(way, program):
    size = program.SIMULATOR_SIZE if way == "simulator" else program.SIZE
    arguments = program.arguments(size, np.random.default_rng(1))
    expected = program.reference(*arguments)
    call, results = host_call(program, arguments) if way == "host" else device_call(program, arguments)
    share = compile_share.Share() if way == "device" else None
    start = time.perf_counter()
    call()
    first = time.perf_counter() - start
    answer = {"wrong": check(program, results(), expected), "first": first}
    if share:
        answer["numba"] = share.seconds
    if way == "simulator":
        answer["scale"] = program.work(program.SIZE) / program.work(size)
    return call, answer


def seconds(call, clock, calls):
    start = clock()
    for _ in range(calls):
        call()
    return (clock() - start) / calls


def main():
    way, name = sys.argv[1:3]
    clock = time.process_time if sys.argv[3:] == ["cpu-time"] else time.perf_counter
    call, answer = begin(way, importlib.import_module(f"programs.{name}"))
    print(json.dumps(answer), flush=True)
    for line in sys.stdin:
        print(seconds(call, clock, int(line)), flush=True)


if __name__ == "__main__":
    main()
