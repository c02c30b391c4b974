#pragma once

// Warp matrix functions: "CUDA C++ Programming Guide, Warp Matrix Functions". Each is one wmma instruction; fragments
// are its registers. A fragment's elements lie where the implementation likes: x[i] of two fragments of one type is the
// same element, and no more is promised.

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

#if defined(__CUDA__) && defined(__cplusplus)

/// Rounds to tf32, whose bits are the top 19 of a float's: to nearest, ties away from zero.
static __device__ __inline__ float __float_to_tf32(float value) {
  unsigned int result;
  __asm__("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(value));
  return __uint_as_float(result);
}

namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

namespace details {
/// `count` elements of which memory holds Storage.
template <typename Element, typename Storage, int count>
struct alignas(sizeof(Storage) * count < 16 ? sizeof(Storage) * count : 16) elements {
  using element_type = Element;
  using storage_element_type = Storage;
  enum { num_elements = count, num_storage_elements = count };
  Storage x[count];
};
}  // namespace details

template <typename Use, int m, int n, int k, typename T, typename Layout = void>
class fragment;

template <typename Use, int m, int n, int k, typename T, typename Layout, typename Value>
static __device__ __inline__ void fill_fragment(fragment<Use, m, n, k, T, Layout>& f, const Value& value) {
  for (int i = 0; i < (int)f.num_elements; ++i) f.x[i] = value;
}

#define CUPOLA_WMMA static __device__ __inline__ __attribute__((always_inline))

// The registers of one fragment, `name`: as the instruction's text names them, and as operands with constraint `c`.
#define CUPOLA_LIST_1(name) "{%[" #name "0]}"
#define CUPOLA_LIST_2(name) "{%[" #name "0], %[" #name "1]}"
#define CUPOLA_LIST_4(name) "{%[" #name "0], %[" #name "1], %[" #name "2], %[" #name "3]}"
#define CUPOLA_LIST_8(name)                                                                                  \
  "{%[" #name "0], %[" #name "1], %[" #name "2], %[" #name "3], %[" #name "4], %[" #name "5], %[" #name "6]" \
  ", %[" #name "7]}"
#define CUPOLA_OPERANDS_1(name, c) [name##0] c(name[0])
#define CUPOLA_OPERANDS_2(name, c) CUPOLA_OPERANDS_1(name, c), [name##1] c(name[1])
#define CUPOLA_OPERANDS_4(name, c) CUPOLA_OPERANDS_2(name, c), [name##2] c(name[2]), [name##3] c(name[3])
#define CUPOLA_OPERANDS_8(name, c) \
  CUPOLA_OPERANDS_4(name, c), [name##4] c(name[4]), [name##5] c(name[5]), [name##6] c(name[6]), [name##7] c(name[7])
#define CUPOLA_SHAPE(m, n, k) ".m" #m "n" #n "k" #k

#define CUPOLA_READ(type, name, count, fragment) \
  type name[count];                              \
  __builtin_memcpy(name, (fragment).x, sizeof name)

#define CUPOLA_LOAD(piece, layout, m, n, k, ptx, type, constraint, count, to, from, stride)  \
  type d[count];                                                                             \
  __asm__ volatile("wmma.load." piece ".sync.aligned" layout CUPOLA_SHAPE(                   \
                       m, n, k) "." ptx " " CUPOLA_LIST_##count(d) ", [%[from]], %[stride];" \
                   : CUPOLA_OPERANDS_##count(d, "=" constraint)                              \
                   : [from] "l"(from), [stride] "r"(stride)                                  \
                   : "memory");                                                              \
  __builtin_memcpy((to).x, d, sizeof d)

// A factor: its fragments for both layouts, and their loads.
#define CUPOLA_FACTOR_OF(use, piece, layout, m, n, k, T, S, P, elements_count, ptx, type, constraint, count)        \
  template <>                                                                                                       \
  class fragment<use, m, n, k, T, layout##_major> : public details::elements<T, S, elements_count> {};              \
  CUPOLA_WMMA void load_matrix_sync(fragment<use, m, n, k, T, layout##_major>& f, const P* from, unsigned stride) { \
    CUPOLA_LOAD(piece, "." #layout, m, n, k, ptx, type, constraint, count, f, from, stride);                        \
  }
#define CUPOLA_FACTORS(m, n, k, T, S, ptx, type, constraint, elements_a, count_a, elements_b, count_b) \
  CUPOLA_FACTOR_OF(matrix_a, "a", row, m, n, k, T, S, S, elements_a, ptx, type, constraint, count_a)   \
  CUPOLA_FACTOR_OF(matrix_a, "a", col, m, n, k, T, S, S, elements_a, ptx, type, constraint, count_a)   \
  CUPOLA_FACTOR_OF(matrix_b, "b", row, m, n, k, T, S, S, elements_b, ptx, type, constraint, count_b)   \
  CUPOLA_FACTOR_OF(matrix_b, "b", col, m, n, k, T, S, S, elements_b, ptx, type, constraint, count_b)

// An accumulator: its fragment, loads and stores.
#define CUPOLA_STORE(layout, m, n, k, ptx, constraint, count, to, stride)                       \
  __asm__ volatile("wmma.store.d.sync.aligned" layout CUPOLA_SHAPE(                             \
                       m, n, k) "." ptx " [%[to]], " CUPOLA_LIST_##count(d) ", %[stride];"      \
                   :                                                                            \
                   : [to] "l"(to), [stride] "r"(stride), CUPOLA_OPERANDS_##count(d, constraint) \
                   : "memory")
#define CUPOLA_ACCUMULATOR(m, n, k, T, ptx, type, constraint, elements_count, count)                      \
  template <>                                                                                             \
  class fragment<accumulator, m, n, k, T> : public details::elements<T, T, elements_count> {};            \
  CUPOLA_WMMA void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* from, unsigned stride, \
                                    layout_t layout) {                                                    \
    if (layout == mem_row_major) {                                                                        \
      CUPOLA_LOAD("c", ".row", m, n, k, ptx, type, constraint, count, f, from, stride);                   \
    } else {                                                                                              \
      CUPOLA_LOAD("c", ".col", m, n, k, ptx, type, constraint, count, f, from, stride);                   \
    }                                                                                                     \
  }                                                                                                       \
  CUPOLA_WMMA void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& f, unsigned stride,  \
                                     layout_t layout) {                                                   \
    CUPOLA_READ(type, d, count, f);                                                                       \
    if (layout == mem_row_major)                                                                          \
      CUPOLA_STORE(".row", m, n, k, ptx, constraint, count, to, stride);                                  \
    else                                                                                                  \
      CUPOLA_STORE(".col", m, n, k, ptx, constraint, count, to, stride);                                  \
  }

// A product: D's and C's registers (type, constraint, count), those of A and B. `types` is what follows the shape.
#define CUPOLA_PRODUCT_TEXT(text, td, cd, nd, tc, cc, nc, tab, cab, na, nb)                                \
  __asm__ volatile("wmma.mma" text " " CUPOLA_LIST_##nd(d) ", " CUPOLA_LIST_##na(a) ", " CUPOLA_LIST_##nb( \
                       b) ", " CUPOLA_LIST_##nc(c) ";"                                                     \
                   : CUPOLA_OPERANDS_##nd(d, "=" cd)                                                       \
                   : CUPOLA_OPERANDS_##na(a, cab), CUPOLA_OPERANDS_##nb(b, cab), CUPOLA_OPERANDS_##nc(c, cc))
#define CUPOLA_PRODUCT_OF(la, lb, m, n, k, T, D, C, types, td, cd, nd, tc, cc, nc, tab, cab, na, nb, saturated)       \
  CUPOLA_WMMA void mma_sync(fragment<accumulator, m, n, k, D>& fd,                                                    \
                            const fragment<matrix_a, m, n, k, T, la##_major>& fa,                                     \
                            const fragment<matrix_b, m, n, k, T, lb##_major>& fb,                                     \
                            const fragment<accumulator, m, n, k, C>& fc, bool saturate = false) {                     \
    CUPOLA_READ(tab, a, na, fa);                                                                                      \
    CUPOLA_READ(tab, b, nb, fb);                                                                                      \
    CUPOLA_READ(tc, c, nc, fc);                                                                                       \
    td d[nd];                                                                                                         \
    if (saturate)                                                                                                     \
      CUPOLA_PRODUCT_TEXT(".sync.aligned." #la "." #lb CUPOLA_SHAPE(m, n, k) types saturated, td, cd, nd, tc, cc, nc, \
                          tab, cab, na, nb);                                                                          \
    else                                                                                                              \
      CUPOLA_PRODUCT_TEXT(".sync.aligned." #la "." #lb CUPOLA_SHAPE(m, n, k) types, td, cd, nd, tc, cc, nc, tab, cab, \
                          na, nb);                                                                                    \
    __builtin_memcpy(fd.x, d, sizeof d);                                                                              \
  }
#define CUPOLA_PRODUCT(...)                \
  CUPOLA_PRODUCT_OF(row, col, __VA_ARGS__) \
  CUPOLA_PRODUCT_OF(row, row, __VA_ARGS__) \
  CUPOLA_PRODUCT_OF(col, col, __VA_ARGS__) \
  CUPOLA_PRODUCT_OF(col, row, __VA_ARGS__)

#define CUPOLA_HALF(m, n, k)                                                                                           \
  CUPOLA_FACTORS(m, n, k, __half, __half, "f16", unsigned, "r", 16, 8, 16, 8)                                          \
  CUPOLA_ACCUMULATOR(m, n, k, __half, "f16", unsigned, "r", 8, 4)                                                      \
  CUPOLA_ACCUMULATOR(m, n, k, float, "f32", float, "f", 8, 8)                                                          \
  CUPOLA_ACCUMULATOR(m, n, k, int, "s32", int, "r", 8, 8)                                                              \
  CUPOLA_PRODUCT(m, n, k, __half, float, float, ".f32.f32", float, "f", 8, float, "f", 8, unsigned, "r", 8, 8, "")     \
  CUPOLA_PRODUCT(m, n, k, __half, __half, __half, ".f16.f16", unsigned, "r", 4, unsigned, "r", 4, unsigned, "r", 8, 8, \
                 "")                                                                                                   \
  CUPOLA_PRODUCT(m, n, k, __half, float, __half, ".f32.f16", float, "f", 8, unsigned, "r", 4, unsigned, "r", 8, 8, "") \
  CUPOLA_PRODUCT(m, n, k, __half, __half, float, ".f16.f32", unsigned, "r", 4, float, "f", 8, unsigned, "r", 8, 8, "")
#define CUPOLA_BFLOAT(m, n, k, elements_a, na, elements_b, nb)                                                       \
  CUPOLA_FACTORS(m, n, k, __nv_bfloat16, __nv_bfloat16, "bf16", unsigned, "r", elements_a, na, elements_b, nb)       \
  CUPOLA_PRODUCT(m, n, k, __nv_bfloat16, float, float, ".f32.bf16.bf16.f32", float, "f", 8, float, "f", 8, unsigned, \
                 "r", na, nb, "")
#define CUPOLA_BYTE(m, n, k, T, ptx, elements_a, na, elements_b, nb)                                                \
  CUPOLA_FACTORS(m, n, k, T, T, ptx, unsigned, "r", elements_a, na, elements_b, nb)                                 \
  CUPOLA_PRODUCT(m, n, k, T, int, int, ".s32." ptx "." ptx ".s32", int, "r", 8, int, "r", 8, unsigned, "r", na, nb, \
                 ".satfinite")

CUPOLA_HALF(16, 16, 16)
CUPOLA_HALF(8, 32, 16)
CUPOLA_HALF(32, 8, 16)
CUPOLA_BFLOAT(16, 16, 16, 8, 4, 8, 4)
CUPOLA_BFLOAT(8, 32, 16, 4, 2, 16, 8)
CUPOLA_BFLOAT(32, 8, 16, 16, 8, 4, 2)
CUPOLA_BYTE(16, 16, 16, signed char, "s8", 8, 2, 8, 2)
CUPOLA_BYTE(8, 32, 16, signed char, "s8", 4, 1, 16, 4)
CUPOLA_BYTE(32, 8, 16, signed char, "s8", 16, 4, 4, 1)
CUPOLA_BYTE(16, 16, 16, unsigned char, "u8", 8, 2, 8, 2)
CUPOLA_BYTE(8, 32, 16, unsigned char, "u8", 4, 1, 16, 4)
CUPOLA_BYTE(32, 8, 16, unsigned char, "u8", 16, 4, 4, 1)

CUPOLA_FACTORS(16, 16, 8, precision::tf32, float, "tf32", unsigned, "r", 4, 4, 4, 4)
CUPOLA_ACCUMULATOR(16, 16, 8, float, "f32", float, "f", 8, 8)
CUPOLA_PRODUCT(16, 16, 8, precision::tf32, float, float, ".f32.tf32.tf32.f32", float, "f", 8, float, "f", 8, unsigned,
               "r", 4, 4, "")

CUPOLA_FACTORS(8, 8, 4, double, double, "f64", double, "d", 1, 1, 1, 1)
CUPOLA_ACCUMULATOR(8, 8, 4, double, "f64", double, "d", 2, 2)
CUPOLA_PRODUCT(8, 8, 4, double, double, double, ".f64.f64.f64.f64", double, "d", 2, double, "d", 2, double, "d", 1, 1,
               "")

// Less than a byte: memory is given as void, and a fragment's only element is a word of them.
#define CUPOLA_NARROW(k, T, ptx)                                                                                      \
  CUPOLA_FACTOR_OF(matrix_a, "a", row, 8, 8, k, experimental::precision::T, unsigned, void, 1, ptx, unsigned, "r", 1) \
  CUPOLA_FACTOR_OF(matrix_b, "b", col, 8, 8, k, experimental::precision::T, unsigned, void, 1, ptx, unsigned, "r", 1)
CUPOLA_NARROW(32, s4, "s4")
CUPOLA_NARROW(32, u4, "u4")
CUPOLA_NARROW(128, b1, "b1")
CUPOLA_ACCUMULATOR(8, 8, 32, int, "s32", int, "r", 2, 2)
CUPOLA_ACCUMULATOR(8, 8, 128, int, "s32", int, "r", 2, 2)
CUPOLA_PRODUCT_OF(row, col, 8, 8, 32, experimental::precision::s4, int, int, ".s32.s4.s4.s32", int, "r", 2, int, "r", 2,
                  unsigned, "r", 1, 1, ".satfinite")
CUPOLA_PRODUCT_OF(row, col, 8, 8, 32, experimental::precision::u4, int, int, ".s32.u4.u4.s32", int, "r", 2, int, "r", 2,
                  unsigned, "r", 1, 1, ".satfinite")

CUPOLA_WMMA void bmma_sync(fragment<accumulator, 8, 8, 128, int>& fd,
                           const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major>& fa,
                           const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major>& fb,
                           const fragment<accumulator, 8, 8, 128, int>& fc,
                           experimental::bmmaBitOp operation = experimental::bmmaBitOpXOR,
                           experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
  CUPOLA_READ(unsigned, a, 1, fa);
  CUPOLA_READ(unsigned, b, 1, fb);
  CUPOLA_READ(int, c, 2, fc);
  int d[2];
  if (operation == experimental::bmmaBitOpXOR)
    CUPOLA_PRODUCT_TEXT(".xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", int, "r", 2, int, "r", 2, unsigned,
                        "r", 1, 1);
  else
    CUPOLA_PRODUCT_TEXT(".and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", int, "r", 2, int, "r", 2, unsigned,
                        "r", 1, 1);
  __builtin_memcpy(fd.x, d, sizeof d);
}

#undef CUPOLA_NARROW
#undef CUPOLA_BYTE
#undef CUPOLA_BFLOAT
#undef CUPOLA_HALF
#undef CUPOLA_PRODUCT
#undef CUPOLA_PRODUCT_OF
#undef CUPOLA_PRODUCT_TEXT
#undef CUPOLA_ACCUMULATOR
#undef CUPOLA_STORE
#undef CUPOLA_FACTORS
#undef CUPOLA_FACTOR_OF
#undef CUPOLA_LOAD
#undef CUPOLA_READ
#undef CUPOLA_SHAPE
#undef CUPOLA_OPERANDS_8
#undef CUPOLA_OPERANDS_4
#undef CUPOLA_OPERANDS_2
#undef CUPOLA_OPERANDS_1
#undef CUPOLA_LIST_8
#undef CUPOLA_LIST_4
#undef CUPOLA_LIST_2
#undef CUPOLA_LIST_1
#undef CUPOLA_WMMA

}  // namespace wmma
}  // namespace nvcuda

#endif
