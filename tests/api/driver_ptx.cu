// Modules from PTX text: calls, variables, parameters, control flow, linking, and what is refused. Instructions by
// themselves are tested in tests/ptx. Oracle: "Parallel Thread Execution ISA", chapters 5 (state spaces), 7
// (ABI), 9.7.12 (control flow), 11 (directives), and "CUDA Driver API", Module Management; the arithmetic is done by
// hand or again on the host.

#include <numeric>

#include "driver.h"

namespace {

constexpr const char* kHead = ".version 7.0\n.target sm_70\n.address_size 64\n";

CUmodule load(const std::string& body) {
  return check::load_ptx(kHead + body);
}

/// Runs kernel "k" of the module over `threads` threads with an array of 64-bit words, and gives the array back.
std::vector<uint64_t> run(CUmodule module, std::vector<uint64_t> words, unsigned threads = 1, unsigned shared = 0) {
  CUfunction kernel = nullptr;
  CU_OK(cuModuleGetFunction(&kernel, module, "k"));
  CUdeviceptr memory = 0;
  CU_OK(cuMemAlloc(&memory, words.size() * 8));
  CU_OK(cuMemcpyHtoD(memory, words.data(), words.size() * 8));
  void* parameters[] = {&memory};
  CU_OK(cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, shared, nullptr, parameters, nullptr));
  CU_OK(cuCtxSynchronize());
  CU_OK(cuMemcpyDtoH(words.data(), memory, words.size() * 8));
  CU_OK(cuMemFree(memory));
  return words;
}

std::vector<uint64_t> run(const std::string& body, std::vector<uint64_t> words, unsigned threads = 1,
                          unsigned shared = 0) {
  CUmodule module = load(body);
  if (!module) return words;
  words = run(module, std::move(words), threads, shared);
  CU_OK(cuModuleUnload(module));
  return words;
}

CASE(functions_call_functions) {
  const auto words = run(R"(
.func (.param .b32 r) factorial(.param .b32 n)
{
	.reg .pred %p; .reg .b32 %r<5>;
	ld.param.u32 %r1, [n];
	setp.le.u32 %p, %r1, 1;
	@%p bra one;
	sub.u32 %r2, %r1, 1;
	{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), factorial, (a); ld.param.b32 %r3, [b]; }
	mul.lo.u32 %r4, %r3, %r1;
	st.param.b32 [r], %r4;
	ret;
one:
	st.param.b32 [r], 1;
	ret;
}
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<3>; .reg .b64 %rd<3>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1];
	call (%r2), factorial, (%r1);
	cvt.u64.u32 %rd2, %r2;
	st.global.u64 [%rd1], %rd2;
	ret;
})",
                         {10});
  EXPECT_EQUAL(words[0], 3628800u);
}

CASE(structures_go_by_value) {
  const auto words = run(R"(
.func (.param .align 8 .b8 out[16]) swap(.param .align 8 .b8 in[16])
{
	.reg .b64 %rd<3>;
	ld.param.v2.u64 {%rd1, %rd2}, [in];
	st.param.u64 [out], %rd2;
	st.param.u64 [out+8], %rd1;
	ret;
}
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [p];
	ld.global.v2.u64 {%rd2, %rd3}, [%rd1];
	{
	.param .align 8 .b8 a[16]; .param .align 8 .b8 b[16];
	st.param.u64 [a], %rd2; st.param.u64 [a+8], %rd3;
	call.uni (b), swap, (a);
	ld.param.u64 %rd4, [b]; ld.param.u64 %rd5, [b+8];
	}
	st.global.u64 [%rd1], %rd4; st.global.u64 [%rd1+8], %rd5;
	ret;
})",
                         {7, 9});
  EXPECT_EQUAL(words[0], 9u);
  EXPECT_EQUAL(words[1], 7u);
}

