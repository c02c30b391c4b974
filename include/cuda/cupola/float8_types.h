// Part of cuda_fp8.h: the types, and their pairs and quadruples. Constructors saturate; conversions to integers round
// to zero and saturate.

#pragma push_macro("CUPOLA_MEMBER")
#define CUPOLA_MEMBER __host__ __device__ __inline__ __attribute__((always_inline))

namespace cupola {
namespace float8 {

/// How a type is made of numbers, and what number it is.
struct E4M3 {
  static CUPOLA_MEMBER unsigned char encode(float x) { return from_float(x, true, false); }
  static CUPOLA_MEMBER float decode(unsigned char x) { return halves::widen<10>(to_half(x, false)); }
};
struct E5M2 {
  static CUPOLA_MEMBER unsigned char encode(float x) { return from_float(x, true, true); }
  static CUPOLA_MEMBER float decode(unsigned char x) { return halves::widen<10>(to_half(x, true)); }
};
struct E8M0 {
  static CUPOLA_MEMBER unsigned char encode(float x) { return power_from_float(x, true, true); }
  static CUPOLA_MEMBER float decode(unsigned char x) { return power_to_float(x); }
};

}  // namespace float8
}  // namespace cupola

#define CUPOLA_FROM(name, format, type) \
  explicit CUPOLA_MEMBER name(type x) : __x(cupola::float8::format::encode(cupola::halves::to_odd(x))) {}
#define CUPOLA_TO(format, type)                                                                                   \
  explicit CUPOLA_MEMBER operator type() const {                                                                  \
    return cupola::halves::to_integer<type>(cupola::float8::format::decode(__x), cupola::halves::Rounding::Zero); \
  }

#define CUPOLA_SINGLE(name, format)                                                                                   \
  struct __align__(1) name {                                                                                          \
    __nv_fp8_storage_t __x;                                                                                           \
    name() = default;                                                                                                 \
    explicit CUPOLA_MEMBER name(const __half& x) : __x(cupola::float8::format::encode(__half2float(x))) {}            \
    explicit CUPOLA_MEMBER name(const __nv_bfloat16& x) : __x(cupola::float8::format::encode(__bfloat162float(x))) {} \
    CUPOLA_FROM(name, format, float)                                                                                  \
    CUPOLA_FROM(name, format, double)                                                                                 \
    CUPOLA_FROM(name, format, short)                                                                                  \
    CUPOLA_FROM(name, format, unsigned short)                                                                         \
    CUPOLA_FROM(name, format, int)                                                                                    \
    CUPOLA_FROM(name, format, unsigned int)                                                                           \
    CUPOLA_FROM(name, format, long)                                                                                   \
    CUPOLA_FROM(name, format, unsigned long)                                                                          \
    CUPOLA_FROM(name, format, long long)                                                                              \
    CUPOLA_FROM(name, format, unsigned long long)                                                                     \
    explicit CUPOLA_MEMBER operator float() const { return cupola::float8::format::decode(__x); }                     \
    explicit CUPOLA_MEMBER operator double() const { return (double)cupola::float8::format::decode(__x); }            \
    explicit CUPOLA_MEMBER operator __half() const { return __float2half_rn(cupola::float8::format::decode(__x)); }   \
    explicit CUPOLA_MEMBER operator __nv_bfloat16() const {                                                           \
      return __float2bfloat16_rn(cupola::float8::format::decode(__x));                                                \
    }                                                                                                                 \
    explicit CUPOLA_MEMBER operator bool() const { return cupola::float8::format::decode(__x) != 0.0f; }              \
    CUPOLA_TO(format, char)                                                                                           \
    CUPOLA_TO(format, signed char)                                                                                    \
    CUPOLA_TO(format, unsigned char)                                                                                  \
    CUPOLA_TO(format, short)                                                                                          \
    CUPOLA_TO(format, unsigned short)                                                                                 \
    CUPOLA_TO(format, int)                                                                                            \
    CUPOLA_TO(format, unsigned int)                                                                                   \
    CUPOLA_TO(format, long)                                                                                           \
    CUPOLA_TO(format, unsigned long)                                                                                  \
    CUPOLA_TO(format, long long)                                                                                      \
    CUPOLA_TO(format, unsigned long long)                                                                             \
  };
CUPOLA_SINGLE(__nv_fp8_e4m3, E4M3)
CUPOLA_SINGLE(__nv_fp8_e5m2, E5M2)
CUPOLA_SINGLE(__nv_fp8_e8m0, E8M0)
#undef CUPOLA_SINGLE
#undef CUPOLA_FROM
#undef CUPOLA_TO

