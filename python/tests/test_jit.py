"""cupola.jit: CUDA C++ to kernels that are called from Python. NumPy is the judge of what they compute."""

import inspect
import re
import threading

import cupola
import numpy as np
import pytest
from cupola import _jit

SCALE = """
__global__ void scale(float* x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}
"""


@pytest.fixture
def scale():
    return cupola.jit(SCALE, "scale")


@pytest.fixture
def x():
    return np.arange(1000, dtype=np.float32)


def test_arrays_are_changed_in_place(scale, x):
    scale[4, 256](x, 2.0, x.size)
    assert np.array_equal(x, 2 * np.arange(1000))


def test_call_by_name_covers_the_largest_array(scale, x):
    scale(x, factor=2.0, n=10)
    scale(n=1000, factor=0.5, x=x)
    assert np.array_equal(x, np.concatenate([np.arange(10), np.arange(10, 1000) / 2]).astype(np.float32))


def test_forall_starts_enough_threads(scale, x):
    scale.forall(999, threads=32)(x, 2.0, 999)
    assert x[998] == 2 * 998 and x[999] == 999


def test_the_only_kernel_needs_no_name(x):
    assert cupola.jit(SCALE).name == "scale"
    with pytest.raises(ValueError, match="2 kernels: a, b: say the name of one"):
        cupola.jit("__global__ void a() {} __global__ void b(int n) {}")
    with pytest.raises(ValueError, match="no kernel: a kernel is a function with __global__"):
        cupola.jit("int f() { return 1; }")


def test_signature_is_the_sources(scale):
    assert str(inspect.signature(scale)) == "(x: 'float*', factor: 'float', n: 'int')"
    assert repr(scale) == "<cupola.Kernel scale(float* x, float factor, int n)>"


def test_the_same_source_is_compiled_once(scale):
    assert cupola.jit(SCALE, "scale") is scale
    assert cupola.jit(SCALE, "scale", ["-DX"]) is not scale


def test_gaps_and_transposes_are_copied_in_and_out():
    kernel = cupola.jit("__global__ void number(int* x) { x[threadIdx.x] = 10 * x[threadIdx.x] + threadIdx.x; }")
    whole = np.arange(24, dtype=np.int32).reshape(4, 6)
    part = whole[1:3, ::2].T
    wanted = 10 * part + np.arange(6).reshape(part.shape)
    kernel[1, 6](part)
    assert np.array_equal(part, wanted)
    assert np.array_equal(whole[0], np.arange(6)) and np.array_equal(whole[1, 1::2], [7, 9, 11])


def test_const_pointers_take_read_only_arrays():
    kernel = cupola.jit("__global__ void copy(const double* from, double* to) { to[threadIdx.x] = from[threadIdx.x]; }")
    source, target = np.random.default_rng(1).random((2, 32))
    source.flags.writeable = False
    kernel[1, 32](source, target)
    assert np.array_equal(source, target)
    with pytest.raises(ValueError, match=r"'to' \(double\*\): the array is read-only, and the kernel may write it"):
        kernel[1, 32](target, source)


SCALARS = [("bool", True, "?"), ("signed char", -128, "b"), ("unsigned char", 255, "B"), ("short", -(2**15), "h"), ("unsigned short", 2**16 - 1, "H"),
           ("int", -(2**31), "i"), ("unsigned", 2**32 - 1, "I"), ("long", -(2**63), "q"), ("long long", 2**63 - 1, "q"),
           ("unsigned long long", 2**64 - 1, "Q"), ("float", 1 / 3, "f"), ("double", 1 / 3, "d"), ("char", -128, "b")]


@pytest.mark.parametrize(("type_", "value", "code"), SCALARS, ids=[s[0].replace(" ", "-") for s in SCALARS])
def test_scalars_become_the_declared_type(type_, value, code):
    kernel = cupola.jit(f"__global__ void keep({type_}* out, {type_} value) {{ *out = value; }}")
    out = np.zeros(1, code)
    kernel[1, 1](out, value)
    assert out[0] == np.array(value, code)
    kernel[1, 1](out, np.array(value, code)[()])
    assert out[0] == np.array(value, code)


@pytest.mark.parametrize(("type_", "value"), [("signed char", 128), ("signed char", -129), ("unsigned char", 256), ("unsigned char", -1), ("int", 2**31),
                                             ("unsigned", 2**32), ("long long", 2**63), ("unsigned long long", -1), ("float", 1e39)],
                         ids=lambda v: str(v).replace(" ", "-"))
