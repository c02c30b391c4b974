// Code for the metal device through the C entry: images of source, and containers of compiled kernels.

#include <gmock/gmock.h>

#include "backend/metal/metallib/container.h"
#include "backend/metal/metallib/module_summary.h"
#include "compile/code_fixture.h"
#include "image/metal_image.h"

namespace cupola {
namespace {

using ::testing::HasSubstr;

/// A kernel named as a function of the C library, one with a name that MSL has not, and one that Metal cannot have.
constexpr const char* kKernels = R"(
  @counter = addrspace(1) global i32 7
  define ptx_kernel void @memset(ptr %out, i32 %a) {
    %c = load i32, ptr addrspace(1) @counter
    %s = add i32 %a, %c
    store i32 %s, ptr %out
    ret void
  }
  define ptx_kernel void @"a$b"(ptr %out) {
    ret void
  }
  define ptx_kernel void @time(ptr %out) {
    %t = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
    store i64 %t, ptr %out
    ret void
  }
  declare i64 @llvm.nvvm.read.ptx.sreg.clock64()
)";

Result<std::shared_ptr<const std::vector<std::byte>>> made_for(const char* target, const std::string& text) {
  return compiled({target, "", {{image::CodeKind::Kir, bytes_of(text)}}, {}});
}

/// What a container says of itself.
image::MetalImage note_of(std::span<const std::byte> container) {
  const metallib::Library library = metallib::read(container).value();
  const metallib::ModuleSummary first = metallib::summarize(library.functions.front().module).value();
  for (const metallib::Function& function : std::span(library.functions).subspan(1))
    EXPECT_EQ(metallib::summarize(function.module)->image_note, "");
  return image::deserialize_metal(std::as_bytes(std::span(first.image_note))).value();
}

void expect_kernels(const image::MetalImage& image) {
  ASSERT_EQ(image.kernels.size(), 3u);
  EXPECT_EQ(image.kernels[0].info.name, "memset");
  EXPECT_EQ(image.kernels[0].info.parameter_bytes, 12u);
  EXPECT_EQ(image.kernels[1].info.name, "a$b");
  EXPECT_EQ(image.kernels[1].entry, "kernel_a_24_b");
  EXPECT_EQ(image.kernels[2].info.name, "time");
  EXPECT_EQ(image.kernels[2].entry, "");
  EXPECT_THAT(image.kernels[2].refusal, HasSubstr("Metal has no clock that a kernel can read"));
  ASSERT_EQ(image.symbols.size(), 1u);
  EXPECT_EQ(image.symbols[0].name, "counter");
}

TEST(MetalCode, AnImageHasWhatMetalCanHaveAndSaysWhyNotTheRest) {
  const auto made = made_for("metal:msl30", kKernels);
  ASSERT_TRUE(made) << made.error().message;
  const image::MetalImage image = image::deserialize_metal(**made).value();
  EXPECT_EQ(image.target, "metal:msl30");
  expect_kernels(image);
  EXPECT_THAT(image.source, HasSubstr("kernel void kernel_a_24_b("));
}

TEST(MetalCode, AContainerHasTheSameAndSaysSoInItsFirstModule) {
  const auto made = made_for("metal:metallib30", kKernels);
  ASSERT_TRUE(made) << made.error().message;
  const image::MetalImage image = note_of(**made);
  EXPECT_EQ(image.target, "metal:metallib30");
  EXPECT_EQ(image.source, "");
  expect_kernels(image);
  const metallib::Library library = metallib::read(**made).value();
  ASSERT_EQ(library.functions.size(), 2u);
  EXPECT_EQ(library.functions[0].name, image.kernels[0].entry);
  EXPECT_EQ(library.functions[1].name, "kernel_a_24_b");
}

/// Kernels of all kinds of refusal, and one that shares a function with one of them.
constexpr const char* kGood = R"(
  define internal i32 @twice(i32 %x) noinline {
    %y = add i32 %x, %x
    ret i32 %y
  }
  define ptx_kernel void @good(ptr %out) {
    %y = call i32 @twice(i32 21)
    store i32 %y, ptr %out
    ret void
  }
)";
constexpr const char* kRefused = R"(
  define internal i64 @ticks() noinline {
    %t = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
    ret i64 %t
  }
  define ptx_kernel void @times(ptr %out) {
    %t = call i64 @ticks()
    %n = trunc i64 %t to i32
    %y = call i32 @twice(i32 %n)
    store i32 %y, ptr %out
    ret void
  }
  define internal i32 @deep(i32 %x) noinline {
    %y = call i32 @deep(i32 %x)
    ret i32 %y
  }
  define ptx_kernel void @recurses(ptr %out) {
    %y = call i32 @deep(i32 3)
    store i32 %y, ptr %out
    ret void
  }
  define ptx_kernel void @allocates(ptr %out) {
    %p = call ptr @malloc(i64 16)
    store ptr %p, ptr %out
    ret void
  }
  define ptx_kernel void @fences(ptr %out) {
    fence syncscope("device") acq_rel
    ret void
  }
  declare i64 @llvm.nvvm.read.ptx.sreg.clock64()
  declare ptr @malloc(i64)
)";

