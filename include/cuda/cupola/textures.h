#pragma once

// Reading textures and surfaces through their objects: "CUDA C++ Programming Guide, Texture Functions, Surface
// Functions". Each function is its PTX instruction; texels come as four words, of which the type takes what it has.

#pragma push_macro("CUPOLA_DEVICE")
#define CUPOLA_DEVICE static __device__ __inline__ __attribute__((always_inline, unused))

namespace cupola_texture {

struct Words {
  unsigned x, y, z, w;
};

template <typename T>
struct Channel {
  CUPOLA_DEVICE T of(unsigned word) { return (T)word; }
};
template <>
struct Channel<float> {
  CUPOLA_DEVICE float of(unsigned word) { return __builtin_bit_cast(float, word); }
};

/// A type made of the channels of a texel.
template <typename T>
struct Texel {
  CUPOLA_DEVICE T of(const Words& words) { return Channel<T>::of(words.x); }
};
#define CUPOLA_TEXEL(type, channel)                                                                             \
  template <>                                                                                                   \
  struct Texel<type##1> {                                                                                       \
    CUPOLA_DEVICE type##1 of(const Words& w) { return {Channel<channel>::of(w.x)}; }                            \
  };                                                                                                            \
  template <>                                                                                                   \
  struct Texel<type##2> {                                                                                       \
    CUPOLA_DEVICE type##2 of(const Words& w) { return {Channel<channel>::of(w.x), Channel<channel>::of(w.y)}; } \
  };                                                                                                            \
  template <>                                                                                                   \
  struct Texel<type##4> {                                                                                       \
    CUPOLA_DEVICE type##4 of(const Words& w) {                                                                  \
      return {Channel<channel>::of(w.x), Channel<channel>::of(w.y), Channel<channel>::of(w.z),                  \
              Channel<channel>::of(w.w)};                                                                       \
    }                                                                                                           \
  };
CUPOLA_TEXEL(char, signed char)
CUPOLA_TEXEL(uchar, unsigned char)
CUPOLA_TEXEL(short, short)
CUPOLA_TEXEL(ushort, unsigned short)
CUPOLA_TEXEL(int, int)
CUPOLA_TEXEL(uint, unsigned)
CUPOLA_TEXEL(float, float)
#undef CUPOLA_TEXEL

}  // namespace cupola_texture

/// One function: its instruction, with the object as %4 and the coordinates behind it.
#define CUPOLA_FETCH(name, parameters, instruction, ...)                                               \
  template <typename T>                                                                                \
  CUPOLA_DEVICE T name parameters {                                                                    \
    cupola_texture::Words d;                                                                           \
    asm volatile(instruction : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w) : "l"(object), __VA_ARGS__); \
    return cupola_texture::Texel<T>::of(d);                                                            \
  }
#define CUPOLA_D "{%0, %1, %2, %3}, [%4, "

CUPOLA_FETCH(tex1Dfetch, (cudaTextureObject_t object, int x), "tex.1d.v4.u32.s32 " CUPOLA_D "{%5}];", "r"(x))
CUPOLA_FETCH(tex1D, (cudaTextureObject_t object, float x), "tex.1d.v4.u32.f32 " CUPOLA_D "{%5}];", "f"(x))
CUPOLA_FETCH(tex2D, (cudaTextureObject_t object, float x, float y), "tex.2d.v4.u32.f32 " CUPOLA_D "{%5, %6}];", "f"(x),
             "f"(y))
CUPOLA_FETCH(tex3D, (cudaTextureObject_t object, float x, float y, float z),
             "tex.3d.v4.u32.f32 " CUPOLA_D "{%5, %6, %7, %7}];", "f"(x), "f"(y), "f"(z))
CUPOLA_FETCH(tex1DLayered, (cudaTextureObject_t object, float x, int layer),
             "tex.a1d.v4.u32.f32 " CUPOLA_D "{%6, %5}];", "f"(x), "r"(layer))
CUPOLA_FETCH(tex2DLayered, (cudaTextureObject_t object, float x, float y, int layer),
             "tex.a2d.v4.u32.f32 " CUPOLA_D "{%7, %5, %6, %6}];", "f"(x), "f"(y), "r"(layer))
CUPOLA_FETCH(texCubemap, (cudaTextureObject_t object, float x, float y, float z),
             "tex.cube.v4.u32.f32 " CUPOLA_D "{%5, %6, %7, %7}];", "f"(x), "f"(y), "f"(z))
