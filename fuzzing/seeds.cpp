#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

#include "array/expression.h"
#include "backend/metal/metallib/sample_container.h"
#include "cases.h"
#include "image/compile_request.h"
#include "image/fatbin.h"
#include "image/sample_image.h"
#include "image/source_request.h"

// fuzz-seeds FOLDER: writes a valid input for each fuzzer to FOLDER/NAME, from where mutation reaches past the headers.

namespace {

using namespace cupola;

bool write_seed(const std::filesystem::path& folder, std::string_view name, std::span<const std::byte> bytes,
                const std::string& number = "") {
  std::filesystem::create_directories(folder / name);
  std::ofstream file(folder / name / ("seed" + number), std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return file.good();
}

/// Something of everything that the grammar has.
constexpr std::string_view kPtx = R"(.version 8.7
.target sm_89, debug
.address_size 64
.file 1 "a.cu"
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .shared .align 16 .b8 dynamic[];
.visible .global .align 8 .u64 table[2][2] = {{generic(x)+8, 5}, {0xFF}};
.global .attribute(.managed) .u32 x;
.const .f32 c[2] = {0f3F800000, 1.5};
.weak .func (.param .align 8 .b8 out[16]) f(.param .align 8 .b8 in[16], .param .b32 n) .noreturn
{
	.reg .b64 %rd<3>;
	ld.param.b64 %rd1, [in+8];
	st.param.v2.b64 [out], {%rd1, -1};
	ret;
}
.visible .entry k(.param .u64 .ptr .global .align 16 p, .param .u32 n)
.maxntid 128, 1, 1
.minnctapersm 2
{
	.reg .pred %p<3>;
	.reg .b32 %r<9>;
	.reg .f32 %f<5>;
	.reg .b64 %rd<5>;
	.shared .align 4 .b8 tile[512];
	.local .align 16 .b8 depot[32];
	.loc 1 7 3, function_name $L_f, inlined_at 1 2 3
	ld.param.u64 %rd1, [p];
	cvta.to.global.u64 %rd2, %rd1;
	ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2+-16];
	setp.lt.and.f32 %p1|%p2, %f1, 0f3F800000, !%p2;
	@!%p1 bra $L__done;
	atom.global.add.u32 %r1, [%rd2], 1;
	shfl.sync.bfly.b32 %r2|%p1, %r1, 16, 31, -1;
	mov.b64 %rd3, {%r1, %r2};
	mov.u32 %r3, %tid.x;
	vadd.s32.s32.u32.sat.add %r4, %r1.b0, %r2.h1, %r3;
	{ .param .b64 a; .param .b32 b; st.param.b64 [a], %rd3; call.uni (b), vprintf, (a, a); ld.param.b32 %r5, [b]; }
proto: .callprototype (.param .b32 _) _ (.param .b64 _);
	call (%r6), %rd1, (%rd3), proto;
list: .branchtargets $L__done, $L__end;
	brx.idx %r6, list;
$L__done:
	bar.sync 0;
	tex.2d.v4.f32.f32 {%f1, %f2, %f3, _}, [%rd1, {%f1, %f2}];
	cp.async.cg.shared.global [tile], [%rd2], 16;
$L__end:
	ret;
}
.section .debug_info { .b8 1 }
)";

/// A name expression, options, a source.
constexpr std::string_view kRuntimeSource = R"(N::f<int>
-arch=sm_80 -DK=3 -lineinfo
#include <cuda_fp16.h>
namespace N {
template <typename T> struct S { T a[K]; __device__ T get(int i) const { return a[i]; } };
__constant__ int c[2] = {1, 2};
template <typename T> __global__ void f(T* x) {
  __shared__ S<T> s;
  auto g = [=](int i) { return s.get(i) + c[i & 1]; };
  if (threadIdx.x == 0) s.a[0] = static_cast<T>(sinf(2.0f) + __half2float(__float2half(1.0f)));
  __syncthreads();
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(*(unsigned*)x));
  switch (x[1]) { case 0: x[0] = g(0); break; default: for (;;) break; }
}
}
)";

constexpr std::string_view kModules[] = {
#define PTX_SEED(text) ".version 8.7\n.target sm_90\n.address_size 64\n" text,
#include "ptx_seeds.def"
#undef PTX_SEED
};

bool write_modules(const std::filesystem::path& folder) {
  size_t number = 0;
  for (const std::string_view text : kModules)
    if (!write_seed(folder, "ptx_lower", std::as_bytes(std::span(text)), "-module" + std::to_string(++number)))
      return false;
  return true;
}

/// Something of everything that an expression holds.
std::vector<std::byte> sample_expression() {
  array::Expression expression(array::ElementType::F32);
  const array::NodeNumber arguments[] = {expression.add_input().value(), expression.add_scalar().value()};
  const array::NodeNumber more[] = {expression.add_operation("add", false, arguments).value(),
                                    expression.add_constant(0x3f800000).value()};
  const array::NodeNumber sum[] = {expression.add_operation("multiply", false, more).value()};
  (void)expression.add_output(expression.add_operation("sin", true, sum).value());
  return array::serialize(expression);
}

/// A kernel for each row of the table of instructions that the referee knows how to call.
bool write_instructions(const std::filesystem::path& folder) {
  std::set<uint16_t> seen;
  ptx::FormTable forms;
  for (const ptxtest::Case& each : ptxtest::all_cases({}, {}, false)) {
    // The count of operands tells rows apart that begin alike.
    for (size_t operands = 0; operands < 12; ++operands) {
      const auto form = forms.understand(each.form, operands);
      if (!form || !seen.insert((*form)->row->index).second) continue;
      const ptxtest::Case* one[] = {&each};
      const std::string text = ptxtest::module_text(one);
      if (!write_seed(folder, "ptx_lower", std::as_bytes(std::span(text)), std::to_string(seen.size()))) return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz-seeds FOLDER\n");
    return 2;
  }
  const std::vector<std::byte> code(40, std::byte{'B'});
  const image::FatbinEntry entries[] = {{image::FatbinKind::Kir, 89, 0, code, 0},
                                        {image::FatbinKind::Ptx, 75, 0, code, 0}};
  const bool written =
      write_seed(argv[1], "kernel_image", image::serialize(image::sample_image())) &&
      write_seed(argv[1], "metal_image", image::serialize(image::sample_metal_image())) &&
      write_seed(argv[1], "compile_request",
                 image::serialize(image::CompileRequest{"cpu:x86-64-v3", "", {{image::CodeKind::Kir, code}}, "all"})) &&
      write_seed(argv[1], "source_request",
                 image::serialize(image::SourceRequest{.name = "k.cu", .source = "text", .headers = {{"a", "b"}}})) &&
      write_seed(argv[1], "source_request", image::serialize(image::SourceAnswer{.log = "l", .kir = code}),
                 "-answer") &&
      write_seed(argv[1], "nvrtc", std::as_bytes(std::span(kRuntimeSource))) &&
      write_seed(argv[1], "expression", sample_expression()) &&
      write_seed(argv[1], "fatbin", image::write_fatbin(entries).value()) &&
      write_seed(argv[1], "metallib", metallib::sample_container()) &&
      write_seed(argv[1], "metallib", metallib::sample_module({.note = "what the host must know"}), "-module") &&
      write_seed(argv[1], "ptx", std::as_bytes(std::span(kPtx))) &&
      write_seed(argv[1], "ptx_lower", std::as_bytes(std::span(kPtx))) && write_modules(argv[1]) &&
      write_instructions(argv[1]);
  return written ? 0 : 1;
}
