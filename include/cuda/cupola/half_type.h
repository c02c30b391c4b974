// Included by cuda_fp16.h and cuda_bf16.h, for each 16-bit type: the type, its pair, and conversions. They define
//   CUPOLA_H, CUPOLA_H2              the scalar and the pair
//   CUPOLA_RAW, CUPOLA_RAW2          their bits
//   CUPOLA_OTHER                     the scalar of the other header
//   CUPOLA_WORD                      the type's name in functions: half in __float2half
//   CUPOLA_FRACTION                  bits of its fraction
//   CUPOLA_CONVERSIONS               whether other numbers convert by themselves
//   CUPOLA_OPERATORS, CUPOLA_OPERATORS2   whether the scalar and the pair have operators
// half_operations.h then gives them arithmetic, and undefines these.

#define CUPOLA_BOTH static __host__ __device__ __inline__ __attribute__((always_inline, unused))
#define CUPOLA_MEMBER __host__ __device__ __inline__ __attribute__((always_inline))

#define CUPOLA_PASTE_NOW(a, b, c, d, e) a##b##c##d##e
#define CUPOLA_PASTE(a, b, c, d, e) CUPOLA_PASTE_NOW(a, b, c, d, e)
#define CUPOLA_INTO(from, suffix) CUPOLA_PASTE(__, from##2, CUPOLA_WORD, suffix, )  // __int2half_rn
#define CUPOLA_OUT_OF(to) CUPOLA_PASTE(__, CUPOLA_WORD, 2##to, , )                  // __half2int_rn

#define CUPOLA_BITS(h) __builtin_bit_cast(unsigned short, h)
#define CUPOLA_FROM_BITS(x) __builtin_bit_cast(CUPOLA_H, (unsigned short)(x))
#define CUPOLA_VALUE(h) cupola::halves::widen<CUPOLA_FRACTION>(CUPOLA_BITS(h))
#define CUPOLA_NEAREST(x) CUPOLA_FROM_BITS(cupola::halves::narrow<CUPOLA_FRACTION>(x))

// -- the types --

struct __align__(2) CUPOLA_RAW {
  unsigned short x;
};
struct __align__(4) CUPOLA_RAW2 {
  unsigned short x, y;
};
struct CUPOLA_OTHER;

struct __align__(2) CUPOLA_H {
  CUPOLA_H() = default;
  CUPOLA_MEMBER constexpr CUPOLA_H(const CUPOLA_RAW& raw) : __x(raw.x) {}
  CUPOLA_MEMBER constexpr operator CUPOLA_RAW() const { return {__x}; }
  CUPOLA_MEMBER operator CUPOLA_RAW() const volatile { return {__x}; }
  CUPOLA_MEMBER CUPOLA_H& operator=(const CUPOLA_RAW& raw) {
    __x = raw.x;
    return *this;
  }
  CUPOLA_MEMBER volatile CUPOLA_H& operator=(const CUPOLA_RAW& raw) volatile {
    __x = raw.x;
    return *this;
  }
  CUPOLA_MEMBER volatile CUPOLA_H& operator=(const volatile CUPOLA_RAW& raw) volatile {
    __x = raw.x;
    return *this;
  }
  explicit CUPOLA_MEMBER CUPOLA_H(const CUPOLA_OTHER& x);  // defined where both headers are included

#if CUPOLA_CONVERSIONS
#define CUPOLA_FROM(type) \
  CUPOLA_MEMBER CUPOLA_H(type x) : __x(cupola::halves::narrow<CUPOLA_FRACTION>(cupola::halves::to_odd(x))) {}
#define CUPOLA_INTEGER(type)                                                                    \
  CUPOLA_MEMBER operator type() const {                                                         \
    return cupola::halves::to_integer<type>(CUPOLA_VALUE(__x), cupola::halves::Rounding::Zero); \
  }
#define CUPOLA_FROM_AND_TO(type) CUPOLA_FROM(type) CUPOLA_INTEGER(type)
  CUPOLA_FROM(float)
  CUPOLA_FROM(double)
  CUPOLA_FROM_AND_TO(short)
  CUPOLA_FROM_AND_TO(unsigned short)
  CUPOLA_FROM_AND_TO(int)
  CUPOLA_FROM_AND_TO(unsigned int)
  CUPOLA_FROM_AND_TO(long)
  CUPOLA_FROM_AND_TO(unsigned long)
  CUPOLA_FROM_AND_TO(long long)
  CUPOLA_FROM_AND_TO(unsigned long long)
  CUPOLA_INTEGER(char)
  CUPOLA_INTEGER(signed char)
  CUPOLA_INTEGER(unsigned char)
  CUPOLA_MEMBER operator float() const { return CUPOLA_VALUE(__x); }
  CUPOLA_MEMBER constexpr operator bool() const { return (__x & 0x7fff) != 0; }
#undef CUPOLA_FROM
#undef CUPOLA_INTEGER
#undef CUPOLA_FROM_AND_TO
#endif