CUPOLA_FETCH(texCubemapLayered, (cudaTextureObject_t object, float x, float y, float z, int layer),
             "tex.acube.v4.u32.f32 " CUPOLA_D "{%8, %5, %6, %7}];", "f"(x), "f"(y), "f"(z), "r"(layer))

// At a level of detail of a mipmapped array, by its number or by how the coordinates change across the plane of pixels.
CUPOLA_FETCH(tex1DLod, (cudaTextureObject_t object, float x, float level),
             "tex.level.1d.v4.u32.f32 " CUPOLA_D "{%5}], %6;", "f"(x), "f"(level))
CUPOLA_FETCH(tex2DLod, (cudaTextureObject_t object, float x, float y, float level),
             "tex.level.2d.v4.u32.f32 " CUPOLA_D "{%5, %6}], %7;", "f"(x), "f"(y), "f"(level))
CUPOLA_FETCH(tex3DLod, (cudaTextureObject_t object, float x, float y, float z, float level),
             "tex.level.3d.v4.u32.f32 " CUPOLA_D "{%5, %6, %7, %7}], %8;", "f"(x), "f"(y), "f"(z), "f"(level))
CUPOLA_FETCH(tex1DLayeredLod, (cudaTextureObject_t object, float x, int layer, float level),
             "tex.level.a1d.v4.u32.f32 " CUPOLA_D "{%6, %5}], %7;", "f"(x), "r"(layer), "f"(level))
CUPOLA_FETCH(tex2DLayeredLod, (cudaTextureObject_t object, float x, float y, int layer, float level),
             "tex.level.a2d.v4.u32.f32 " CUPOLA_D "{%7, %5, %6, %6}], %8;", "f"(x), "f"(y), "r"(layer), "f"(level))
CUPOLA_FETCH(texCubemapLod, (cudaTextureObject_t object, float x, float y, float z, float level),
             "tex.level.cube.v4.u32.f32 " CUPOLA_D "{%5, %6, %7, %7}], %8;", "f"(x), "f"(y), "f"(z), "f"(level))
CUPOLA_FETCH(texCubemapLayeredLod, (cudaTextureObject_t object, float x, float y, float z, int layer, float level),
             "tex.level.acube.v4.u32.f32 " CUPOLA_D "{%8, %5, %6, %7}], %9;", "f"(x), "f"(y), "f"(z), "r"(layer),
             "f"(level))

#define CUPOLA_GRADIENT2 "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y)
#define CUPOLA_GRADIENT3 "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z)
CUPOLA_FETCH(tex1DGrad, (cudaTextureObject_t object, float x, float dx, float dy),
             "tex.grad.1d.v4.u32.f32 " CUPOLA_D "{%5}], {%6}, {%7};", "f"(x), "f"(dx), "f"(dy))
CUPOLA_FETCH(tex2DGrad, (cudaTextureObject_t object, float x, float y, float2 dx, float2 dy),
             "tex.grad.2d.v4.u32.f32 " CUPOLA_D "{%5, %6}], {%7, %8}, {%9, %10};", "f"(x), "f"(y), CUPOLA_GRADIENT2)
CUPOLA_FETCH(tex3DGrad, (cudaTextureObject_t object, float x, float y, float z, float4 dx, float4 dy),
             "tex.grad.3d.v4.u32.f32 " CUPOLA_D "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13};", "f"(x),
             "f"(y), "f"(z), CUPOLA_GRADIENT3)
CUPOLA_FETCH(tex1DLayeredGrad, (cudaTextureObject_t object, float x, int layer, float dx, float dy),
             "tex.grad.a1d.v4.u32.f32 " CUPOLA_D "{%6, %5}], {%7}, {%8};", "f"(x), "r"(layer), "f"(dx), "f"(dy))
CUPOLA_FETCH(tex2DLayeredGrad, (cudaTextureObject_t object, float x, float y, int layer, float2 dx, float2 dy),
             "tex.grad.a2d.v4.u32.f32 " CUPOLA_D "{%7, %5, %6, %6}], {%8, %9}, {%10, %11};", "f"(x), "f"(y), "r"(layer),
             CUPOLA_GRADIENT2)