CASE(addresses_of_functions_are_called_through_prototypes) {
  const auto words = run(R"(
.func (.param .b64 r) twice(.param .b64 x) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [x]; add.s64 %rd2, %rd1, %rd1; st.param.b64 [r], %rd2; ret; }
.func (.param .b64 r) square(.param .b64 x) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [x]; mul.lo.s64 %rd2, %rd1, %rd1; st.param.b64 [r], %rd2; ret; }
.global .align 8 .u64 table[2] = {twice, square};
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<9>; .reg .b32 %r<3>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 8;
	add.s64 %rd3, %rd1, %rd2;
	mov.u64 %rd4, table;
	add.s64 %rd5, %rd4, %rd2;
	ld.global.u64 %rd6, [%rd5];
	ld.global.u64 %rd7, [%rd3];
	{
	.param .b64 a; .param .b64 b;
	st.param.b64 [a], %rd7;
	proto: .callprototype (.param .b64 _) _ (.param .b64 _);
	call (b), %rd6, (a), proto;
	ld.param.b64 %rd8, [b];
	}
	st.global.u64 [%rd3], %rd8;
	ret;
})",
                         {21, 21}, 2);
  EXPECT_EQUAL(words[0], 42u);
  EXPECT_EQUAL(words[1], 441u);
}

CASE(branches_take_an_index) {
  const auto words = run(R"(
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<5>; .reg .b32 %r<3>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 8;
	add.s64 %rd3, %rd1, %rd2;
	ts: .branchtargets zero, one, two;
	brx.idx %r1, ts;
zero:
	mov.u64 %rd4, 100;
	bra done;
one:
	mov.u64 %rd4, 101;
	bra done;
two:
	mov.u64 %rd4, 102;
done:
	st.global.u64 [%rd3], %rd4;
	ret;
})",
                         {0, 0, 0}, 3);
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQUAL_AT(i, words[i], 100 + i);
}

CASE(variables_have_their_initial_values) {
  CUmodule module = load(R"(
.visible .global .align 4 .u32 counter = 5;
.global .align 8 .u64 where = generic(counter);
.const .align 4 .f32 factors[3] = {0f40000000, 2.5};
.global .align 1 .b8 text[4] = {104, 105};
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .f32 %f<3>;
	ld.param.u64 %rd1, [p];
	ld.global.u64 %rd2, [where];
	ld.u32 %r1, [%rd2];
	st.global.u32 [%rd1], %r1;
	ld.const.f32 %f1, [factors+4];
	st.global.f32 [%rd1+4], %f1;
	ld.global.u8 %r2, [text+1];
	st.global.u32 [%rd1+8], %r2;
	ld.const.f32 %f2, [factors+8];
	st.global.f32 [%rd1+12], %f2;
	add.u32 %r3, %r1, 1;
	st.global.u32 [counter], %r3;
	ret;
})");
  if (!module) return;
  for (uint32_t launch = 0; launch < 2; ++launch) {  // what a kernel writes the next one sees
    const auto words = run(module, {0, ~0ull});
    EXPECT_EQUAL(words[0], 0x4020000000000000ull | (5 + launch));
    EXPECT_EQUAL(words[1], 105u);
  }
  CUdeviceptr counter = 0;
  size_t bytes = 0;
  CU_OK(cuModuleGetGlobal(&counter, &bytes, module, "counter"));
  EXPECT_EQUAL(bytes, 4u);
  uint32_t value = 40;
  CU_OK(cuMemcpyHtoD(counter, &value, 4));
  EXPECT_EQUAL(run(module, {0, 0})[0] & 0xffffffff, 40u);
  CU_OK(cuModuleUnload(module));
}

