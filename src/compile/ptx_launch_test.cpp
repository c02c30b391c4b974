#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/ptx_fixture.h"

// Kernels in PTX that launch kernels. Oracle: "CUDA C++ Programming Guide, Device-Side Launch from PTX".

namespace cupola {
namespace {

using ::testing::ElementsAre;

constexpr const char* kDeclarations = R"(
  .extern .func (.param .b64 result) cudaGetParameterBuffer(.param .b64 alignment, .param .b64 size);
  .extern .func (.param .b32 result) cudaLaunchDevice(.param .b64 func, .param .b64 parameterBuffer,
    .param .align 4 .b8 gridDimension[12], .param .align 4 .b8 blockDimension[12], .param .b32 sharedMemSize,
    .param .b64 stream);
  .extern .func (.param .b64 result) cudaGetParameterBufferV2(.param .b64 func, .param .align 4 .b8 gridDimension[12],
    .param .align 4 .b8 blockDimension[12], .param .b32 sharedMemSize);
  .extern .func (.param .b32 result) cudaLaunchDeviceV2(.param .b64 parameterBuffer, .param .b64 stream);
  .visible .entry child(.param .u64 to, .param .u32 value) {
    .reg .b32 %r<8>; .reg .b64 %x<4>;
    ld.param.u64 %x0, [to]; ld.param.u32 %r0, [value];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;
    add.u32 %r0, %r0, %r1; cvt.u64.u32 %x1, %r0; mul.wide.u32 %x2, %r1, 8; add.u64 %x2, %x0, %x2;
    st.global.u64 [%x2+8], %x1;
    ret;
  }
)";

/// A scope with the two shapes: 2 blocks of 3 threads, or of %r20.
constexpr const char* kShapes = R"(
  .param .align 4 .b8 g[12]; st.param.b32 [g], 2; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
  .param .align 4 .b8 b[12]; st.param.b32 [b], %r20; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;
  .param .b32 s; st.param.b32 [s], 0;
)";

std::string first_version(const std::string& threads) {
  return "mov.u32 %r20, " + threads + R"(;
    { .param .b64 a; st.param.b64 [a], 64; .param .b64 n; st.param.b64 [n], 12; .param .b64 r;
      call.uni (r), cudaGetParameterBuffer, (a, n); ld.param.b64 %x3, [r]; }
    st.u64 [%x3], %x1; st.u32 [%x3+8], 700; mov.u64 %x4, child;
    {)" + kShapes +
         R"(
      .param .b64 f; st.param.b64 [f], %x4; .param .b64 p; st.param.b64 [p], %x3;
      .param .b64 t; st.param.b64 [t], 0; .param .b32 r;
      call.uni (r), cudaLaunchDevice, (f, p, g, b, s, t); ld.param.b32 %r2, [r]; }
    cvt.u64.u32 %x5, %r2; st.u64 [%x1], %x5;)";
}

TEST_F(Ptx, AKernelLaunchesAnother) {
  load(first_version("3"), kDeclarations);
  Words out(8, 9);
  run(1, nullptr, out.data());
  EXPECT_THAT(out, ElementsAre(0, 700, 701, 702, 703, 704, 705, 9));
}

TEST_F(Ptx, ALaunchThatIsTooLargeIsAnError) {
  load(first_version("1025"), kDeclarations);
  Words out(8, 9);
  run(1, nullptr, out.data());
  EXPECT_THAT(out, ElementsAre(9 /* cudaErrorInvalidConfiguration */, 9, 9, 9, 9, 9, 9, 9));
}

TEST_F(Ptx, AKernelLaunchesAnotherByTheSecondVersion) {
  load(std::string("mov.u32 %r20, 3; mov.u64 %x4, child; {") + kShapes + R"(
      .param .b64 f; st.param.b64 [f], %x4; .param .b64 r;
      call.uni (r), cudaGetParameterBufferV2, (f, g, b, s); ld.param.b64 %x3, [r]; }
    st.u64 [%x3], %x1; st.u32 [%x3+8], 40;
    { .param .b64 p; st.param.b64 [p], %x3; .param .b64 t; st.param.b64 [t], 0; .param .b32 r;
      call.uni (r), cudaLaunchDeviceV2, (p, t); ld.param.b32 %r2, [r]; }
    cvt.u64.u32 %x5, %r2; st.u64 [%x1], %x5;)",
       kDeclarations);
  Words out(8, 9);
  run(1, nullptr, out.data());
  EXPECT_THAT(out, ElementsAre(0, 40, 41, 42, 43, 44, 45, 9));
}

/// nvcc's code calls the device runtime by names of its own, and a program that it linked brings NVIDIA's definitions
/// of them, whose callees only NVIDIA's driver has: ours stand in for those.
TEST_F(Ptx, AKernelLaunchesAnotherByNvccsNames) {
  std::string declarations = kDeclarations, body = std::string("mov.u32 %r20, 3; mov.u64 %x4, child; {") + kShapes + R"(
      .param .b64 f; st.param.b64 [f], %x4; .param .b64 r;
      call.uni (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %x3, [r]; }
    st.u64 [%x3], %x1; st.u32 [%x3+8], 40;
    { .param .b64 p; st.param.b64 [p], %x3; .param .b64 t; st.param.b64 [t], 0; .param .b32 r;
      call.uni (r), __cudaCDP2LaunchDeviceV2_ptsz, (p, t); ld.param.b32 %r2, [r]; }
    { .param .b32 r; call.uni (r), cudaGetLastError, (); ld.param.b32 %r3, [r]; add.u32 %r2, %r2, %r3; }
    cvt.u64.u32 %x5, %r2; st.u64 [%x1], %x5;)";
  declarations += R"(
    .extern .func (.param .b64 result) __cudaCDP2GetParameterBufferV2(.param .b64 func,
      .param .align 4 .b8 gridDimension[12], .param .align 4 .b8 blockDimension[12], .param .b32 sharedMemSize);
    .extern .func (.param .b32 result) of_another_driver(.param .b64 buffer);
    .weak .func (.param .b32 result) cudaGetLastError() {
      .reg .b32 %r<1>; { .param .b64 p; st.param.b64 [p], 0; .param .b32 r;
      call.uni (r), of_another_driver, (p); ld.param.b32 %r0, [r]; } st.param.b32 [result], %r0; ret;
    }
    .weak .func (.param .b32 result) __cudaCDP2LaunchDeviceV2_ptsz(.param .b64 buffer, .param .b64 stream) {
      .reg .b32 %r<1>; .reg .b64 %x<1>; ld.param.b64 %x0, [buffer]; { .param .b64 p; st.param.b64 [p], %x0; .param .b32 r;
      call.uni (r), of_another_driver, (p); ld.param.b32 %r0, [r]; } st.param.b32 [result], %r0; ret;
    })";
  load(body, declarations.c_str());
  Words out(8, 9);
  run(1, nullptr, out.data());
  EXPECT_THAT(out, ElementsAre(0, 40, 41, 42, 43, 44, 45, 9));
}

/// What is no kernel's address is an error, not a crash.
TEST_F(Ptx, WhatIsNoKernelIsNotLaunched) {
  std::string body = first_version("3");
  const std::string address = "mov.u64 %x4, child;";
  body.replace(body.find(address), address.size(), "mov.u64 %x4, 0x1234560;");
  load(body, kDeclarations);
  Words out(8, 9);
  run(1, nullptr, out.data());
  EXPECT_THAT(out, ElementsAre(98 /* cudaErrorInvalidDeviceFunction */, 9, 9, 9, 9, 9, 9, 9));
}

}  // namespace
}  // namespace cupola
