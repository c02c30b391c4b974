#include "image/texture_calls.h"
#include "ptx/lower/emission.h"

// Texture and surface instructions. PTX ISA, "Texture Instructions", "Surface Instructions". The work is done by the
// device library (src/device/textures.cu, surfaces.cu); here coordinates become its array of words, and words
// registers: image/texture_calls.h.

namespace cupola::ptx {
namespace {

using enum Modifier;

/// A geometry: what the vector of coordinates holds, layer included.
struct Geometry {
  Modifier name;
  unsigned coordinates;
  unsigned dimensions;  ///< of an offset
  unsigned gradient;    ///< elements of one
};
constexpr Geometry kGeometries[] = {
#define TEXTURE_GEOMETRY(modifier, name, dimensions, layers) {modifier, dimensions + layers, dimensions, dimensions},
#define TEXTURE_CUBE(modifier, name, layers) {modifier, 3 + layers, 0, 3},
#define TEXTURE_QUESTION(modifier)
#include "image/texture_calls.def"
};
constexpr Modifier kQuestions[] = {
#define TEXTURE_GEOMETRY(modifier, name, dimensions, layers)
#define TEXTURE_CUBE(modifier, name, layers)
#define TEXTURE_QUESTION(modifier) modifier,
#include "image/texture_calls.def"
};

const Geometry& geometry_of(const Emission& e) {
  for (const Geometry& each : kGeometries)
    if (e.has(each.name)) return each;
  return kGeometries[0];
}

/// The 64-bit object in the brackets of operand i. Null, and refused, where a variable's name stands there.
Value* object(Emission& e, size_t i) {
  const Operand& base = e.parts(e.operand(i))[0];
  if (base.kind == Operand::Kind::Register && e.parts(e.operand(i)).size() <= 2) return e.read(base, Type::B64);
  e.refuse(e.parts(e.operand(i)).size() > 2
               ? "a sampler of its own is not supported; use a texture object, which holds its sampler"
               : "variables of the types .texref, .samplerref and .surfref are not supported; use a texture or surface "
                 "object");
  return nullptr;
}

/// Coordinates to words 0 to 3. False, and refused, when there are too few.
bool put_coordinates(Emission& e, size_t i, const Geometry& geometry) {
  const auto inside = e.parts(e.operand(i));
  if (inside.size() < 2) {
    e.refuse("the coordinates are missing");
    return false;
  }
  const Operand& list = inside[1];
  const bool is_vector = list.kind == Operand::Kind::Vector;
  if (is_vector ? list.count < geometry.coordinates : geometry.coordinates > 1) {
    e.refuse(formatted("this geometry has {} coordinates", geometry.coordinates));
    return false;
  }
  for (unsigned c = 0; c < geometry.coordinates; ++c)
    e.b.CreateStore(e.read(is_vector ? e.parts(list)[c] : list, Type::B32), e.word(c));
  return true;
}

/// The offset in operand i, or zeros, to words 4 to 6.
bool put_offset(Emission& e, size_t i, const Geometry& geometry) {
  const bool given = i < e.count();
  const auto parts = given ? e.elements(i) : std::span<const Operand>();
  if (given && (geometry.dimensions == 0 || parts.size() < geometry.dimensions)) {
    e.refuse(geometry.dimensions ? "the offset has too few elements; a comparison of depths is not supported"
                                 : "a cube takes no offset, and a comparison of depths is not supported");
    return false;
  }
  for (unsigned d = 0; d < 3; ++d)
    e.b.CreateStore(given && d < geometry.dimensions ? e.read(parts[d], Type::S32) : e.i32(0),
                    e.word(image::kOffsetWord + d));
  return true;
}

/// The level in operand 2, or the gradients in operands 2 and 3, to words 7 and on. False, and refused, when a gradient
/// is too short.
bool put_detail(Emission& e, const Geometry& geometry) {
  if (e.has(Level)) e.b.CreateStore(e.read(2, e.type()), e.word(image::kLevelWord));
  if (!e.has(Grad)) return true;
  for (unsigned g = 0; g < 2; ++g) {
    const auto parts = e.elements(size_t{2} + g);
    if (parts.size() < geometry.gradient) {
      e.refuse(formatted("a gradient of this geometry has {} elements", geometry.gradient));
      return false;
    }
    for (unsigned d = 0; d < geometry.gradient; ++d)
      e.b.CreateStore(e.read(parts[d], Type::B32), e.word(image::kGradientWords[g] + d));
  }
  return true;
}

/// Words 0 to 3 to the registers of operand 0. All are loaded before the first is written.
void take_channels(Emission& e, Type type) {
  const auto registers = e.elements(0);
  const bool half = type == Type::F16, pair = type == Type::F16x2;
  Value* channel[4];
  for (unsigned c = 0; c < 4; ++c) {
    channel[c] =
        e.b.CreateLoad(half || pair ? e.b.getFloatTy() : static_cast<llvm::Type*>(e.b.getInt32Ty()), e.word(c));
    if (half || pair) channel[c] = e.b.CreateFPTrunc(channel[c], e.b.getHalfTy());
  }
  if (registers.size() != (pair ? 2u : 4u)) return e.refuse("the result has four channels");
  for (unsigned r = 0; r < registers.size(); ++r) {
    if (!pair) {
      e.write(registers[r], channel[r], half ? Type::F16 : Type::B32);
      continue;
    }
    Value* both = llvm::PoisonValue::get(llvm::FixedVectorType::get(e.b.getHalfTy(), 2));
    both = e.b.CreateInsertElement(both, channel[size_t{r} * 2], uint64_t{0});
    e.write(registers[r], e.b.CreateInsertElement(both, channel[size_t{r} * 2 + 1], uint64_t{1}), Type::F16x2);
  }
}

Value* outside_of(Emission& e) {
  using enum image::SurfaceOutside;
  return e.i32(static_cast<uint32_t>(e.has(Modifier::Trap) ? Trap : e.has(Modifier::Clamp) ? Clamp : Zero));
}

/// Its image::TextureGeometry.
Value* number_of(Emission& e, const Geometry& geometry) {
  return e.i32(static_cast<uint32_t>(&geometry - kGeometries));
}

/// Where the bytes of suld.b, sust.b and sured are; null for those that are dropped. Null and refused without an
/// object.
Value* surface_bytes(Emission& e, size_t i, unsigned bytes) {
  const Geometry& geometry = geometry_of(e);
  Value* surface = object(e, i);
  if (!surface || !put_coordinates(e, i, geometry)) return nullptr;
  return e.call_library("__cupola_ptx_surface_bytes", e.b.getPtrTy(),
                        {e.words(), surface, number_of(e, geometry), e.i32(bytes), outside_of(e)});
}

/// Emits `access` for pointers that are not null. Values that reach what follows go through memory.
template <typename Access>
void unless_dropped(Emission& e, Value* pointer, Access access) {
  auto* there = llvm::BasicBlock::Create(e.module.context(), "", &e.into);
  auto* done = llvm::BasicBlock::Create(e.module.context(), "", &e.into);
  e.b.CreateCondBr(e.b.CreateIsNotNull(pointer), there, done);
  e.start_block(there);
  access();
  e.start_block(done);
}

}  // namespace

namespace emit {

void texture_fetch(Emission& e) {
  const Geometry& geometry = geometry_of(e);
  // Behind the brackets: of .level the level, of .grad two gradients; then the offset, then what depths are compared
  // to.
  const size_t offset = e.has(Level) ? 3 : e.has(Grad) ? 4 : 2;
  if (e.count() > offset + 1) return e.refuse("a comparison of depths is not supported");
  if (e.count() < offset) return e.refuse("the level or the gradients are missing");
  if (!geometry.dimensions && e.type() == Type::S32) return e.refuse("a cube has no integer coordinates");
  Value* texture = object(e, 1);
  if (!texture || !put_coordinates(e, 1, geometry) || !put_detail(e, geometry) || !put_offset(e, offset, geometry))
    return;
  const char* mode = e.has(Level) ? "level_" : e.has(Grad) ? "grad_" : "";
  e.call_library(formatted("__cupola_ptx_tex_{}{}_{}", mode, text_of(geometry.name), text_of(e.type())),
                 e.b.getVoidTy(), {e.words(), texture});
  take_channels(e, e.type(0));
}

void texture_gather(Emission& e) {
  const Geometry& geometry = geometry_of(e);
  if (!geometry.dimensions) return e.refuse("a gather from a cube is not supported");
  if (e.count() > 3) return e.refuse("a comparison of depths is not supported");
  constexpr Modifier kChannels[] = {Right, Green, MatrixB, MatrixA};  // .r .g .b .a
  uint32_t channel = 0;
  while (!e.has(kChannels[channel])) ++channel;
  Value* texture = object(e, 1);
  if (!texture || !put_coordinates(e, 1, geometry) || !put_offset(e, 2, geometry)) return;
  e.call_library(formatted("__cupola_ptx_tld4_{}", text_of(geometry.name)), e.b.getVoidTy(),
                 {e.words(), texture, e.i32(channel)});
  take_channels(e, e.type(0));
}

void texture_query(Emission& e) {
  if (e.has(MemoryLayout)) return e.refuse("surfaces have no layout that a program could ask for");
  uint32_t question = 0;
  while (question + 1 < std::size(kQuestions) && !e.has(kQuestions[question])) ++question;
  Value* level = e.has(Level) ? e.read(2, Type::B32) : e.i32(0);
  if (Value* texture = object(e, 1))
    e.write(0, e.call_library("__cupola_ptx_texture_query", e.b.getInt32Ty(), {texture, e.i32(question), level}));
}

void surface_load(Emission& e) {
  const unsigned count = e.form().vector(), bits = bits_of(e.type());
  Value* pointer = surface_bytes(e, 1, count * bits / 8);
  if (!pointer) return;
  llvm::Type* type = e.b.getIntNTy(bits);
  Value* words = e.words();  // 16 bytes at most
  for (unsigned i = 0; i < count; ++i)
    e.b.CreateStore(llvm::Constant::getNullValue(type), e.b.CreateConstGEP1_32(type, words, i));
  const llvm::Align alignment(std::min(bits / 8, 4u));
  unless_dropped(e, pointer, [&] {
    for (unsigned i = 0; i < count; ++i) {
      Value* loaded = e.b.CreateAlignedLoad(type, e.b.CreateConstGEP1_32(type, pointer, i), llvm::Align(1));
      e.b.CreateAlignedStore(loaded, e.b.CreateConstGEP1_32(type, words, i), alignment);
    }
  });
  const auto registers = e.elements(0);
  if (registers.size() != count) return e.refuse("a vector in braces is expected");
  for (unsigned i = 0; i < count; ++i)
    e.write(registers[i], e.b.CreateAlignedLoad(type, e.b.CreateConstGEP1_32(type, words, i), alignment), e.type());
}

void surface_store(Emission& e) {
  const unsigned count = e.form().vector(), bits = bits_of(e.type());
  const auto registers = e.elements(1);
  if (registers.size() != count) return e.refuse("a vector in braces is expected");
  if (e.has(FormattedP)) {
    const Geometry& geometry = geometry_of(e);
    Value* surface = object(e, 0);
    if (!surface || !put_coordinates(e, 0, geometry)) return;
    for (unsigned c = 0; c < 4; ++c)
      e.b.CreateStore(c < count ? e.read(registers[c], Type::B32) : e.i32(0), e.word(image::kStoredChannelWord + c));
    e.call_library("__cupola_ptx_surface_store_texel", e.b.getVoidTy(),
                   {e.words(), surface, number_of(e, geometry), outside_of(e)});
    return;
  }
  Value* pointer = surface_bytes(e, 0, count * bits / 8);
  if (!pointer) return;
  unless_dropped(e, pointer, [&] {
    for (unsigned i = 0; i < count; ++i) {
      Value* value = e.convert(e.read(registers[i], e.type()), e.b.getIntNTy(bits));
      e.b.CreateAlignedStore(value, e.b.CreateConstGEP1_32(value->getType(), pointer, i), llvm::Align(1));
    }
  });
}

void surface_reduce(Emission& e) {
  using Op = llvm::AtomicRMWInst::BinOp;
  const bool is_signed_type = is_signed(e.type());
  const Op op = e.has(Add)   ? Op::Add
                : e.has(And) ? Op::And
                : e.has(Or)  ? Op::Or
                : e.has(Min) ? (is_signed_type ? Op::Min : Op::UMin)
                             : (is_signed_type ? Op::Max : Op::UMax);
  const unsigned bytes = bits_of(e.type()) / 8;
  Value* pointer = nullptr;
  if (e.has(FormattedP)) {
    const Geometry& geometry = geometry_of(e);
    Value* surface = object(e, 0);
    if (!surface || !put_coordinates(e, 0, geometry)) return;
    pointer = e.call_library("__cupola_ptx_surface_texel", e.b.getPtrTy(),
                             {e.words(), surface, number_of(e, geometry), outside_of(e)});
  } else {
    pointer = surface_bytes(e, 0, bytes);
  }
  if (!pointer) return;
  unless_dropped(e, pointer, [&] {
    e.b.CreateAtomicRMW(op, pointer, e.convert(e.read(1), e.b.getIntNTy(bytes * 8)), llvm::Align(bytes),
                        llvm::AtomicOrdering::Monotonic);
  });
}

}  // namespace emit
}  // namespace cupola::ptx