CASE(variables_that_are_not_visible_have_names_too) {  // `static __device__`, as nvcc writes it
  CUmodule module = load(R"(
.global .align 4 .u32 hidden = 3;
.const .align 4 .u32 scale[2] = {10, 20};
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<2>; .reg .b32 %r<4>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [hidden];
	ld.const.u32 %r2, [scale+4];
	mad.lo.u32 %r3, %r1, %r2, 1;
	st.global.u32 [%rd1], %r3;
	ret;
})");
  if (!module) return;
  EXPECT_EQUAL(run(module, {0})[0], 61u);
  CUdeviceptr address = 0;
  size_t bytes = 0;
  const uint32_t values[2] = {5, 7};
  CU_OK(cuModuleGetGlobal(&address, &bytes, module, "hidden"));
  EXPECT_EQUAL(bytes, 4u);
  CU_OK(cuMemcpyHtoD(address, values, 4));
  CU_OK(cuModuleGetGlobal(&address, &bytes, module, "scale"));
  EXPECT_EQUAL(bytes, 8u);
  CU_OK(cuMemcpyHtoD(address + 4, values + 1, 4));
  EXPECT_EQUAL(run(module, {0})[0], 36u);
  CU_OK(cuModuleUnload(module));
}

CASE(shared_memory_is_static_and_dynamic) {
  std::vector<uint64_t> words(64);
  std::iota(words.begin(), words.end(), 0u);
  const auto reversed = run(R"(
.extern .shared .align 16 .b8 dynamic[];
.shared .align 4 .u32 offset;
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<6>; .reg .b32 %r<9>; .reg .pred %q;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %q, %r1, 5;
	@!%q st.shared.u32 [offset], 1000;
	mul.wide.u32 %rd2, %r1, 8;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u64 %rd4, [%rd3];
	mov.u32 %r2, dynamic;
	shl.b32 %r3, %r1, 3;
	add.u32 %r4, %r2, %r3;
	st.shared.u64 [%r4], %rd4;
	bar.sync 0;
	ld.shared.u32 %r5, [offset];
	sub.u32 %r6, %r2, %r3;
	ld.shared.u64 %rd4, [%r6+504];
	cvt.u64.u32 %rd5, %r5;
	add.u64 %rd4, %rd4, %rd5;
	st.global.u64 [%rd3], %rd4;
	ret;
})",
                            words, 64, 512);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQUAL_AT(i, reversed[i], 1063u - i);
}

CASE(local_memory_belongs_to_its_thread) {
  const auto words = run(R"(
.visible .entry k(.param .u64 p)
{
	.local .align 8 .b8 depot[64];
	.reg .b64 %SP, %SPL, %rd<6>; .reg .b32 %r<3>;
	mov.u64 %SPL, depot;
	cvta.local.u64 %SP, %SPL;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 8;
	add.s64 %rd3, %SPL, 8;
	st.local.u64 [%rd3], %rd2;
	bar.sync 0;
	ld.u64 %rd4, [%SP+8];
	add.s64 %rd5, %rd1, %rd2;
	st.global.u64 [%rd5], %rd4;
	ret;
})",
                         std::vector<uint64_t>(40), 40);
  for (unsigned i = 0; i < 40; ++i) EXPECT_EQUAL_AT(i, words[i], 8u * i);
}