/// `wide` is the 16-bit pair to which the pair converts exactly, beside float2.
#define CUPOLA_PAIR_AND_QUADRUPLE(pair, quadruple, format, wide, from_floats)                                         \
  struct __align__(2) pair {                                                                                          \
    __nv_fp8x2_storage_t __x;                                                                                         \
    pair() = default;                                                                                                 \
    explicit CUPOLA_MEMBER pair(float2 x) : __x(join(x.x, x.y)) {}                                                    \
    explicit CUPOLA_MEMBER pair(double2 x) : __x(join(cupola::halves::to_odd(x.x), cupola::halves::to_odd(x.y))) {}   \
    explicit CUPOLA_MEMBER pair(const __half2& x) : __x(join(__low2float(x), __high2float(x))) {}                     \
    explicit CUPOLA_MEMBER pair(const __nv_bfloat162& x) : __x(join(__low2float(x), __high2float(x))) {}              \
    explicit CUPOLA_MEMBER operator float2() const {                                                                  \
      return {cupola::float8::format::decode((unsigned char)__x),                                                     \
              cupola::float8::format::decode((unsigned char)(__x >> 8))};                                             \
    }                                                                                                                 \
    explicit CUPOLA_MEMBER operator wide() const {                                                                    \
      const float2 x = (float2) * this;                                                                               \
      return from_floats(x.x, x.y);                                                                                   \
    }                                                                                                                 \
                                                                                                                      \
   private:                                                                                                           \
    static CUPOLA_MEMBER __nv_fp8x2_storage_t join(float low, float high) {                                           \
      return (__nv_fp8x2_storage_t)(cupola::float8::format::encode(low) | cupola::float8::format::encode(high) << 8); \
    }                                                                                                                 \
  };                                                                                                                  \
  struct __align__(4) quadruple {                                                                                     \
    __nv_fp8x4_storage_t __x;                                                                                         \
    quadruple() = default;                                                                                            \
    explicit CUPOLA_MEMBER quadruple(float4 x) : __x(join(pair(float2{x.x, x.y}), pair(float2{x.z, x.w}))) {}         \
    explicit CUPOLA_MEMBER quadruple(double4 x) : __x(join(pair(double2{x.x, x.y}), pair(double2{x.z, x.w}))) {}      \
    explicit CUPOLA_MEMBER quadruple(double4_16a x) : __x(join(pair(double2{x.x, x.y}), pair(double2{x.z, x.w}))) {}  \
    explicit CUPOLA_MEMBER quadruple(double4_32a x) : __x(join(pair(double2{x.x, x.y}), pair(double2{x.z, x.w}))) {}  \
    explicit CUPOLA_MEMBER quadruple(const __half2& low, const __half2& high) : __x(join(pair(low), pair(high))) {}   \
    explicit CUPOLA_MEMBER quadruple(const __nv_bfloat162& low, const __nv_bfloat162& high)                           \
        : __x(join(pair(low), pair(high))) {}                                                                         \
    explicit CUPOLA_MEMBER operator float4() const {                                                                  \
      return {cupola::float8::format::decode((unsigned char)__x),                                                     \
              cupola::float8::format::decode((unsigned char)(__x >> 8)),                                              \
              cupola::float8::format::decode((unsigned char)(__x >> 16)),                                             \
              cupola::float8::format::decode((unsigned char)(__x >> 24))};                                            \
    }                                                                                                                 \
                                                                                                                      \
   private:                                                                                                           \
    static CUPOLA_MEMBER __nv_fp8x4_storage_t join(pair low, pair high) {                                             \
      return low.__x | (unsigned int)high.__x << 16;                                                                  \
    }                                                                                                                 \
  };
CUPOLA_PAIR_AND_QUADRUPLE(__nv_fp8x2_e4m3, __nv_fp8x4_e4m3, E4M3, __half2, __floats2half2_rn)
CUPOLA_PAIR_AND_QUADRUPLE(__nv_fp8x2_e5m2, __nv_fp8x4_e5m2, E5M2, __half2, __floats2half2_rn)
CUPOLA_PAIR_AND_QUADRUPLE(__nv_fp8x2_e8m0, __nv_fp8x4_e8m0, E8M0, __nv_bfloat162, __floats2bfloat162_rn)
#undef CUPOLA_PAIR_AND_QUADRUPLE

#pragma pop_macro("CUPOLA_MEMBER")