def test_scalars_out_of_range_are_refused(type_, value):
    kernel = cupola.jit(f"__global__ void take({type_} value) {{}}")
    with pytest.raises(OverflowError, match=r"argument 'value' \(.*out of the type's range"):
        kernel[1, 1](value)


@pytest.mark.parametrize(("call", "message"), [
    (lambda k, x: k(x, 2.0), "scale: no argument for 'n' (int)"),
    (lambda k, x: k(x, 2.0, 3, 4), "takes 3 arguments; 4 were given"),
    (lambda k, x: k(x, 2.0, 3, n=4), "argument 'n' is given twice"),
    (lambda k, x: k(x, 2.0, m=4), "has no parameter 'm'"),
    (lambda k, x: k(x, "two", 3), "argument 'factor' (float): 'two' does not fit: a number is needed"),
    (lambda k, x: k(x, 2.0, 3.5), "argument 'n' (int): 3.5 does not fit: an integer is needed"),
    (lambda k, x: k([1.0], 2.0, 1), "argument 'x' (float*): a list cannot be handed to a pointer: give a NumPy array"),
    (lambda k, x: k(x.astype(np.float64), 2.0, 1), "argument 'x' (float*): the array has dtype float64: give x.astype(np.float32)"),
    (lambda k, x: k(x.astype(np.int32), 2.0, 1), "argument 'x' (float*): the array has dtype int32: give x.astype(np.float32)"),
    (lambda k, x: k(x.astype(">f4"), 2.0, 1), "of the other byte order"),
    (lambda k, x: cupola.jit("__global__ void f(int n) {}")(1), "without arrays, say how many threads"),
], ids=["missing", "too-many", "twice", "unknown", "text", "fraction", "list", "float64", "int32", "byte-order", "no-arrays"])
def test_wrong_arguments_are_explained(scale, x, call, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        call(scale, x)
    assert np.array_equal(x, np.arange(1000))


@pytest.mark.parametrize("configuration", [(0, 1), (1, 0), (1, -5), ((1, 1, 1, 1), 1), (1.5, 1), (1,), (1, 1, None, 0, 0)], ids=str)
def test_impossible_shapes_are_refused(scale, configuration):
    with pytest.raises(ValueError, match="blocks|threads|launch"):
        scale[configuration]


def test_the_drivers_reason_is_in_the_message(scale, x):
    with pytest.raises(cupola.CudaError, match=r"^cuLaunchKernel: .*\(CUDA_ERROR_INVALID_VALUE\): block.x is 2000; it may be 1 to 1024$") as caught:
        scale[1, 2000](x, 1.0, 1)
    assert (caught.value.code, caught.value.name) == (1, "CUDA_ERROR_INVALID_VALUE")


def test_compiler_messages_name_the_users_lines():
    with pytest.raises(cupola.CompileError, match=r"mine\.cu(\(3\)|:3)") as caught:
        cupola.jit("\n__global__ void f(int n) {\n  undeclared();\n}", "f", file="mine.cu")
    assert "undeclared" in caught.value.log and "cupola.jit" not in str(caught.value)


@pytest.mark.parametrize(("source", "name", "message"), [
    ("__global__ void f(int a) {}", "g", "the source has no kernel 'g'; it has f"),
    ("void f(int a);", "g", "the source has no kernel 'g': a kernel is a function with __global__"),
    ("__global__ void f(int a) {} __global__ void f(float a) {}", "f", "'f' is overloaded"),
    ("namespace n { __global__ void f(int a) {} }", "f", "'f' cannot be found by that name"),
    ("template <class T> __global__ void f(T a) {}", "f", "'f' (is overloaded|cannot be found by that name)"),
], ids=["unknown", "no-kernels", "overloaded", "in-a-namespace", "template"])
def test_wrong_names_are_explained(source, name, message):
    with pytest.raises(cupola.CompileError, match=message):
        cupola.jit(source, name)


def test_templates_and_namespaces_by_their_names():
    source = "namespace n { template <class T> __global__ void add(T* x, T by) { x[threadIdx.x] += by; } }"
    for dtype, name in ((np.float64, "double"), (np.int16, "short")):
        x = np.arange(8, dtype=dtype)
        cupola.jit(source, f"n::add<{name}>")[1, 8](x, by=3)
        assert np.array_equal(x, np.arange(3, 11))


def test_typedefs_macros_and_defaults_have_the_compilers_types():
    source = """
    #define KERNEL __global__ void
    typedef unsigned long long key; enum Way { up, down };
    KERNEL f(const key* __restrict__ keys /* sorted, ascending */, Way way);
    __global__ void g(const key *__restrict__ keys, // sorted
                      Way way, float values[], void* anything) { values[0] = way + keys[1]; }
    """
    kernel = cupola.jit(source, "g")
    assert repr(kernel) == "<cupola.Kernel g(const unsigned long long* keys, int way, float* values, void* anything)>"
    values = np.zeros(1, np.float32)
    kernel(keys=np.array([5, 7], np.uint64), way=1, values=values, anything=None)
    assert values[0] == 8


def test_structures_go_as_bytes_of_their_layout():
    kernel = cupola.jit("struct Point { float x; double y; int z[2]; }; __global__ void f(Point p, double* out) { *out = p.x + p.y + p.z[1]; }")
    point = np.zeros((), np.dtype([("x", "f4"), ("y", "f8"), ("z", "i4", 2)], align=True))
    point["x"], point["y"], point["z"] = 1, 2, (3, 4)
    out = np.zeros(1)
    kernel[1, 1](point, out)
    kernel[1, 1](point[()].tobytes(), out)
    assert out[0] == 7
    with pytest.raises(TypeError, match=r"argument 'p' \(a type of 24 bytes\): it has 24 bytes, the value has 3"):
        kernel[1, 1](b"abc", out)


def test_dynamic_shared_memory_above_48_kib():
    kernel = cupola.jit("extern __shared__ int s[]; __global__ void f(int* out, int n) { s[n - 1] = n; *out = s[n - 1]; }")
    out = np.zeros(1, np.int32)
    kernel[1, 1, None, 64 << 10](out, 16 << 10)
    assert out[0] == 16 << 10


def test_a_launch_with_less_shared_memory_leaves_others_theirs():
    kernel = cupola.jit("extern __shared__ int s[]; __global__ void g(int* out) { s[0] = 1; *out = s[0]; }")
    out = cupola.Buffer(1, np.int32)
    for kib in (100, 64, 8):
        kernel[1, 1, None, kib << 10](out)
    assert kernel._kernel.attribute(8) == 100 << 10  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


def test_another_source_compiles_meanwhile(monkeypatch):
    compile_source, begun, go = _jit._nvrtc.compile_source, threading.Event(), threading.Event()

    def slow(source, *arguments):
        if "slow" in source:
            begun.set()
            assert go.wait(60)
        return compile_source(source, *arguments)

    monkeypatch.setattr(_jit._nvrtc, "compile_source", slow)
    threads = [threading.Thread(target=cupola.jit, args=(f"__global__ void {name}(int* x) {{ *x = 1; }}",)) for name in ("slow", "quick")]
    threads[0].start()
    assert begun.wait(60)
    threads[1].start()
    threads[1].join(10)
    quick_is_done = not threads[1].is_alive()
    go.set()
    for thread in threads:
        thread.join(60)
    assert quick_is_done


def test_three_dimensions():
    kernel = cupola.jit("__global__ void f(int* x) { x[(blockIdx.z * 2 + blockIdx.y) * 12 + threadIdx.y * 4 + threadIdx.x] = blockIdx.z * 100 + threadIdx.y * 10 + threadIdx.x; }")
    x = np.zeros((3, 2, 3, 4), np.int32)
    kernel[(1, 2, 3), (4, 3)](x)
    z, _, j, i = np.indices(x.shape)
    assert np.array_equal(x, 100 * z + 10 * j + i)


def test_a_fault_is_an_error_that_names_the_kernel_and_reset_begins_anew(python):
    """In a process of its own, which it breaks."""
    out = python("""
import cupola, numpy as np
broken = cupola.jit("__global__ void broken(int* x) { x[threadIdx.x] = 1; }")
try:
    broken[1, 4](None)
    cupola.synchronize()
except cupola.CudaError as error:
    print(error.name, "broken" in str(error))
cupola.devices()[0].reset()
x = np.zeros(4, np.int32)
cupola.jit("__global__ void broken(int* x) { x[threadIdx.x] = 1; }")[1, 4](x)
print(x.tolist())
""")
    assert out == "CUDA_ERROR_ILLEGAL_ADDRESS True\n[1, 1, 1, 1]\n"


def test_attributes_say_what_a_block_takes():
    kernel = cupola.jit("__global__ void __launch_bounds__(128) f(int* x) { __shared__ int s[100]; s[threadIdx.x] = *x; __syncthreads(); *x = s[0]; }")
    assert kernel.attributes["shared_bytes"] == 400 and kernel.attributes["max_threads_per_block"] == 128