CASE(parameters_lie_at_their_natural_offsets) {
  CUmodule module = load(R"(
.visible .entry k(.param .u8 a, .param .u16 b, .param .u32 c, .param .align 4 .b8 d[12], .param .u64 p, .param .f64 e)
.maxntid 96, 1, 1
{
	.reg .b64 %rd<3>; .reg .b32 %r<8>; .reg .f64 %fd;
	ld.param.u64 %rd1, [p];
	ld.param.u8 %r1, [a]; st.global.u32 [%rd1], %r1;
	ld.param.s16 %r2, [b]; st.global.u32 [%rd1+4], %r2;
	ld.param.u32 %r3, [c]; st.global.u32 [%rd1+8], %r3;
	ld.param.u32 %r4, [d+8]; st.global.u32 [%rd1+12], %r4;
	mov.b64 %rd2, d; ld.param.u16 %r5, [d+6]; st.global.u32 [%rd1+16], %r5;
	ld.param.f64 %fd, [e]; st.global.f64 [%rd1+24], %fd;
	ret;
})");
  if (!module) return;
  CUfunction kernel = nullptr;
  CU_OK(cuModuleGetFunction(&kernel, module, "k"));
  CUdeviceptr memory = 0;
  CU_OK(cuMemAlloc(&memory, 32));
  uint8_t a = 200;
  int16_t b = -3;
  uint32_t c = 0xdeadbeef;
  uint16_t d[6] = {1, 2, 3, 4, 5, 6};
  double e = -0.5;
  void* parameters[] = {&a, &b, &c, d, &memory, &e};
  CU_OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  uint32_t got[8] = {};
  CU_OK(cuMemcpyDtoH(got, memory, 32));
  const uint32_t expected[5] = {200, 0xfffffffd, 0xdeadbeef, 0x00060005, 4};
  for (int i = 0; i < 5; ++i) EXPECT_EQUAL_AT(i, got[i], expected[i]);
  double got_e = 0;
  std::memcpy(&got_e, got + 6, 8);
  EXPECT_EQUAL(got_e, -0.5);
  // The same parameters as one block, as `extra` passes them.
  struct {
    uint8_t a;
    int16_t b;
    uint32_t c;
    uint16_t d[6];
    CUdeviceptr p;
    double e;
  } block{1, 2, 3, {0, 0, 0, 0, 9, 0}, memory, 4};
  size_t size = sizeof block;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  CU_OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  CU_OK(cuMemcpyDtoH(got, memory, 32));
  EXPECT_EQUAL(got[0], 1u);
  EXPECT_EQUAL(got[3], 9u);
  int most = 0;
  CU_OK(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel));
  EXPECT_EQUAL(most, 96);
  CU_OK(cuMemFree(memory));
  CU_OK(cuModuleUnload(module));
}

CASE(guards_step_over_anything) {
  const auto words = run(R"(
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %q<3>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	setp.lt.u32 %q1, %r1, 3;
	mul.wide.u32 %rd2, %r1, 8;
	add.s64 %rd3, %rd1, %rd2;
	mov.u32 %r2, 5;
	@%q1 mov.u32 %r2, 6;
	@!%q1 add.u32 %r2, %r2, 10;
	@%q1 atom.global.add.u32 %r3, [%rd1+64], 1;
	st.global.u32 [%rd3], %r2;
	setp.gt.u32 %q2, %r1, 5;
	@%q2 exit;
	st.global.u32 [%rd3+4], 1;
	@%q1 ret;
	st.global.u32 [%rd3+4], 2;
})",
                         std::vector<uint64_t>(9), 8);
  EXPECT_EQUAL(words[8], 3u);
  for (unsigned i = 0; i < 8; ++i) {
    const uint64_t low = i < 3 ? 6 : 15, high = i < 3 ? 1 : i <= 5 ? 2 : 0;
    EXPECT_EQUAL_AT(i, words[i], low | high << 32);
  }
}

// ---- separate compilation ----

std::vector<unsigned char> fat_binary(const std::string& text) {
  const size_t padded = (text.size() + 8) / 8 * 8;
  std::vector<unsigned char> bytes(16 + 64 + padded);
  const auto put = [&](size_t at, uint64_t value, size_t size) { std::memcpy(&bytes[at], &value, size); };
  put(0, 0xBA55ED50, 4), put(4, 1, 2), put(6, 16, 2), put(8, bytes.size() - 16, 8);
  put(16, 1, 2), put(18, 0x101, 2), put(20, 64, 4), put(24, padded, 8), put(44, 70, 4), put(56, 0x11, 8);
  std::memcpy(&bytes[80], text.data(), text.size());
  return bytes;
}

