"""The names of parameters, from source text alone."""

import pytest
from cupola._signature import kernel_names, parameter_names


@pytest.mark.parametrize(("source", "names"), [
    ("__global__ void f(float* x, float factor, int n)", ["x", "factor", "n"]),
    ("__global__ void f()", []),
    ("__global__ void f(void)", []),
    ('extern "C" __global__ __launch_bounds__(256, 2) void f(const float *__restrict__ a, unsigned const b = 3)', ["a", "b"]),
    ("template <typename T, int N = (1 < 2)> __global__ void f(T (*table)[N], std::pair<int, float> both, T (&apply)(T), int list[4][N])",
     ["table", "both", "apply", "list"]),
    ("// __global__ void f(int wrong)\n/* f(int wrong) */ __global__ void f(int right /* , int no */)", ["right"]),
    ("__device__ int f(int); __global__ void g(int a) { f(1); } __global__ void f(int of_kernel)", ["of_kernel"]),
    ("__global__ void f(int, float); __global__ void f(int first, float second) {}", ["first", "second"]),
    ("__global__ void f(int, float)", None),
    ("__global__ void f(unsigned int)", None),
    ("__global__ void f(std::size_t n, ns::Type)", None),
    ("__global__ void f(PARAMETERS)", None),
    ('const char* s = "__global__ void f(int no)"; __global__ void f(int yes)', ["yes"]),
])
def test_parameter_names(source, names):
    assert parameter_names(source + " {}", "f") == names


def test_kernel_names():
    source = """__device__ void no(); template <class T> __global__ void a(T x) {} // __global__ void b()
    namespace n { extern "C" __global__ void __launch_bounds__(128) c(int y) { no(); } } __launch_bounds__(32) __global__ void d();"""
    assert kernel_names(source) == ["a", "c", "d"]
