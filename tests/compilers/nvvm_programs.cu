// NVVM IR through libnvvm, alone and linked with PTX by libnvJitLink and by the driver, and run. Oracle: the values
// that the code's text says.

#include <nvJitLink.h>
#include <nvvm.h>

#include <string>

#include "../api/driver.h"

namespace {

/// Every element becomes twice(x) + lane, by a shuffle that gives each lane its own number.
constexpr char kKernel[] = R"(
target triple = "nvptx64-unknown-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare { i32, i1 } @llvm.nvvm.shfl.sync.i32(i32, i32, i32, i32, i32)
declare i32 @twice(i32)
define void @k(i32* %values, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %b, %w
  %i = add i32 %first, %t
  %lane = and i32 %t, 31
  %s = call { i32, i1 } @llvm.nvvm.shfl.sync.i32(i32 -1, i32 0, i32 %lane, i32 %lane, i32 31)
  %own = extractvalue { i32, i1 } %s, 0
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %store, label %done
store:
  %p = getelementptr i32, i32* %values, i32 %i
  %x = load i32, i32* %p
  %y = call i32 @twice(i32 %x)
  %z = add i32 %y, %own
  store i32 %z, i32* %p
  br label %done
done:
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (i32*, i32)* @k, !"kernel", i32 1}
)";
constexpr char kTwice[] = "define i32 @twice(i32 %x) {\n %y = shl i32 %x, 1\n ret i32 %y\n}\n";
constexpr char kTwicePtx[] = R"(.version 8.7
.target sm_89
.address_size 64
.visible .func (.param .b32 r) twice(.param .b32 x) {
  .reg .b32 %v;
  ld.param.b32 %v, [x];
  add.s32 %v, %v, %v;
  st.param.b32 [r], %v;
  ret;
}
)";

std::string compiled(const std::string& module, const char* library, std::vector<const char*> options) {
  nvvmProgram program;
  EXPECT_EQUAL(nvvmCreateProgram(&program), NVVM_SUCCESS);
  EXPECT_EQUAL(nvvmAddModuleToProgram(program, module.data(), module.size(), "k"), NVVM_SUCCESS);
  if (library) EXPECT_EQUAL(nvvmLazyAddModuleToProgram(program, library, strlen(library), "l"), NVVM_SUCCESS);
  options.push_back("-arch=compute_89");
  EXPECT_EQUAL(nvvmCompileProgram(program, static_cast<int>(options.size()), options.data()), NVVM_SUCCESS);
  size_t size = 0;
  nvvmGetCompiledResultSize(program, &size);
  std::string result(size, '\0');
  nvvmGetCompiledResult(program, result.data());
  EXPECT_EQUAL(nvvmDestroyProgram(&program), NVVM_SUCCESS);
  return result;
}

void run(const void* image) {
  check::use_context();
  constexpr int kCount = 1000, kThreads = 128;
  CUmodule module;
  CU_OK(cuModuleLoadData(&module, image));
  CUfunction kernel;
  CU_OK(cuModuleGetFunction(&kernel, module, "k"));
  check::Managed<int> values(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = 3 * i;
  int* pointer = values;
  int n = kCount;
  void* parameters[] = {&pointer, &n};
  CU_OK(cuLaunchKernel(kernel, (kCount + kThreads - 1) / kThreads, 1, 1, kThreads, 1, 1, 0, nullptr, parameters,
                       nullptr));
  CU_OK(cuCtxSynchronize());
  for (int i = 0; i < kCount; ++i) EXPECT_EQUAL_AT(i, values[i], 6 * i + i % kThreads % 32);
  CU_OK(cuModuleUnload(module));
}

std::string linked(const std::vector<std::pair<nvJitLinkInputType, std::string>>& pieces,
                   std::vector<const char*> options) {
  nvJitLinkHandle link;
  options.push_back("-arch=sm_89");
  EXPECT_EQUAL(nvJitLinkCreate(&link, static_cast<uint32_t>(options.size()), options.data()), NVJITLINK_SUCCESS);
  for (const auto& [type, code] : pieces)
    EXPECT_EQUAL(nvJitLinkAddData(link, type, code.data(), code.size(), "piece"), NVJITLINK_SUCCESS);
  EXPECT_EQUAL(nvJitLinkComplete(link), NVJITLINK_SUCCESS);
  size_t size = 0;
  const bool ptx = nvJitLinkGetLinkedCubinSize(link, &size) != NVJITLINK_SUCCESS;
  if (ptx) EXPECT_EQUAL(nvJitLinkGetLinkedPtxSize(link, &size), NVJITLINK_SUCCESS);
  std::string code(size, '\0');
  if (ptx)
    EXPECT_EQUAL(nvJitLinkGetLinkedPtx(link, code.data()), NVJITLINK_SUCCESS);
  else
    EXPECT_EQUAL(nvJitLinkGetLinkedCubin(link, code.data()), NVJITLINK_SUCCESS);
  EXPECT_EQUAL(nvJitLinkDestroy(&link), NVJITLINK_SUCCESS);
  return code;
}

}  // namespace

CASE(nvvm_to_ptx) {
  run(compiled(kKernel, kTwice, {}).data());
}

CASE(nvvm_to_ptx_linked_by_the_driver) {
  const std::string ptx = compiled(kKernel, nullptr, {});
  CUlinkState link;
  CU_OK(cuLinkCreate(0, nullptr, nullptr, &link));
  CU_OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(ptx.data()), ptx.size(), "k", 0, nullptr, nullptr));
  CU_OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kTwicePtx), sizeof kTwicePtx, "twice", 0, nullptr,
                      nullptr));
  void* cubin;
  size_t size;
  CU_OK(cuLinkComplete(link, &cubin, &size));
  run(cubin);
  CU_OK(cuLinkDestroy(link));
}

CASE(code_for_the_linker_with_ptx) {
  const std::string code = compiled(kKernel, nullptr, {"-gen-lto"});
  run(linked({{NVJITLINK_INPUT_LTOIR, code}, {NVJITLINK_INPUT_PTX, kTwicePtx}}, {"-lto"}).data());
  run(linked({{NVJITLINK_INPUT_LTOIR, code}, {NVJITLINK_INPUT_PTX, kTwicePtx}}, {"-lto", "-ptx"}).data());
}

CASE(code_for_the_linker_in_two_parts) {
  const std::string kernel = compiled(kKernel, nullptr, {"-gen-lto"}), twice = compiled(kTwice, nullptr, {"-gen-lto"});
  run(linked({{NVJITLINK_INPUT_LTOIR, kernel}, {NVJITLINK_INPUT_ANY, twice}}, {"-lto"}).data());
}

CASE(ptx_linked_by_nvjitlink) {
  const std::string kernel = compiled(kKernel, nullptr, {}), twice = compiled(kTwice, nullptr, {});
  run(linked({{NVJITLINK_INPUT_PTX, kernel}, {NVJITLINK_INPUT_PTX, twice}}, {}).data());
}

CHECK_MAIN()