 protected:
  unsigned short __x;  // libcu++ derives from this class to reach the bits by this name
};

struct __align__(4) CUPOLA_H2 {
  CUPOLA_H x, y;
  CUPOLA_H2() = default;
  CUPOLA_MEMBER constexpr CUPOLA_H2(const CUPOLA_H& low, const CUPOLA_H& high) : x(low), y(high) {}
  CUPOLA_MEMBER CUPOLA_H2(const CUPOLA_RAW2& raw) : x(CUPOLA_RAW{raw.x}), y(CUPOLA_RAW{raw.y}) {}
  CUPOLA_MEMBER CUPOLA_H2& operator=(const CUPOLA_RAW2& raw) {
    x = CUPOLA_RAW{raw.x}, y = CUPOLA_RAW{raw.y};
    return *this;
  }
  CUPOLA_MEMBER operator CUPOLA_RAW2() const { return {CUPOLA_BITS(x), CUPOLA_BITS(y)}; }
};

// -- to and from other numbers --

#define CUPOLA_FLOAT(suffix, rounding)                                                             \
  CUPOLA_BOTH CUPOLA_H CUPOLA_INTO(float, suffix)(float x) {                                       \
    return CUPOLA_FROM_BITS(cupola::halves::narrow<CUPOLA_FRACTION>(x, cupola::halves::rounding)); \
  }
CUPOLA_FLOAT(, Rounding::Nearest)
CUPOLA_FLOAT(_rn, Rounding::Nearest)
CUPOLA_FLOAT(_rz, Rounding::Zero)
CUPOLA_FLOAT(_ru, Rounding::Up)
CUPOLA_FLOAT(_rd, Rounding::Down)
#undef CUPOLA_FLOAT
CUPOLA_BOTH CUPOLA_H CUPOLA_INTO(double, )(double x) { return CUPOLA_NEAREST(cupola::halves::to_odd(x)); }
CUPOLA_BOTH float CUPOLA_OUT_OF(float)(CUPOLA_H h) { return CUPOLA_VALUE(h); }

#define CUPOLA_INTEGER_ROUNDED(type, name, suffix, rounding)                                           \
  CUPOLA_BOTH CUPOLA_H CUPOLA_INTO(name, suffix)(type x) {                                             \
    return CUPOLA_FROM_BITS(                                                                           \
        cupola::halves::narrow<CUPOLA_FRACTION>(cupola::halves::to_odd(x), cupola::halves::rounding)); \
  }                                                                                                    \
  CUPOLA_BOTH type CUPOLA_OUT_OF(name##suffix)(CUPOLA_H h) {                                           \
    return cupola::halves::to_integer<type>(CUPOLA_VALUE(h), cupola::halves::rounding);                \
  }
#define CUPOLA_INTEGER(type, name)                           \
  CUPOLA_INTEGER_ROUNDED(type, name, _rn, Rounding::Nearest) \
  CUPOLA_INTEGER_ROUNDED(type, name, _rz, Rounding::Zero)    \
  CUPOLA_INTEGER_ROUNDED(type, name, _ru, Rounding::Up)      \
  CUPOLA_INTEGER_ROUNDED(type, name, _rd, Rounding::Down)
