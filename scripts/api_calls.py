"""Which exported API functions the test sources call and expect to succeed, found in their text without comments and strings.

A call within an expectation of an error, EXPECT_CUDA(cuMemAlloc(nullptr, 16), CUDA_ERROR_INVALID_VALUE) or EXPECT(cuMemFree(p) !=
CUDA_SUCCESS), shows nothing of what the function does.

cuda.h and cuda_runtime_api.h rename functions: cuMemAlloc means cuMemAlloc_v2, and in a program for per-thread default streams
cudaMemcpy means cudaMemcpy_ptds. Each source's names are read through the renames of the ways it is compiled.
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include" / "cuda"
SOURCES = ("src/**/*_test.cpp", "src/**/*_test.c", "tools/**/*_test.cpp", "tests/**/*.cpp", "tests/**/*.cu", "tests/**/*.h", "tests/**/*.c")
NOT_CODE = re.compile(r"""//[^\n]* | /\*.*?\*/ | R"(?P<mark>\w*)\(.*?\)(?P=mark)" | "(?:\\.|[^"\\\n])*" | (?<!\w)'(?:\\.|[^'\\\n])*' """,
                      re.S | re.X)
NAME = re.compile(r"\b(?:(?:__)?cu[A-Z_a-z]|nvml[A-Z])\w*")
EXPECTATION = re.compile(r"\b(?:EXPECT|ASSERT)(?:_\w+)?\(")
ERROR = re.compile(r"\b(?:CUDA_ERROR_\w+|cudaError[A-Z]\w*|NVML_ERROR_\w+)\b|!=\s*(?:CUDA_SUCCESS|cudaSuccess|NVML_SUCCESS)\b")
# Functions that cannot succeed: a call that is refused is all that a test can show.
ONLY_REFUSED = {
    **dict.fromkeys(("cuDeviceGetP2PAtomicCapabilities", "cudaDeviceEnablePeerAccess", "cudaDeviceDisablePeerAccess", "cudaDeviceGetP2PAttribute",
                     "cudaDeviceGetP2PAtomicCapabilities"), "a device is no peer of its own"),
    **dict.fromkeys((f"{api}{array}Get{what}" for api in ("cu", "cuda") for array in ("Array", "MipmappedArray")
                     for what in ("Plane", "SparseProperties", "MemoryRequirements")), "no array has planes, is sparse or gets its memory later"),
}
# What compiled code calls for <<<...>>> and for the program's own kernels and variables.
BY_COMPILERS = {"<<<": ("__cudaPushCallConfiguration", "__cudaPopCallConfiguration", "cudaLaunchKernel"),
                "__global__": ("__cudaRegisterFatBinary", "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary", "__cudaRegisterFunction"),
                "__managed__": ("__cudaRegisterManagedVar", "__cudaInitModule"),
                "__constant__": ("__cudaRegisterVar",)}


def code_of(text):
    """C++ text without comments and without what strings hold."""
    return NOT_CODE.sub(" ", text)


def end_of_call(code, start):
    """Where the parenthesis is closed that was opened before `start`."""
    depth = 1
    for i in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if not depth:
            return i + 1
    return len(code)


def without_expected_errors(code):
    kept, at = [], 0
    for check in EXPECTATION.finditer(code):
        end = end_of_call(code, check.end())
        if check.start() >= at and ERROR.search(code, check.end(), end):
            kept.append(code[at:check.start()])
            at = end
    return "".join(kept) + code[at:]


def renames():
    """What a plain name means, and what it means for per-thread default streams."""
    plain, per_thread = {}, {}
    for path in sorted(HEADERS.rglob("*.h")):
        depth, special = 0, None
        for line in path.read_text().splitlines():
            if re.match(r"#\s*if", line):
                depth += 1
                if special is None and "PER_THREAD_DEFAULT_STREAM" in line:
                    special = depth
            elif re.match(r"#\s*else", line) and special == depth:
                special = None
            elif re.match(r"#\s*endif", line):
                special = None if special == depth else special
                depth -= 1
            match = re.match(r"#\s*define ((?:__)?cu\w+|nvml\w+) ((?:__)?cu\w+|nvml\w+)$", line)
            if match:
                (per_thread if special is not None else plain)[match[1]] = match[2]
    return plain, {**plain, **per_thread}


