// sured: atomic operations on surfaces. Oracle: "PTX ISA, Surface Instructions: sured", and what an H200 left in
// memory.

#include <algorithm>
#include <array>
#include <cstdio>

#include "driver.h"

namespace {

using Words = std::array<uint32_t, 16>;

enum Kind { kLine = 1, kPlane = 2, kVolume = 3, kLines = 11, kPlanes = 12 };

/// Four texels wide; two high, deep, or of two layers, where the kind says so.
CUDA_ARRAY3D_DESCRIPTOR descriptor_of(Kind kind, unsigned channels) {
  CUDA_ARRAY3D_DESCRIPTOR d{};
  d.Width = 4;
  d.Height = kind == kLine || kind == kLines ? 0 : 2;
  d.Depth = kind == kLine || kind == kPlane ? 0 : 2;
  d.Format = CU_AD_FORMAT_UNSIGNED_INT32;
  d.NumChannels = channels;
  d.Flags = CUDA_ARRAY3D_SURFACE_LDST | (kind >= kLines ? CUDA_ARRAY3D_LAYERED : 0);
  return d;
}

/// Copies all of an array's words, to it or from it.
void copy_words(CUarray array, const CUDA_ARRAY3D_DESCRIPTOR& d, Words& words, bool to_array) {
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = d.Width * d.NumChannels * sizeof(uint32_t);
  copy.Height = std::max<size_t>(d.Height, 1);
  copy.Depth = std::max<size_t>(d.Depth, 1);
  copy.srcMemoryType = to_array ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
  copy.dstMemoryType = to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
  (to_array ? copy.dstArray : copy.srcArray) = array;
  copy.srcHost = copy.dstHost = words.data();
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes;
  copy.srcHeight = copy.dstHeight = copy.Height;
  CU_OK(cuMemcpy3D(&copy));
}

/// Runs the instructions once on an array of these words, and returns what is there then; the surface is %s.
Words after(const std::string& instructions, Kind kind, Words words, unsigned channels = 1) {
  CUmodule module = check::load_ptx(
      ".version 8.1\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 o)\n{\n"
      "\t.reg .b64 %s, %wide;\n\tld.param.u64 %s, [o];\n\t" +
      instructions + "\n\tret;\n}\n");
  if (!module) return {};
  CUfunction kernel = nullptr;
  CU_OK(cuModuleGetFunction(&kernel, module, "k"));
  const CUDA_ARRAY3D_DESCRIPTOR d = descriptor_of(kind, channels);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  CU_OK(cuArray3DCreate(&resource.res.array.hArray, &d));
  copy_words(resource.res.array.hArray, d, words, true);
  CUsurfObject surface = 0;
  CU_OK(cuSurfObjectCreate(&surface, &resource));
  void* parameters[] = {&surface};
  CU_OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  CU_OK(cuCtxSynchronize());
  copy_words(resource.res.array.hArray, d, words, false);
  CU_OK(cuSurfObjectDestroy(surface));
  CU_OK(cuArrayDestroy(resource.res.array.hArray));
  CU_OK(cuModuleUnload(module));
  return words;
}

/// Word 3 is -3, every other one 5.
Words before() {
  Words words;
  words.fill(5);
  words[3] = 0xfffffffd;
  return words;
}

struct Row {
  const char* instruction;
  Kind kind;
  unsigned word;    ///< the one that changes
  uint32_t result;  ///< what it becomes
};

void check_rows(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    Words expected = before();
    expected[row.word] = row.result;
    const Words got = after(row.instruction, row.kind, before());
    if (got != expected) std::printf("%s: word %u: %08x\n", row.instruction, row.word, got[row.word]);
    EXPECT(got == expected);
  }
}

}  // namespace

// .b counts bytes, and its type is the operation's.
CASE(reductions_by_bytes) {
  check_rows({
      {"sured.b.1d.add.u32.trap [%s, {8}], -9;", kLine, 2, 0xfffffffc},
      {"sured.b.1d.add.s32.trap [%s, {12}], 7;", kLine, 3, 4},
      {"sured.b.1d.min.s32.trap [%s, {4}], -9;", kLine, 1, 0xfffffff7},
      {"sured.b.1d.min.u32.trap [%s, {12}], 7;", kLine, 3, 7},
      {"sured.b.1d.max.s32.trap [%s, {12}], 7;", kLine, 3, 7},
      {"sured.b.1d.max.u32.trap [%s, {4}], -9;", kLine, 1, 0xfffffff7},
      {"sured.b.1d.and.b32.trap [%s, {12}], 7;", kLine, 3, 5},
      {"sured.b.1d.or.b32.trap [%s, {4}], -9;", kLine, 1, 0xfffffff7},
  });
}

// .p counts texels; the surface's format is the operation's type.
CASE(reductions_by_texels) {
  check_rows({
      {"sured.p.1d.add.b32.trap [%s, {1}], -9;", kLine, 1, 0xfffffffc},
      {"sured.p.1d.min.b32.trap [%s, {3}], 7;", kLine, 3, 7},
      {"sured.p.1d.max.b32.trap [%s, {1}], -9;", kLine, 1, 0xfffffff7},
      {"sured.p.1d.and.b32.trap [%s, {3}], 7;", kLine, 3, 5},
      {"sured.p.1d.or.b32.trap [%s, {1}], -9;", kLine, 1, 0xfffffff7},
  });
}

CASE(reductions_in_every_geometry) {
  check_rows({
      {"sured.b.2d.add.u32.trap [%s, {8, 1}], 1;", kPlane, 6, 6},
      {"sured.p.2d.add.b32.trap [%s, {2, 1}], 1;", kPlane, 6, 6},
      {"sured.b.3d.add.u32.trap [%s, {8, 1, 1, 0}], 1;", kVolume, 14, 6},
      {"sured.p.3d.add.b32.trap [%s, {2, 0, 1, 0}], 1;", kVolume, 10, 6},
      {"sured.b.a1d.add.u32.trap [%s, {1, 8}], 1;", kLines, 6, 6},
      {"sured.p.a1d.add.b32.trap [%s, {1, 2}], 1;", kLines, 6, 6},
      {"sured.b.a2d.add.u32.trap [%s, {1, 8, 1, 0}], 1;", kPlanes, 14, 6},
      {"sured.p.a2d.add.b32.trap [%s, {1, 2, 0, 0}], 1;", kPlanes, 10, 6},
  });
}

CASE(reductions_outside_move_to_the_edge_or_vanish) {
  check_rows({
      {"sured.b.1d.add.u32.clamp [%s, {400}], 1;", kLine, 3, 0xfffffffe},
      {"sured.b.1d.add.u32.clamp [%s, {-4}], 16;", kLine, 0, 21},
      {"sured.p.1d.add.b32.clamp [%s, {100}], 1;", kLine, 3, 0xfffffffe},
      {"sured.p.1d.add.b32.clamp [%s, {-1}], 16;", kLine, 0, 21},
      {"sured.b.1d.add.u32.zero [%s, {400}], 1;", kLine, 3, 0xfffffffd},
      {"sured.p.1d.add.b32.zero [%s, {-1}], 1;", kLine, 0, 5},
  });
}

CASE(reductions_of_64_bits) {
  Words words{1, 2, 5, 0, 7, 8};
  const Words got = after("mov.b64 %wide, -9; sured.b.1d.add.u64.trap [%s, {8}], %wide;", kLine, words, 2);
  words[2] = 0xfffffffc;
  words[3] = 0xffffffff;
  EXPECT(got == words);
}

CHECK_MAIN()
