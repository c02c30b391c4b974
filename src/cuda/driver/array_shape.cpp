// Which shapes of arrays there are: the tables of valid extents at cuArray3DCreate and cuMipmappedArrayCreate in "CUDA
// Driver API, Memory Management". An array lies in device memory row by row, whose order no program can see.

#include "cuda/driver/array_shape.h"

#include <array>

#include "runtime/device.h"

namespace cupola::driver {
namespace {

constexpr uint64_t kRowAlignment = 64, kFaces = 6;

enum class Shape { Line, Plane, Volume, Lines, Planes, Cube, Cubes };

/// The attributes of the device that bound width, height and depth; 0 where there is no such dimension.
using Bounds = std::array<int, 3>;
struct Row {
  Shape shape;
  const char* name;
  Bounds texture, surface, mipmapped;
};

#define ATTRIBUTE(name) CU_DEVICE_ATTRIBUTE_MAXIMUM_##name
#define ONE(name) {ATTRIBUTE(name##_WIDTH), 0, 0}
#define TWO(name) {ATTRIBUTE(name##_WIDTH), ATTRIBUTE(name##_HEIGHT), 0}
#define THREE(name) {ATTRIBUTE(name##_WIDTH), ATTRIBUTE(name##_HEIGHT), ATTRIBUTE(name##_DEPTH)}
#define ONE_LAYERED(name) {ATTRIBUTE(name##_LAYERED_WIDTH), 0, ATTRIBUTE(name##_LAYERED_LAYERS)}
#define TWO_LAYERED(name) \
  {ATTRIBUTE(name##_LAYERED_WIDTH), ATTRIBUTE(name##_LAYERED_HEIGHT), ATTRIBUTE(name##_LAYERED_LAYERS)}
#define CUBE(name) {ATTRIBUTE(name##_WIDTH), ATTRIBUTE(name##_WIDTH), 0}
#define CUBES(name) {ATTRIBUTE(name##_LAYERED_WIDTH), ATTRIBUTE(name##_LAYERED_WIDTH), ATTRIBUTE(name##_LAYERED_LAYERS)}
constexpr Row kRows[] = {
    {Shape::Line, "one dimension", ONE(TEXTURE1D), ONE(SURFACE1D), ONE(TEXTURE1D_MIPMAPPED)},
    {Shape::Plane, "two dimensions", TWO(TEXTURE2D), TWO(SURFACE2D), TWO(TEXTURE2D_MIPMAPPED)},
    {Shape::Volume, "three dimensions", THREE(TEXTURE3D), THREE(SURFACE3D), THREE(TEXTURE3D)},
    {Shape::Lines, "layers of one dimension", ONE_LAYERED(TEXTURE1D), ONE_LAYERED(SURFACE1D), ONE_LAYERED(TEXTURE1D)},
    {Shape::Planes, "layers of two dimensions", TWO_LAYERED(TEXTURE2D), TWO_LAYERED(SURFACE2D), TWO_LAYERED(TEXTURE2D)},
    {Shape::Cube, "six faces", CUBE(TEXTURECUBEMAP), CUBE(SURFACECUBEMAP), CUBE(TEXTURECUBEMAP)},
    {Shape::Cubes, "layers of six faces", CUBES(TEXTURECUBEMAP), CUBES(SURFACECUBEMAP), CUBES(TEXTURECUBEMAP)},
};
constexpr Bounds kGathered = TWO(TEXTURE2D_GATHER);
constexpr Bounds kOtherVolume = {ATTRIBUTE(TEXTURE3D_WIDTH_ALTERNATE), ATTRIBUTE(TEXTURE3D_HEIGHT_ALTERNATE),
                                 ATTRIBUTE(TEXTURE3D_DEPTH_ALTERNATE)};
#undef CUBES
#undef CUBE
#undef TWO_LAYERED
#undef ONE_LAYERED
#undef THREE
#undef TWO
#undef ONE
#undef ATTRIBUTE

Shape shape_of(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  const bool layered = d.Flags & CUDA_ARRAY3D_LAYERED, cube = d.Flags & CUDA_ARRAY3D_CUBEMAP;
  if (cube) return layered ? Shape::Cubes : Shape::Cube;
  if (layered) return d.Height ? Shape::Planes : Shape::Lines;
  return d.Depth ? Shape::Volume : d.Height ? Shape::Plane : Shape::Line;
}

bool fits(const Context& context, const CUDA_ARRAY3D_DESCRIPTOR& d, const Bounds& bounds) {
  const uint64_t extents[] = {d.Width, d.Height, d.Flags & CUDA_ARRAY3D_CUBEMAP && !bounds[2] ? 0 : d.Depth};
  for (size_t i = 0; i < std::size(extents); ++i) {
    const auto most = bounds[i] ? static_cast<uint64_t>(context.device().attribute(bounds[i]).value_or(0)) : 0;
    if (extents[i] > most || (bounds[i] && extents[i] == 0)) return false;
  }
  return true;
}

Result<> check_shape(const Context& context, const CUDA_ARRAY3D_DESCRIPTOR& d, bool is_mipmapped) {
  const unsigned known =
      CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;
  if (d.Flags & ~known) return fail(ErrorCode::NotSupported, "arrays with the flags {:#x} are not supported", d.Flags);
  const Shape shape = shape_of(d);
  const Row& row = kRows[static_cast<size_t>(shape)];
  const bool other = shape == Shape::Volume && fits(context, d, kOtherVolume);
  if ((!other && !fits(context, d, is_mipmapped ? row.mipmapped : row.texture)) ||
      (d.Flags & CUDA_ARRAY3D_SURFACE_LDST && !fits(context, d, row.surface)))
    return fail(ErrorCode::InvalidValue, "an array of {} is {} x {} x {}; the attributes of the device say what may be",
                row.name, d.Width, d.Height, d.Depth);
  const bool cube = d.Flags & CUDA_ARRAY3D_CUBEMAP;
  if (cube && (d.Width != d.Height || d.Depth % kFaces != 0 || (shape == Shape::Cube && d.Depth != kFaces)))
    return fail(ErrorCode::InvalidValue, "the faces of a cube are six squares, not {} of {} x {}", d.Depth, d.Width,
                d.Height);
  const bool flat = shape == Shape::Plane || shape == Shape::Planes;
  if (d.Flags & CUDA_ARRAY3D_TEXTURE_GATHER && (!flat || !fits(context, {d.Width, d.Height}, kGathered)))
    return fail(ErrorCode::InvalidValue, "only arrays of two dimensions can be gathered from");
  return {};
}

}  // namespace

Result<Array> array_of_shape(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& shape, bool is_mipmapped) {
  TRY(check_shape(context, shape, is_mipmapped));
  TRY(const TexelFormat format, texel_format(shape.Format, shape.NumChannels));
  Array array{};
  array.owner = &context;
  array.width = shape.Width, array.height = shape.Height, array.depth = shape.Depth;
  array.format = shape.Format, array.channels = shape.NumChannels, array.flags = shape.Flags;
  array.texel_bytes = format.bytes();
  array.row_pitch = (shape.Width * format.bytes() + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  array.slice_pitch = array.row_pitch * array.rows();
  return array;
}

CUDA_ARRAY3D_DESCRIPTOR described(const Array& array) {
  return {array.width,    array.height, array.depth, static_cast<CUarray_format>(array.format),
          array.channels, array.flags};
}

}  // namespace cupola::driver