CASE(units_of_separate_compilation_are_linked) {
  check::use_context();
  const auto first = fat_binary(std::string(kHead) + R"(
.extern .func (.param .b32 r) helper(.param .b32 x);
.extern .global .align 4 .u32 bias;
.weak .func (.param .b32 r) both(.param .b32 x) { .reg .b32 %r<3>; ld.param.u32 %r1, [x]; add.u32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; }
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd1; .reg .b32 %r<6>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1];
	call (%r2), helper, (%r1);
	call (%r3), both, (%r2);
	ld.global.u32 %r4, [bias];
	add.u32 %r5, %r3, %r4;
	st.global.u32 [%rd1], %r5;
	ret;
})");
  const auto second = fat_binary(std::string(kHead) + R"(
.visible .global .align 4 .u32 bias = 1000;
.weak .func (.param .b32 r) both(.param .b32 x) { .reg .b32 %r<3>; ld.param.u32 %r1, [x]; add.u32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; }
.visible .func (.param .b32 r) helper(.param .b32 x) { .reg .b32 %r<4>; ld.param.u32 %r1, [x]; mul.lo.u32 %r2, %r1, 3; call (%r3), both, (%r2); st.param.b32 [r], %r3; ret; }
)");
  const void* units[] = {first.data(), second.data(), nullptr};
  struct {
    uint32_t magic = 0x466243B1, version = 2;
    const void* data = nullptr;
    const void* list = nullptr;
  } wrapper;
  wrapper.data = first.data();
  wrapper.list = units;
  CUmodule module = nullptr;
  CU_OK(cuModuleLoadFatBinary(&module, &wrapper));
  if (!module) return;
  EXPECT_EQUAL(run(module, {7})[0], 1023u);  // 7 * 3 + 1, + 1, + 1000
  CU_OK(cuModuleUnload(module));
}

// ---- refusals ----

/// The code of loading the text, and the log.
CUresult refused(const std::string& text, std::string& log) {
  check::use_context();
  char buffer[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {buffer, reinterpret_cast<void*>(sizeof buffer)};
  CUmodule module = nullptr;
  const CUresult result = cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
  log = buffer;
  return result;
}

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// mad.f32 without a rounding is mad.rn.f32 before PTX 3.2: (1 + 2^-23)^2 - (1 + 2^-22) is 2^-46, in one rounding.
CASE(old_text_leaves_the_rounding_of_mad_out) {
  const auto text = [](const std::string& head) {
    return head + R"(
.entry k (.param .u64 p)
{
	.reg .u64 %rd<2>; .reg .f32 %f<4>; .reg .u32 %r<2>;
	ld.param.u64 %rd1, [p];
	mov.b32 %f1, 0x3f800001;
	mov.b32 %f2, 0xbf800002;
	mad.f32 %f3, %f1, %f1, %f2;
	mov.b32 %r1, %f3;
	st.global.u32 [%rd1], %r1;
	exit;
})";
  };
  CUmodule module = check::load_ptx(text(".version 1.4\n.target sm_13\n"));
  if (!module) return;
  EXPECT_EQUAL(run(module, {0})[0], 0x28800000u);
  CU_OK(cuModuleUnload(module));
  std::string log;
  EXPECT_CUDA(refused(text(".version 3.2\n.target sm_20\n.address_size 64\n"), log), CUDA_ERROR_INVALID_PTX);
}

CASE(errors_come_when_the_text_is_loaded) {
  std::string log;
  EXPECT_CUDA(refused(std::string(kHead) +
                          ".visible .entry k()\n{\n\t.reg .b32 %r1;\n\tadd.s32 %r1, %r1, %nowhere;\n\tret;\n}\n",
                      log),
              CUDA_ERROR_INVALID_PTX);
  EXPECT(has(log, "line 7"));
  EXPECT(has(log, "%nowhere"));
  EXPECT_CUDA(refused(std::string(kHead) + ".visible .entry k()\n{\n\tfrobnicate;\n}\n", log), CUDA_ERROR_INVALID_PTX);
  EXPECT(has(log, "frobnicate"));
  EXPECT_CUDA(refused(std::string(kHead) + ".visible .entry k()\n{\n", log), CUDA_ERROR_INVALID_PTX);
  EXPECT(!log.empty());
}

/// What a launch gives of a kernel that is this statement, in a context of its own.
CUresult outcome_of(const std::string& statement) {
  CUcontext own = nullptr;
  CU_OK(cuCtxCreate(&own, nullptr, 0, check::the_device()));
  const std::string text = kHead + (".visible .entry k()\n{\n\t" + statement + "\n\tret;\n}\n");
  CUmodule module = nullptr;
  CU_OK(cuModuleLoadData(&module, text.c_str()));
  CUfunction kernel = nullptr;
  CU_OK(cuModuleGetFunction(&kernel, module, "k"));
  CU_OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  const CUresult outcome = cuCtxSynchronize();
  CU_OK(cuCtxDestroy(own));
  return outcome;
}