def per_thread_sources():
    """Names of the API tests that tests/CMakeLists.txt compiles for per-thread streams only, and of those it compiles again."""
    text = (ROOT / "tests" / "CMakeLists.txt").read_text()
    only = set(re.findall(r'name STREQUAL "(\w+)"\)\s*cupola_api_test\([^)]*--default-stream per-thread', text))
    again = re.search(r"foreach\(name ([\w\s]+)\)\s*cupola_api_test\(per_thread_", text)
    return only, set(again[1].split())


def read_through(names, code, meaning):
    undefined = set(re.findall(r"#\s*undef (\w+)", code))
    found = set()
    for name in names:
        while name in meaning and name not in undefined:
            name = meaning[name]
        found.add(name)
    return found


def called_in(text, plain, per_thread, refused=False):
    """Exported names that a source with this text calls, with `refused` also where it expects an error; `plain` and `per_thread`
    are the renames it is compiled with, or None."""
    code = code_of(text) if refused else without_expected_errors(code_of(text))
    names = set(NAME.findall(re.sub(r"#\s*undef \w+", "", code)))
    for sign, calls in BY_COMPILERS.items():
        if sign in code:
            names |= set(calls)
    return set().union(*(read_through(names, code, meaning) for meaning in (plain, per_thread) if meaning is not None))


def sources():
    """(text, plain, per_thread) of each test source: its renames, as called_in takes them."""
    plain, per_thread = renames()
    only, again = per_thread_sources()
    for path in sorted({path for pattern in SOURCES for path in ROOT.glob(pattern)}):
        text, name = path.read_text(errors="replace"), path.stem
        special = name in only or re.search(r"^#\s*define CUDA_API_PER_THREAD_DEFAULT_STREAM", text, re.M)
        yield text, None if special else plain, per_thread if special or name in again else None


def called_functions():
    """Names of functions that a test expects to succeed, if they can, or else to refuse."""
    texts = list(sources())
    return set().union(*(called_in(*source) for source in texts), *(called_in(*source, True) & ONLY_REFUSED.keys() for source in texts))


def self_test():
    plain, per_thread = {"cuMemAlloc": "cuMemAlloc_v2"}, {"cuMemAlloc": "cuMemAlloc_v2", "cudaMemcpy": "cudaMemcpy_ptds"}
    for text, plainly, for_threads in (
            ("cuInit(0); // cuCtxCreate()\n/* cuCtxDestroy */", {"cuInit"}, {"cuInit"}),
            ('puts("cuInit \\" // "); cuMemAlloc(&p, 4);', {"cuMemAlloc_v2"}, {"cuMemAlloc_v2"}),
            ('R"(cuInit())"; cudaMemcpy(a, b, 1\'000, k);', {"cudaMemcpy"}, {"cudaMemcpy_ptds"}),
            ("EXPECT_CUDA(cuInit((1)), CUDA_ERROR_INVALID_VALUE); EXPECT(cuMemAlloc(&p, 0) != CUDA_SUCCESS); EXPECT_CUDA(cuInit(0), CUDA_SUCCESS)",
             {"cuInit"}, {"cuInit"}),
            ("EXPECT_CUDA(cuMemAlloc(&p, 4), CUDA_ERROR_INVALID_VALUE);", set(), set()),
            ("#undef cuMemAlloc\n#undef cuInit\ncuMemAlloc(&p, 4);", {"cuMemAlloc"}, {"cuMemAlloc"})):
        assert called_in(text, plain, None) == plainly, text
        assert called_in(text, None, per_thread) == for_threads, text
    assert called_in("EXPECT_CUDA(cuMemAlloc(&p, 4), CUDA_ERROR_INVALID_VALUE);", plain, None, True) == {"cuMemAlloc_v2"}
    stale = set().union(*(called_in(*source) for source in sources())) & ONLY_REFUSED.keys()
    assert not stale, f"a test expects these to succeed: take them out of ONLY_REFUSED: {stale}"
    assert "cuMemAlloc_v2" in called_functions() and renames()[1]["cudaMemcpy"] == "cudaMemcpy_ptds"


if __name__ == "__main__":
    self_test()
