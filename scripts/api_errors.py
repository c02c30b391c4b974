"""Which error codes the tests expect of each Full function of driver.def, runtime.def and nvml.def.

`EXPECT_CUDA(cuMemAlloc(nullptr, 16), CUDA_ERROR_INVALID_VALUE);` and its kin (EXPECT_ONE_OF, gtest's EXPECT_EQ, in either order) say
that cuMemAlloc_v2 is expected to answer CUDA_ERROR_INVALID_VALUE. Names are read through the renames of cuda.h, as in api_calls.py.

A function without parameters has nothing to refuse: what it answers before cuInit, without a context, after a fault and in a child of
fork() comes from wrappers that all functions share, and is tested for the whole table (every_call_test.cpp). Functions that return no
status, and those that only compiled code calls, have no errors either. Both follow from the tables.

    python3 scripts/api_errors.py            functions without an expected error; fails if there is one
    python3 scripts/api_errors.py --codes    every function with the codes that tests expect of it
"""

import re
import sys

import api_calls

CHECK = re.compile(r"\b(?:EXPECT|ASSERT)_(?:CUDA|ONE_OF|EQUAL|EQ)\(")
CALL = re.compile(r"(?:static_cast<int>\()?(?:::)?((?:__)?cu[A-Z_a-z]\w*|nvml[A-Z]\w*)\(")
CODE = re.compile(r"\b(?:CUDA_ERROR_\w+|cudaError[A-Z]\w*|NVML_ERROR_\w+)\b")
SUCCESS = re.compile(r"0|CUDA_SUCCESS|cudaSuccess|NVML_SUCCESS")
ROW = re.compile(r"^\s*(?:CU|CUDART|NVML)_FN\(\s*(\w+)\s*,\s*(\w*)\s*,(?:\s*\d+\s*,)?\s*Full\s*,\s*\((.*)\)\)$", re.M)
TABLES = {"driver": "src/cuda/driver/driver.def", "runtime": "src/cuda/cudart/runtime.def", "nvml": "src/cuda/nvml/nvml.def"}


def arguments(code, start):
    """The texts between the commas of the call whose arguments begin at `start`."""
    depth, parts, begin = 0, [], start
    for i in range(start, len(code)):
        if code[i] in "([{":
            depth += 1
        elif code[i] in ")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and code[i] == ","):
            parts.append(code[begin:i].strip())
            begin = i + 1
        if depth < 0:
            break
    return parts


def expected_in(text, plain, per_thread):
    """(exported name, code) of each expectation in a source; the renames are as for api_calls.called_in."""
    code, found = api_calls.code_of(text), set()
    for check in CHECK.finditer(code):
        parts = arguments(code, check.end())
        calls = [match[1] for match in map(CALL.match, parts) if match]
        if any(SUCCESS.fullmatch(part) for part in parts):
            continue  # one of several codes, and success would do
        codes = {name for part in parts if not CALL.match(part) for name in CODE.findall(part)}
        for meaning in (plain, per_thread):
            if meaning is not None:
                found |= {(name, value) for name in api_calls.read_through(calls, code, meaning) for value in codes}
    return found


def expected_errors():
    """Codes by exported name."""
    errors = {}
    for text, plain, per_thread in api_calls.sources():
        for name, code in expected_in(text, plain, per_thread):
            errors.setdefault(name, set()).add(code)
    return errors


def functions(table):
    """(exported name, whether it has something of its own to refuse) of each Full function that returns a status."""
    text = re.sub(r"//.*", "", (api_calls.ROOT / TABLES[table]).read_text())
    return [(name + suffix, signature.strip() != "void") for name, suffix, signature in ROW.findall(text)]


def without_error(table, errors):
    return [name for name, refuses in functions(table) if refuses and not errors.get(name)]


def line(table, errors):
    """What ./features prints."""
    rows = functions(table)
    refusing = sum(refuses for _, refuses in rows)
    return (f"{table} errors: {refusing - len(without_error(table, errors))} of {refusing} full functions have a test of an error; "
            f"{len(rows) - refusing} take nothing that they could refuse")


def self_test():
    plain, per_thread = {"cuMemAlloc": "cuMemAlloc_v2"}, {"cudaMemcpy": "cudaMemcpy_ptds"}
    for text, expected in (("EXPECT_CUDA(cuMemAlloc(nullptr, f(1, 2)), CUDA_ERROR_INVALID_VALUE);", {("cuMemAlloc_v2", "CUDA_ERROR_INVALID_VALUE")}),
                           ("EXPECT_EQ(cudaErrorNotReady, cuX()); // EXPECT_EQ(cuY(), cudaErrorNotReady)", {("cuX", "cudaErrorNotReady")}),
                           ("EXPECT_CUDA(cuX(), CUDA_SUCCESS); EXPECT(cuY() != cudaErrorNotReady);", set()),
                           ("EXPECT_ONE_OF(cuX(), CUDA_SUCCESS, CUDA_ERROR_UNKNOWN); EXPECT_ONE_OF(cuY(), 0, cudaErrorNotReady);", set()),
                           ("EXPECT_ONE_OF(cuX(), CUDA_ERROR_UNKNOWN);", {("cuX", "CUDA_ERROR_UNKNOWN")}),
                           ("EXPECT_CUDA(f(cuX()), CUDA_ERROR_UNKNOWN);", set())):
        assert expected_in(text, plain, None) == expected, text
    assert expected_in("EXPECT_EQ(cudaMemcpy(a), cudaErrorInvalidValue);", None, per_thread) == {("cudaMemcpy_ptds", "cudaErrorInvalidValue")}
    assert ("cuMemAlloc_v2", True) in functions("driver") and ("cuCtxSynchronize", False) in functions("driver")


def main():
    self_test()
    errors, untested = expected_errors(), []
    for table in TABLES:
        print(line(table, errors))
        untested += without_error(table, errors)
        if "--codes" in sys.argv:
            for name, _ in functions(table):
                print(f"{name}\t{' '.join(sorted(errors.get(name, ())))}")
    if untested:
        sys.exit("no test expects an error of " + ", ".join(untested))


if __name__ == "__main__":
    main()
