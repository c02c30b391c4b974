#include "backend/cpu/build/narrow_masks.h"

#include <gmock/gmock.h>
#include <llvm/Target/TargetMachine.h>

#include <array>

#include "backend/cpu/build/object_file.h"
#include "kir/test_module.h"

// Oracle: what LLVM's language reference says of masked accesses. That masks come back from memory as they were
// VectorDifferential shows (seed 1012002765).

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Row = std::array<uint8_t, 8>;

constexpr const char* kText = R"(
  declare <8 x i8> @llvm.masked.load.v8i8.p0(ptr, <8 x i1>, <8 x i8>)
  declare void @llvm.masked.store.v8i8.p0(<8 x i8>, ptr, <8 x i1>)
  define void @f(ptr %p, ptr %q, i8 %bits) {
    %mask = bitcast i8 %bits to <8 x i1>
    %row = call <8 x i8> @llvm.masked.load.v8i8.p0(ptr align 1 %p, <8 x i1> %mask, <8 x i8> splat (i8 9))
    %others = xor <8 x i1> %mask, splat (i1 true)
    call void @llvm.masked.store.v8i8.p0(<8 x i8> %row, ptr align 1 %q, <8 x i1> %others)
    %next = getelementptr i8, ptr %q, i64 8
    store <8 x i8> %row, ptr %next, align 1
    ret void
  })";

TEST(NarrowMasks, SayOfSixteenBytesWhetherTheyAreThere) {
  kir::TestModule module(kText);
  widen_narrow_masks(*module->getFunction("f"), **machine_for("cpu:x86_64:x86-64-v4"));
  EXPECT_THAT(module.text(), HasSubstr("@llvm.masked.load.v16i8"));
  EXPECT_THAT(module.text(), HasSubstr("@llvm.masked.store.v16i8"));
  EXPECT_THAT(module.text(), Not(HasSubstr("call <8 x i8> @llvm.masked.load")));
  auto* access = module.function<void(const uint8_t*, uint8_t*, uint8_t)>("f");
  for (unsigned bits = 0; bits < 256; ++bits) {
    const Row from = {1, 2, 3, 4, 5, 6, 7, 8};
    std::array<uint8_t, 24> to = {};
    access(from.data(), to.data(), static_cast<uint8_t>(bits));
    for (unsigned i = 0; i < 8; ++i) {
      const bool is_read = bits >> i & 1;
      EXPECT_EQ(to[i], is_read ? 0 : 9) << bits;
      EXPECT_EQ(to[8 + i], is_read ? from[i] : 9) << bits;
      EXPECT_EQ(to[16 + i], 0) << "behind it, " << bits;
    }
  }
}

TEST(NarrowMasks, StayAsTheyAreWhereTheyAreNoneOrTheProcessorHasNone) {
  kir::TestModule older(kText);
  widen_narrow_masks(*older->getFunction("f"), **machine_for("cpu:x86_64:x86-64-v3"));
  EXPECT_THAT(older.text(), HasSubstr("call <8 x i8> @llvm.masked.load"));
  kir::TestModule wide(R"(
  declare <8 x i16> @llvm.masked.load.v8i16.p0(ptr, <8 x i1>, <8 x i16>)
  define void @f(ptr %p, ptr %q, i8 %bits) {
    %mask = bitcast i8 %bits to <8 x i1>
    %row = call <8 x i16> @llvm.masked.load.v8i16.p0(ptr align 1 %p, <8 x i1> %mask, <8 x i16> zeroinitializer)
    store <8 x i16> %row, ptr %q, align 1
    ret void
  })");
  widen_narrow_masks(*wide->getFunction("f"), **machine_for("cpu:x86_64:x86-64-v4"));
  EXPECT_THAT(wide.text(), HasSubstr("call <8 x i16> @llvm.masked.load"));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