CUPOLA_INTEGER(short, short)
CUPOLA_INTEGER(unsigned short, ushort)
CUPOLA_INTEGER(int, int)
CUPOLA_INTEGER(unsigned int, uint)
CUPOLA_INTEGER(long long, ll)
CUPOLA_INTEGER(unsigned long long, ull)
#undef CUPOLA_INTEGER
#undef CUPOLA_INTEGER_ROUNDED
CUPOLA_BOTH signed char CUPOLA_OUT_OF(char_rz)(CUPOLA_H h) {
  return cupola::halves::to_integer<signed char>(CUPOLA_VALUE(h), cupola::halves::Rounding::Zero);
}
CUPOLA_BOTH unsigned char CUPOLA_OUT_OF(uchar_rz)(CUPOLA_H h) {
  return cupola::halves::to_integer<unsigned char>(CUPOLA_VALUE(h), cupola::halves::Rounding::Zero);
}

CUPOLA_BOTH short CUPOLA_PASTE(__, CUPOLA_WORD, _as_short, , )(CUPOLA_H h) { return __builtin_bit_cast(short, h); }
CUPOLA_BOTH unsigned short CUPOLA_PASTE(__, CUPOLA_WORD, _as_ushort, , )(CUPOLA_H h) { return CUPOLA_BITS(h); }
CUPOLA_BOTH CUPOLA_H CUPOLA_PASTE(__short_as_, CUPOLA_WORD, , , )(short x) { return CUPOLA_FROM_BITS(x); }
CUPOLA_BOTH CUPOLA_H CUPOLA_PASTE(__ushort_as_, CUPOLA_WORD, , , )(unsigned short x) { return CUPOLA_FROM_BITS(x); }

// -- pairs --

CUPOLA_BOTH CUPOLA_H2 CUPOLA_INTO(float, 2_rn)(float x) { return {CUPOLA_NEAREST(x), CUPOLA_NEAREST(x)}; }
CUPOLA_BOTH CUPOLA_H2 CUPOLA_INTO(floats, 2_rn)(float low, float high) {
  return {CUPOLA_NEAREST(low), CUPOLA_NEAREST(high)};
}
CUPOLA_BOTH CUPOLA_H2 CUPOLA_INTO(float2, 2_rn)(float2 x) { return {CUPOLA_NEAREST(x.x), CUPOLA_NEAREST(x.y)}; }
CUPOLA_BOTH float2 CUPOLA_OUT_OF(2float2)(CUPOLA_H2 h) { return {CUPOLA_VALUE(h.x), CUPOLA_VALUE(h.y)}; }
CUPOLA_BOTH CUPOLA_H2 CUPOLA_PASTE(make_, CUPOLA_WORD, 2, , )(CUPOLA_H low, CUPOLA_H high) { return {low, high}; }
CUPOLA_BOTH CUPOLA_H2 CUPOLA_INTO(halves, 2)(CUPOLA_H low, CUPOLA_H high) { return {low, high}; }
CUPOLA_BOTH CUPOLA_H2 CUPOLA_PASTE(__, CUPOLA_WORD, 2, CUPOLA_WORD, 2)(CUPOLA_H h) { return {h, h}; }
CUPOLA_BOTH CUPOLA_H CUPOLA_INTO(low, )(CUPOLA_H2 h) { return h.x; }
CUPOLA_BOTH CUPOLA_H CUPOLA_INTO(high, )(CUPOLA_H2 h) { return h.y; }
CUPOLA_BOTH CUPOLA_H2 CUPOLA_INTO(low, 2)(CUPOLA_H2 h) { return {h.x, h.x}; }
CUPOLA_BOTH CUPOLA_H2 CUPOLA_INTO(high, 2)(CUPOLA_H2 h) { return {h.y, h.y}; }
CUPOLA_BOTH CUPOLA_H2 CUPOLA_INTO(lows, 2)(CUPOLA_H2 a, CUPOLA_H2 b) { return {a.x, b.x}; }
CUPOLA_BOTH CUPOLA_H2 CUPOLA_INTO(highs, 2)(CUPOLA_H2 a, CUPOLA_H2 b) { return {a.y, b.y}; }
CUPOLA_BOTH CUPOLA_H2 __lowhigh2highlow(CUPOLA_H2 h) { return {h.y, h.x}; }
CUPOLA_BOTH float __low2float(CUPOLA_H2 h) { return CUPOLA_VALUE(h.x); }
CUPOLA_BOTH float __high2float(CUPOLA_H2 h) { return CUPOLA_VALUE(h.y); }

#undef CUPOLA_INTO
#undef CUPOLA_OUT_OF
#undef CUPOLA_PASTE
#undef CUPOLA_PASTE_NOW
