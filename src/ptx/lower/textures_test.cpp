// The forms of texture and surface instructions that lower, and those that are refused. Oracle: the geometries and
// types of "PTX ISA, Texture Instructions, Surface Instructions". What they read and write:
// tests/api/driver_textures.cu.

#include <gtest/gtest.h>

#include <string>

#include "base/format.h"
#include "ptx/lower/form_fixture.h"

namespace cupola::ptx {
namespace {

/// The instruction in a kernel, made ready for a back-end, as text.
Result<std::string> prepared_text(const std::string& instruction, const std::string& before = "") {
  TRY(const Module parsed,
      parse(".version 8.0\n.target sm_70\n.address_size 64\n" + before +
            "\n.visible .entry k(.param .u64 o)\n{\n.reg .b64 t, w<4>; .reg .b32 d<4>, x, y, z, i; "
            ".reg .f32 f<4>; .reg .b16 h<4>;\n"
            "ld.param.u64 t, [o];\nmov.b32 x, 0; mov.b32 y, 0; mov.b32 z, 0; mov.b32 i, 0;\n" +
            instruction + "\nst.global.v4.b32 [t], {d0, d1, d2, d3};\nret;\n}\n"));
  TRY(verify(parsed));
  llvm::LLVMContext context;
  TRY(const std::unique_ptr<llvm::Module> module, lower(parsed, context));
  TRY(kir::prepare(*module, {.device_library = device_library()}));
  return kir::print(*module);
}

/// What is wrong with it; empty when it is ready.
std::string refusal_of(const std::string& instruction, const std::string& before = "") {
  const Result<std::string> text = prepared_text(instruction, before);
  return text ? std::string() : text.error().message;
}

struct Geometry {
  const char *name, *coordinates;
};
constexpr Geometry kFlat[] = {
    {"1d", "{x}"}, {"2d", "{x, y}"}, {"3d", "{x, y, z, z}"}, {"a1d", "{i, x}"}, {"a2d", "{i, x, y, y}"}};
constexpr Geometry kCubes[] = {{"cube", "{x, y, z, z}"}, {"acube", "{i, x, y, z}"}};

TEST(Textures, EveryGeometryAndTypeLowers) {
  for (const Geometry& g : kFlat)
    for (const char* type : {"s32", "u32", "f32"})
      for (const char* coordinate : {"s32", "f32"})
        EXPECT_EQ(refusal_of(formatted("tex.{}.v4.{}.{} {{{}}}, [t, {}];", g.name, type, coordinate,
                                       *type == 'f' ? "f0, f1, f2, f3" : "d0, d1, d2, d3", g.coordinates)),
                  "");
  for (const Geometry& g : kCubes)
    EXPECT_EQ(refusal_of(formatted("tex.{}.v4.u32.f32 {{d0, d1, d2, d3}}, [t, {}];", g.name, g.coordinates)), "");
  EXPECT_EQ(refusal_of("tex.2d.v4.f16.f32 {h0, h1, h2, h3}, [t, {x, y}];"), "");
  EXPECT_EQ(refusal_of("tex.2d.v2.f16x2.f32 {d0, d1}, [t, {x, y}];"), "");
  const auto fetched = [](const char* mode, const Geometry& g, const char* coordinate, const char* rest) {
    return refusal_of(
        formatted("tex.{}.{}.v4.u32.{} {{d0, d1, d2, d3}}, [t, {}]{};", mode, g.name, coordinate, g.coordinates, rest));
  };
  for (const Geometry& g : kFlat)
    for (const char* coordinate : {"s32", "f32"}) {
      EXPECT_EQ(fetched("base", g, coordinate, ""), "");
      EXPECT_EQ(fetched("level", g, coordinate, *coordinate == 's' ? ", i" : ", f0"), "");
      EXPECT_EQ(fetched("grad", g, coordinate, ", {f0, f1, f2, f2}, {f3, f1, f0, f0}"), "");
    }
  for (const Geometry& g : kCubes) {
    EXPECT_EQ(fetched("base", g, "f32", ""), "");
    EXPECT_EQ(fetched("level", g, "f32", ", f0"), "");
    EXPECT_EQ(fetched("grad", g, "f32", ", {f0, f1, f2, f2}, {f3, f1, f0, f0}"), "");
  }
  EXPECT_EQ(refusal_of("tex.grad.1d.v4.u32.f32 {d0, d1, d2, d3}, [t, {x}], {f0}, {f1};"), "");
  EXPECT_EQ(refusal_of("tex.level.2d.v4.u32.f32 {d0, d1, d2, d3}, [t, {x, y}], 0f3f800000, {i, i};"), "");
  EXPECT_EQ(refusal_of("tex.2d.v4.u32.f32 {d0, d1, d2, d3}, [t, {x, y}], {z, z};"), "");
  EXPECT_EQ(refusal_of("tld4.a.a2d.v4.u32.f32 {d0, d1, d2, d3}, [t, {i, x, y, y}];"), "");
  for (const char* question :
       {"txq.width", "txq.depth", "txq.channel_data_type", "txq.array_size", "txq.num_mipmap_levels", "suq.width"})
    EXPECT_EQ(refusal_of(formatted("{}.b32 d0, [t];", question)), "");
  for (const char* question : {"width", "height", "depth"})
    EXPECT_EQ(refusal_of(formatted("txq.level.{}.b32 d0, [t], i;", question)), "");
}

/// What a gather becomes.
std::string lowered(const std::string& words) {
  const auto parsed = parse(
      ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 o)\n{\n"
      ".reg .b64 t; .reg .b32 d<4>; .reg .f32 x;\n" +
      words + " {d0, d1, d2, d3}, [t, {x, x}];\nret;\n}\n");
  if (!parsed) return parsed.error().message;
  llvm::LLVMContext context;
  const auto module = lower(*parsed, context);
  return module ? kir::print(**module) : module.error().message;
}

TEST(Textures, GathersTakeTheChannelWhereverItStands) {
  std::string before;
  for (const char* channel : {"r", "g", "b", "a"}) {
    const std::string first = lowered(formatted("tld4.{}.2d.v4.u32.f32", channel));
    EXPECT_NE(first.find("__cupola_ptx_tld4_2d"), std::string::npos) << first;
    EXPECT_EQ(lowered(formatted("tld4.2d.{}.v4.u32.f32", channel)), first);
    EXPECT_NE(first, before);
    before = first;
  }
}

TEST(Textures, EverySurfaceAccessLowers) {
  struct Width {
    const char *form, *registers;
  };
  const Width widths[] = {{"b8", "h0"},           {"b16", "h0"},
                          {"b32", "d0"},          {"b64", "w0"},
                          {"v2.b8", "{h0, h1}"},  {"v4.b16", "{h0, h1, h2, h3}"},
                          {"v2.b64", "{w0, w1}"}, {"v4.b32", "{d0, d1, d2, d3}"}};
  for (const Geometry& g : kFlat)
    for (const Width& width : widths)
      for (const char* outside : {"trap", "clamp", "zero"}) {
        EXPECT_EQ(refusal_of(formatted("suld.b.{}.{}.{} {}, [t, {}];", g.name, width.form, outside, width.registers,
                                       g.coordinates)),
                  "");
        EXPECT_EQ(refusal_of(formatted("sust.b.{}.{}.{} [t, {}], {};", g.name, width.form, outside, g.coordinates,
                                       width.registers)),
                  "");
      }
  // nvcc's form: braces around what is one element.
  EXPECT_EQ(prepared_text("suld.b.2d.b32.trap {d0}, [t, {x, y}];").value(),
            prepared_text("suld.b.2d.b32.trap d0, [t, {x, y}];").value());
  EXPECT_EQ(prepared_text("sust.b.2d.b32.trap [t, {x, y}], {d0};").value(),
            prepared_text("sust.b.2d.b32.trap [t, {x, y}], d0;").value());
  EXPECT_NE(refusal_of("suld.b.2d.b16.trap {h0, h1}, [t, {x, y}];"), "");
  EXPECT_EQ(refusal_of("sust.p.2d.v4.b32.trap [t, {x, y}], {d0, d1, d2, d3};"), "");
  for (const char* form : {"b.1d.add.u32", "b.1d.min.s32", "p.1d.max.u32", "b.1d.or.b32"})
    EXPECT_EQ(refusal_of(formatted("sured.{}.clamp [t, {{x}}], d0;", form)), "");
  EXPECT_EQ(refusal_of("sured.b.1d.add.u64.clamp [t, {x}], w0;"), "");
}

TEST(Textures, RefusalsSayWhy) {
  const auto expect_refusal = [](const std::string& instruction, const std::string& why,
                                 const std::string& before = "") {
    const std::string message = refusal_of(instruction, before);
    EXPECT_NE(message.find(why), std::string::npos) << message;
  };
  expect_refusal("tex.2d.v4.u32.f32 {d0, d1, d2, d3}, [t, {x}];", "2 coordinates");
  expect_refusal("tex.2d.v4.u32.f32 {d0, d1, d2, d3}, [t];", "coordinates are missing");
  expect_refusal("tex.cube.v4.u32.s32 {d0, d1, d2, d3}, [t, {x, y, z, z}];", "integer coordinates");
  expect_refusal("tex.2d.v4.u32.f32 {d0, d1, d2, d3}, [t, t, {x, y}];", "sampler");
  expect_refusal("tex.level.2d.v4.u32.f32 {d0, d1, d2, d3}, [t, {x, y}];", "level or the gradients are missing");
  expect_refusal("tex.grad.3d.v4.u32.f32 {d0, d1, d2, d3}, [t, {x, y, z, z}], {f0, f1}, {f2, f3};", "3 elements");
  expect_refusal("tex.2d.v4.u32.f32 {d0, d1, d2, d3}, [t, {x, y}], {z, z}, f0;", "depth");
  expect_refusal("tex.2d.v4.u32.f32 {d0, d1, d2, d3}, [old, {x, y}];", "use texture objects", ".global .texref old;");
  expect_refusal("sust.b.2d.b32.trap [old, {x, y}], d0;", "use texture objects", ".global .surfref old;");
}

}  // namespace
}  // namespace cupola::ptx