CASE(trap_ends_the_grid) {
  EXPECT_CUDA(outcome_of("trap;"), CUDA_ERROR_LAUNCH_FAILED);
}

CASE(brkpt_without_a_debugger_ends_the_grid) {
  EXPECT_CUDA(outcome_of("brkpt;"), CUDA_ERROR_LAUNCH_FAILED);
}

// 32 threads copy 16 bytes each and add up the words of the thread behind; a phase ends when all of them have arrived.
CASE(an_mbarrier_ends_its_phase_after_copies) {
  constexpr const char* kText = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>;
	.shared .align 16 .b8 tile[512]; .shared .align 8 .b64 barrier;
	ld.param.u64 %rd1, [p];
	prefetch.tensormap [%rd1];
	cvta.to.global.u64 %rd1, %rd1;
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %p, %r1, 0;
	@%p bra.uni ready;
	mbarrier.init.shared.b64 [barrier], 32;
ready:
	bar.sync 0;
	shl.b32 %r2, %r1, 4;
	cvt.u64.u32 %rd2, %r2;
	add.u64 %rd2, %rd1, %rd2;
	mov.u32 %r3, tile;
	add.u32 %r4, %r3, %r2;
	cp.async.cg.shared.global.L2::128B [%r4], [%rd2], 16;
	cp.async.wait_all;
	setp.lt.u32 %p, %r1, 16;
	@%p bra lower;
	mbarrier.arrive.shared::cluster.b64 %rd3, [barrier];
	bra wait;
lower:
	mbarrier.arrive.shared::cta.b64 %rd3, [barrier];
wait:
	mbarrier.try_wait.parity.shared::cta.b64 %p, [barrier], 0;
	@!%p bra wait;
	add.u32 %r5, %r2, 16;
	and.b32 %r5, %r5, 511;
	add.u32 %r5, %r3, %r5;
	ld.shared.v2.u64 {%rd4, %rd5}, [%r5];
	add.u64 %rd4, %rd4, %rd5;
	bar.sync 0;
	st.global.u64 [%rd2], %rd4;
	ret;
}
)";
  std::vector<uint64_t> words(64);
  std::iota(words.begin(), words.end(), 100);
  check::use_context();
  CUmodule module = nullptr;
  CU_OK(cuModuleLoadData(&module, kText));
  const auto sums = run(module, words, 32);
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned behind = (i + 1) % 32;
    EXPECT_EQUAL(sums[2 * i], words[2 * behind] + words[2 * behind + 1]);
  }
  CU_OK(cuModuleUnload(module));
}

CASE(machine_code_alone_is_no_binary) {
  check::use_context();
  auto bytes = fat_binary("not code");
  bytes[16] = 2;  // kind: ELF
  CUmodule module = nullptr;
  EXPECT_CUDA(cuModuleLoadData(&module, bytes.data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

}  // namespace

CASE(the_error_log_of_a_link) {
  check::use_context();
  const std::string good = std::string(kHead) + ".visible .entry k() { ret; }\n";
  const std::string open =
      std::string(kHead) + ".extern .func nowhere();\n.visible .entry l() { call nowhere; ret; }\n";
  char log[256] = "untouched";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUlinkState link = nullptr;
  void* image = nullptr;
  size_t bytes = 0;
  CU_OK(cuLinkCreate(2, options, values, &link));
  for (const std::string& text : {good, open})
    CU_OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()), text.size() + 1, "unit", 0, nullptr,
                        nullptr));
  EXPECT_CUDA(cuLinkComplete(link, &image, &bytes), CUDA_ERROR_INVALID_SOURCE);  // as an H200 (driver 580)
  EXPECT(std::strstr(log, "nowhere") != nullptr);
  CU_OK(cuLinkDestroy(link));
}

CHECK_MAIN()