CUPOLA_FETCH(texCubemapGrad, (cudaTextureObject_t object, float x, float y, float z, float4 dx, float4 dy),
             "tex.grad.cube.v4.u32.f32 " CUPOLA_D "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13};",
             "f"(x), "f"(y), "f"(z), CUPOLA_GRADIENT3)
CUPOLA_FETCH(texCubemapLayeredGrad,
             (cudaTextureObject_t object, float x, float y, float z, int layer, float4 dx, float4 dy),
             "tex.grad.acube.v4.u32.f32 " CUPOLA_D "{%8, %5, %6, %7}], {%9, %10, %11, %11}, {%12, %13, %14, %14};",
             "f"(x), "f"(y), "f"(z), "r"(layer), CUPOLA_GRADIENT3)
#undef CUPOLA_GRADIENT3
#undef CUPOLA_GRADIENT2

/// Channel `component` of four texels.
template <typename T>
CUPOLA_DEVICE T tex2Dgather(cudaTextureObject_t object, float x, float y, int component = 0) {
  cupola_texture::Words d;
#define CUPOLA_GATHER(channel)                                         \
  asm volatile("tld4." channel ".2d.v4.u32.f32 " CUPOLA_D "{%5, %6}];" \
               : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)            \
               : "l"(object), "f"(x), "f"(y))
  if (component == 1)
    CUPOLA_GATHER("g");
  else if (component == 2)
    CUPOLA_GATHER("b");
  else if (component == 3)
    CUPOLA_GATHER("a");
  else
    CUPOLA_GATHER("r");
#undef CUPOLA_GATHER
  return cupola_texture::Texel<T>::of(d);
}
#undef CUPOLA_FETCH
#undef CUPOLA_D

// -- surfaces: x counts bytes --

namespace cupola_texture {

/// A value of 1, 2, 4, 8 or 16 bytes as words.
template <typename T>
union Bytes {
  unsigned word[4];
  T value;
  __device__ Bytes() : word{} {}
};

}  // namespace cupola_texture

#define CUPOLA_SULD(form, to, after, place, ...)                                     \
  asm volatile("{ .reg .b16 h; suld.b." form " " to ", [%4, " place "]; " after " }" \
               : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])                      \
               : "l"(object), __VA_ARGS__                                            \
               : "memory")
#define CUPOLA_SURFACE_READ(geometry, boundary, place, ...)                                                          \
  do {                                                                                                               \
    if (sizeof(T) == 1)                                                                                              \
      CUPOLA_SULD(geometry ".b8." boundary, "h", "cvt.u32.u16 %0, h; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0;",  \
                  place, __VA_ARGS__);                                                                               \
    else if (sizeof(T) == 2)                                                                                         \
      CUPOLA_SULD(geometry ".b16." boundary, "h", "cvt.u32.u16 %0, h; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0;", \
                  place, __VA_ARGS__);                                                                               \
    else if (sizeof(T) == 4)                                                                                         \
      CUPOLA_SULD(geometry ".b32." boundary, "%0", "mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0;", place,            \
                  __VA_ARGS__);                                                                                      \
    else if (sizeof(T) == 8)                                                                                         \
      CUPOLA_SULD(geometry ".v2.b32." boundary, "{%0, %1}", "mov.b32 %2, 0; mov.b32 %3, 0;", place, __VA_ARGS__);    \
    else                                                                                                             \
      CUPOLA_SULD(geometry ".v4.b32." boundary, "{%0, %1, %2, %3}", "", place, __VA_ARGS__);                         \
  } while (0)