TEST(MetalCode, EveryRefusalNamesItsReasonAndLeavesTheOthersAsTheyAre) {
  const auto alone = made_for("metal:msl30", kGood), made = made_for("metal:msl30", std::string(kGood) + kRefused);
  ASSERT_TRUE(alone) << alone.error().message;
  ASSERT_TRUE(made) << made.error().message;
  const image::MetalImage image = image::deserialize_metal(**made).value();
  ASSERT_EQ(image.kernels.size(), 5u);
  EXPECT_EQ(image.kernels[0].entry, "kernel_good");
  EXPECT_THAT(image.kernels[1].refusal, HasSubstr("Metal has no clock that a kernel can read"));
  EXPECT_THAT(image.kernels[2].refusal, HasSubstr("'deep' calls itself"));
  EXPECT_THAT(image.kernels[3].refusal, HasSubstr("allocate memory"));
  EXPECT_THAT(image.kernels[4].refusal, HasSubstr("the code needs MSL 3.2; this system's Metal has 3.0"));
  EXPECT_EQ(image.source, image::deserialize_metal(**alone)->source);
  EXPECT_EQ(image.msl_version, 30u);
}

TEST(MetalCode, EveryRefusalNamesItsReasonInAContainerToo) {
  const auto made = made_for("metal:metallib30", std::string(kGood) + kRefused);
  ASSERT_TRUE(made) << made.error().message;
  const image::MetalImage image = note_of(**made);
  ASSERT_EQ(image.kernels.size(), 5u);
  EXPECT_EQ(image.kernels[0].entry, "kernel_good");
  EXPECT_EQ(image.msl_version, 30u);
  for (const image::MetalKernel& kernel : std::span(image.kernels).subspan(1)) {
    EXPECT_EQ(kernel.entry, "") << kernel.info.name;
    EXPECT_NE(kernel.refusal, "") << kernel.info.name;
  }
  EXPECT_EQ(metallib::read(**made)->functions.size(), 1u);
}

TEST(MetalCode, SaysWhichKernelsMayEndTheLaunch) {
  const auto made = made_for("metal:msl30", std::string(kGood) + R"(
  define internal void @stops() noinline {
    call void @llvm.trap()
    unreachable
  }
  define ptx_kernel void @traps(i1 %x) {
    br i1 %x, label %stop, label %go
  stop:
    call void @stops()
    unreachable
  go:
    ret void
  }
  define ptx_kernel void @calls(ptr %f) {
    call void %f()
    ret void
  }
  declare void @llvm.trap()
)");
  ASSERT_TRUE(made) << made.error().message;
  const image::MetalImage image = image::deserialize_metal(**made).value();
  ASSERT_EQ(image.kernels.size(), 3u);
  EXPECT_FALSE(image.kernels[0].may_fail);
  EXPECT_TRUE(image.kernels[1].may_fail);
  EXPECT_TRUE(image.kernels[2].may_fail);
}

TEST(MetalCode, AContainerAheadOfTimeHasAllKernelsOrNone) {
  const auto refused = made_for("metallib", kKernels);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("Metal has no clock that a kernel can read"));
  const auto made = made_for("metallib", "define ptx_kernel void @k() {\n ret void\n}\n");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(note_of(**made).target, "metal:metallib");
}

TEST(MetalCode, WithoutKernelsThereAreVariablesOnly) {
  const auto made = made_for("metal:metallib30", "@counter = addrspace(1) global i32 7\n");
  ASSERT_TRUE(made) << made.error().message;
  const image::MetalImage image = image::deserialize_metal(**made).value();
  EXPECT_EQ(image.target, "metal:metallib30");
  EXPECT_TRUE(image.kernels.empty());
  EXPECT_EQ(image.symbols[0].name, "counter");
  EXPECT_THAT(made_for("metallib", "@counter = addrspace(1) global i32 7\n").error().message,
              HasSubstr("has no kernel"));
}

TEST(MetalCode, AnOlderMetalIsNotGivenANewersCode) {
  const std::string fence = "define ptx_kernel void @k() {\n fence syncscope(\"device\") acq_rel\n ret void\n}\n";
  for (const char* target : {"metal:msl30", "metal:metallib31"}) {
    const auto made = made_for(target, fence);
    ASSERT_FALSE(made) << target;
    EXPECT_THAT(made.error().message, HasSubstr("the code needs MSL 3.2; this system's Metal has 3."));
  }
  EXPECT_TRUE(made_for("metal:metallib32", fence));
  EXPECT_EQ(made_for("metal:metallib", fence).error().code, ErrorCode::NoBinaryForGpu);
}

}  // namespace
}  // namespace cupola