#define CUPOLA_SUST(form, before, from, place, ...)                                     \
  asm volatile("{ .reg .b16 h; " before " sust.b." form " [%4, " place "], " from "; }" \
               :                                                                        \
               : "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "l"(object), __VA_ARGS__   \
               : "memory")
#define CUPOLA_SURFACE_WRITE(geometry, boundary, place, ...)                                 \
  do {                                                                                       \
    if (sizeof(T) == 1)                                                                      \
      CUPOLA_SUST(geometry ".b8." boundary, "cvt.u16.u32 h, %0;", "h", place, __VA_ARGS__);  \
    else if (sizeof(T) == 2)                                                                 \
      CUPOLA_SUST(geometry ".b16." boundary, "cvt.u16.u32 h, %0;", "h", place, __VA_ARGS__); \
    else if (sizeof(T) == 4)                                                                 \
      CUPOLA_SUST(geometry ".b32." boundary, "", "%0", place, __VA_ARGS__);                  \
    else if (sizeof(T) == 8)                                                                 \
      CUPOLA_SUST(geometry ".v2.b32." boundary, "", "{%0, %1}", place, __VA_ARGS__);         \
    else                                                                                     \
      CUPOLA_SUST(geometry ".v4.b32." boundary, "", "{%0, %1, %2, %3}", place, __VA_ARGS__); \
  } while (0)

#define CUPOLA_BY_BOUNDARY(access, geometry, place, ...) \
  do {                                                   \
    if (boundary == cudaBoundaryModeTrap)                \
      access(geometry, "trap", place, __VA_ARGS__);      \
    else if (boundary == cudaBoundaryModeClamp)          \
      access(geometry, "clamp", place, __VA_ARGS__);     \
    else                                                 \
      access(geometry, "zero", place, __VA_ARGS__);      \
  } while (0)

#define CUPOLA_LIST(...) __VA_ARGS__
/// Reading, by value and through a pointer, and writing. `parameters` and `arguments` are the coordinates.
#define CUPOLA_SURFACE(name, parameters, arguments, geometry, place, ...)                      \
  template <typename T>                                                                        \
  CUPOLA_DEVICE T name##read(cudaSurfaceObject_t object, CUPOLA_LIST parameters,               \
                             cudaSurfaceBoundaryMode boundary = cudaBoundaryModeTrap) {        \
    cupola_texture::Bytes<T> bytes;                                                            \
    unsigned* w = bytes.word;                                                                  \
    CUPOLA_BY_BOUNDARY(CUPOLA_SURFACE_READ, geometry, place, __VA_ARGS__);                     \
    return bytes.value;                                                                        \
  }                                                                                            \
  template <typename T>                                                                        \
  CUPOLA_DEVICE void name##read(T* result, cudaSurfaceObject_t object, CUPOLA_LIST parameters, \
                                cudaSurfaceBoundaryMode boundary = cudaBoundaryModeTrap) {     \
    *result = name##read<T>(object, CUPOLA_LIST arguments, boundary);                          \
  }                                                                                            \
  template <typename T>                                                                        \
  CUPOLA_DEVICE void name##write(T data, cudaSurfaceObject_t object, CUPOLA_LIST parameters,   \
                                 cudaSurfaceBoundaryMode boundary = cudaBoundaryModeTrap) {    \
    cupola_texture::Bytes<T> bytes;                                                            \
    bytes.value = data;                                                                        \
    const unsigned* w = bytes.word;                                                            \
    CUPOLA_BY_BOUNDARY(CUPOLA_SURFACE_WRITE, geometry, place, __VA_ARGS__);                    \
  }
CUPOLA_SURFACE(surf1D, (int x), (x), "1d", "{%5}", "r"(x))
CUPOLA_SURFACE(surf2D, (int x, int y), (x, y), "2d", "{%5, %6}", "r"(x), "r"(y))
CUPOLA_SURFACE(surf3D, (int x, int y, int z), (x, y, z), "3d", "{%5, %6, %7, %7}", "r"(x), "r"(y), "r"(z))
CUPOLA_SURFACE(surf1DLayered, (int x, int layer), (x, layer), "a1d", "{%6, %5}", "r"(x), "r"(layer))
CUPOLA_SURFACE(surf2DLayered, (int x, int y, int layer), (x, y, layer), "a2d", "{%7, %5, %6, %6}", "r"(x), "r"(y),
               "r"(layer))
// Faces are layers: face + 6 * layer.
CUPOLA_SURFACE(surfCubemap, (int x, int y, int face), (x, y, face), "a2d", "{%7, %5, %6, %6}", "r"(x), "r"(y),
               "r"(face))
CUPOLA_SURFACE(surfCubemapLayered, (int x, int y, int layer_face), (x, y, layer_face), "a2d", "{%7, %5, %6, %6}",
               "r"(x), "r"(y), "r"(layer_face))
#undef CUPOLA_SURFACE
#undef CUPOLA_LIST
#undef CUPOLA_BY_BOUNDARY
#undef CUPOLA_SURFACE_WRITE
#undef CUPOLA_SURFACE_READ
#undef CUPOLA_SUST
#undef CUPOLA_SULD

#pragma pop_macro("CUPOLA_DEVICE")
